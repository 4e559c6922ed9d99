#include "change/instant_effect.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace tidemark::change {

namespace {

using lake::hudi::CommitStats;
using lake::hudi::WriteStat;

void AddWrite(const WriteStat& stat, std::string_view requested, PartitionWrite& write,
              InstantEffect& effect) {
  effect.records_deleted += static_cast<int64_t>(stat.deleted);
  const uint64_t changed = stat.inserted + stat.updated;
  // Writers that count neither, as bulk inserts of old releases, say how many they wrote; a base
  // file that only lost records counts those that stayed.
  effect.records_written +=
      static_cast<int64_t>(changed == 0 && stat.deleted == 0 ? stat.records_written : changed);
  if (stat.path.empty()) return;
  ++write.files_added;
  write.bytes += static_cast<int64_t>(stat.bytes);
  effect.writes_base_files |= !stat.is_log;
  if (std::ranges::find(write.written, stat.file_id) == write.written.end())
    write.written.push_back(stat.file_id);
  if (!stat.previous.empty() && stat.previous != requested) write.continued.push_back(stat.file_id);
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
