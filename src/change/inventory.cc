#include "change/inventory.h"

#include <algorithm>
#include <functional>

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

Inventory::Presence Inventory::Write(std::string_view partition, std::string_view file_id) {
  const auto place = groups_.find(partition);
  const bool is_there = place != groups_.end();
  if (!replaced_.empty() && replaced_.contains(PlaceHash(partition, file_id)))
    return {.before = is_there, .after = is_there};
  const uint64_t hash = GroupHash(file_id);
  if (!is_there) {
    groups_.emplace(partition, std::vector<uint64_t>{hash});
    digest_ += HashOf(partition);
    return {.before = false, .after = true};
  }
  auto& groups = place->second;
  const auto at = std::lower_bound(groups.begin(), groups.end(), hash);
  if (at == groups.end() || *at != hash) groups.insert(at, hash);
  return {.before = true, .after = true};
}

Inventory::Presence Inventory::Replace(std::string_view partition, std::string_view file_id) {
  replaced_.insert(PlaceHash(partition, file_id));
  const auto place = groups_.find(partition);
  if (place == groups_.end()) return {};
  auto& groups = place->second;
  const uint64_t hash = GroupHash(file_id);
  const auto at = std::lower_bound(groups.begin(), groups.end(), hash);
  if (at != groups.end() && *at == hash) groups.erase(at);
  if (!groups.empty()) return {.before = true, .after = true};
  groups_.erase(place);
  digest_ -= HashOf(partition);
  return {.before = true, .after = false};
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
