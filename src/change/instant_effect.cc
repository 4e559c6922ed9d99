#include "change/instant_effect.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <variant>

namespace tidemark::change {

namespace {

using lake::hudi::CommitStats;
using lake::hudi::WriteStat;

/// Counts come from outside and may be anything; a sum that wrapped around would be a lie.
void Add(uint64_t more, int64_t& sum) {
  const auto room = static_cast<uint64_t>(std::numeric_limits<int64_t>::max() - sum);
  sum += static_cast<int64_t>(std::min(more, room));
}

void AddWrite(const WriteStat& stat, std::string_view requested, PartitionWrite& write,
              InstantEffect& effect) {
  Add(stat.deleted, effect.records_deleted);
  Add(stat.inserted, effect.records_written);
  Add(stat.updated, effect.records_written);
  if (stat.path.empty()) return;
  ++write.files_added;
  Add(stat.bytes, write.bytes);
  (stat.is_log ? effect.writes_logs : effect.writes_base_files) = true;
  write.written.push_back(stat.file_id);
  if (!stat.previous.empty() && stat.previous != requested) write.continued.push_back(stat.file_id);
}

void KeepOneOfEach(std::vector<std::string>& file_ids) {
  std::ranges::sort(file_ids);
  const auto rest = std::ranges::unique(file_ids);
  file_ids.erase(rest.begin(), rest.end());
}

void TakeCommit(CommitStats stats, InstantEffect& effect) {
  effect.operation = std::move(stats.metadata.operation);
  effect.is_compaction = stats.metadata.is_compacted;
  effect.extra = std::move(stats.metadata.extra);
  for (const auto& [path, writes] : stats.partitions) {
    PartitionWrite& write = effect.partitions[path];
    for (const WriteStat& stat : writes) AddWrite(stat, effect.instant.requested, write, effect);
  }
  for (auto& [path, file_ids] : stats.metadata.replaced)
    effect.partitions[path].replaced = std::move(file_ids);
  for (auto& [path, write] : effect.partitions) {
    KeepOneOfEach(write.written);
    KeepOneOfEach(write.continued);
    KeepOneOfEach(write.replaced);
  }
}

void TakeUndone(const std::vector<lake::hudi::NamedInstant>& instants, InstantEffect& effect) {
  for (const auto& instant : instants) {
    const auto action = lake::hudi::ParseAction(instant.action_name);
    effect.undone.push_back(
        {instant.requested, instant.action_name.empty()
                                ? ""
                                : std::string(ActionName(lake::hudi::ComparableAction(action)))});
  }
}

}  // namespace

InstantEffect MakeEffect(lake::hudi::Instant instant, lake::hudi::InstantFacts facts) {
  InstantEffect effect{.instant = std::move(instant)};
  if (auto* commit = std::get_if<CommitStats>(&facts)) {
    TakeCommit(std::move(*commit), effect);
  } else if (auto* clean = std::get_if<lake::hudi::CleanMetadata>(&facts)) {
    for (const auto& [path, names] : clean->removed)
      effect.removed[path] = static_cast<int64_t>(names.size());
  } else if (auto* rollback = std::get_if<lake::hudi::RollbackMetadata>(&facts)) {
    TakeUndone(rollback->instants, effect);
  } else if (auto* restore = std::get_if<lake::hudi::RestoreMetadata>(&facts)) {
    TakeUndone(restore->instants, effect);
  }
  return effect;
}

InstantEffect MakeUnreadable(lake::hudi::Instant instant, BodyState body, std::string defect) {
  return {.instant = std::move(instant), .body = body, .defect = std::move(defect)};
}

}  // namespace tidemark::change
