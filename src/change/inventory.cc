#include "change/inventory.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace tidemark::change {

namespace {

uint64_t GroupHash(std::string_view file_id) {
  return std::hash<std::string_view>{}(file_id);
}

uint64_t PlaceHash(std::string_view partition, std::string_view file_id) {
  // A file id has no '/', so the last one parts the two.
  return GroupHash(std::string(partition) + '/' + std::string(file_id));
}

}  // namespace

void Inventory::Write(std::string_view partition, std::span<const std::string> file_ids) {
  std::vector<uint64_t> hashes;
  hashes.reserve(file_ids.size());
  for (const auto& file_id : file_ids) {
    if (replaced_.empty() || !replaced_.contains(PlaceHash(partition, file_id)))
      hashes.push_back(GroupHash(file_id));
  }
  if (hashes.empty()) return;
  std::ranges::sort(hashes);
  const auto rest = std::ranges::unique(hashes);
  hashes.erase(rest.begin(), rest.end());
  const auto place = groups_.find(partition);
  if (place == groups_.end()) {
    groups_.emplace(partition, std::move(hashes));
    digest_ += HashOf(partition);
    return;
  }
  std::vector<uint64_t> all;
  std::ranges::set_union(place->second, hashes, std::back_inserter(all));
  place->second = std::move(all);
}

void Inventory::Replace(std::string_view partition, std::span<const std::string> file_ids) {
  std::vector<uint64_t> hashes;
  hashes.reserve(file_ids.size());
  for (const auto& file_id : file_ids) {
    replaced_.insert(PlaceHash(partition, file_id));
    hashes.push_back(GroupHash(file_id));
  }
  const auto place = groups_.find(partition);
  if (place == groups_.end()) return;
  std::ranges::sort(hashes);
  std::vector<uint64_t> left;
  std::ranges::set_difference(place->second, hashes, std::back_inserter(left));
  place->second = std::move(left);
  if (!place->second.empty()) return;
  groups_.erase(place);
  digest_ -= HashOf(partition);
}

std::vector<std::string> Inventory::Partitions() const {
  std::vector<std::string> paths;
  paths.reserve(groups_.size());
  for (const auto& [path, groups] : groups_) paths.push_back(path);
  return paths;
}

std::vector<std::string> Inventory::Beyond(const Inventory& other) const {
  std::vector<std::string> paths;
  auto theirs = other.groups_.begin();
  for (const auto& [path, groups] : groups_) {
    while (theirs != other.groups_.end() && theirs->first < path) ++theirs;
    if (theirs == other.groups_.end() || theirs->first != path) paths.push_back(path);
  }
  return paths;
}

}  // namespace tidemark::change
