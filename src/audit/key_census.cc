#include "audit/key_census.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <utility>

#include "scan/slice_scan.h"

namespace tidemark::audit {

KeyCensus::KeyCensus(std::vector<uint32_t> partitions, bool keys_are_global, uint64_t bytes_max)
    : partitions_(std::move(partitions)),
      keys_are_global_(keys_are_global),
      entries_max_(std::max<uint64_t>(bytes_max / sizeof(uint64_t), 1)) {
  shared_.keys_of.resize(partitions_.size());
  shared_.shared_of.resize(partitions_.size());
}

void KeyCensus::Add(size_t group, std::vector<uint64_t> entries) {
  if (entries.empty()) return;
  std::ranges::sort(entries);
  const std::lock_guard lock(mutex_);
  if (rounds_ == 0) shared_.keys_of[group] += entries.size();
  entries.erase(std::ranges::upper_bound(entries, last_), entries.end());
  entries.erase(entries.begin(), std::ranges::lower_bound(entries, first_));
  if (entries.empty()) return;
  entries_ += entries.size();
  runs_.push_back({group, std::move(entries)});
  while (entries_ > entries_max_ && first_ + 1 < last_) Narrow();
}

/// Leaves the upper half of the round's hashes to later ones.
void KeyCensus::Narrow() {
  last_ = (first_ + (last_ - first_) / 2) | 1;  // the two entries of a hash stay together
  entries_ = 0;
  for (Run& run : runs_) {
    run.entries.erase(std::ranges::upper_bound(run.entries, last_), run.entries.end());
    run.entries.shrink_to_fit();
    entries_ += run.entries.size();
  }
}

Result<bool> KeyCensus::EndRound() {
  Tally();
  runs_.clear();
  entries_ = 0;
  if (is_full_) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("too many keys are in several file groups for the memory limit, keys "
                            "over={}",
                            entries_max_));
  }
  if (last_ == ~uint64_t{0}) return true;
  first_ = last_ + 1;
  last_ = ~uint64_t{0};
  if (++rounds_ < scan::kPassesMax) return false;
  return Fail(ErrorKind::kExhausted,
              fmt::format("the table has too many keys for the memory limit, rounds_max={}",
                          scan::kPassesMax));
}

void KeyCensus::Tally() {
  using Head = std::pair<uint64_t, size_t>;  // next entry of a run, which one
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  std::vector<size_t> at(runs_.size());
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (!runs_[i].entries.empty()) heads.emplace(runs_[i].entries[0], i);
  }
  std::vector<Holder> holders;  // of one hash
  while (!heads.empty()) {
    const uint64_t hash = heads.top().first & ~uint64_t{1};
    holders.clear();
    while (!heads.empty() && (heads.top().first & ~uint64_t{1}) == hash) {
      const auto [entry, run] = heads.top();
      heads.pop();
      const size_t group = runs_[run].group;
      holders.push_back({partitions_[group], group, (entry & 1) != 0});
      if (++at[run] < runs_[run].entries.size()) heads.emplace(runs_[run].entries[at[run]], run);
    }
    if (holders.size() > 1) TallyKey(hash, holders);
  }
}

void KeyCensus::TallyKey(uint64_t hash, std::vector<Holder>& holders) {
  std::ranges::sort(holders);
  bool is_shared = false;
  std::vector<size_t> shown;  // a group of each partition that shows it
  for (size_t begin = 0; begin < holders.size();) {
    size_t end = begin;
    std::optional<size_t> shows;
    for (; end < holders.size() && holders[end].partition == holders[begin].partition; ++end) {
      if (holders[end].is_shown && !shows) shows = holders[end].group;
    }
    if (shows) shown.push_back(*shows);
    if (keys_are_global_ || end - begin > 1) {
      is_shared = true;
      for (size_t i = begin; i < end; ++i) ++shared_.shared_of[holders[i].group];
    }
    begin = end;
  }
  if (is_shared) {
    is_full_ = is_full_ || shared_.hashes.size() >= entries_max_;
    if (!is_full_) shared_.hashes.push_back(hash);
  }
  if (keys_are_global_ || shown.size() < 2) return;
  ++shared_.shown_in_partitions;
  if (!shared_.example) shared_.example = {hash, shown[0], shown[1]};
}

}  // namespace tidemark::audit
