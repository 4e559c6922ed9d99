#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "lake/hudi/log_file.h"
#include "lake/hudi/slice_orphans_internal.h"

namespace tidemark::lake::hudi {
namespace {

std::string_view NameOf(std::string_view key) {
  return key.substr(key.rfind('/') + 1);
}

bool HoldsRows(const LogBlock& block) {
  switch (block.kind) {
    case LogBlockKind::kAvroData:
    case LogBlockKind::kParquetData:
    case LogBlockKind::kHFileData:
    case LogBlockKind::kDelete: return true;
    default: return false;
  }
}

/// The instant of the first block in `bytes` that is part of the table.
std::optional<std::string> CommittedBlockIn(std::string_view bytes,
                                            const CommittedInstants& instants) {
  LogReader reader(bytes, "", {});
  while (const auto block = reader.Next()) {
    const auto instant = block->Header(LogHeaderKey::kInstantTime);
    // What is older than the timeline may as well have been rolled back.
    if (HoldsRows(*block) && instants.FateOf(instant) == WriteFate::kCommitted)
      return std::string(instant);
  }
  return std::nullopt;
}

using PlansByGroup = std::map<std::pair<FileGroupId, std::string>, const CompactionOperation*>;

/// A slice and the compaction that followed it.
void CompareWithPlan(const FileSlice& slice, const std::string& compaction,
                     const CompactionOperation& operation, FindingList& findings) {
  for (const LogFile& log : slice.logs) {
    if (std::ranges::find(operation.log_files, NameOf(log.key)) != operation.log_files.end())
      continue;
    findings.Add(
        "orphan_log_file", log.key,
        fmt::format("a compaction passed over this log file, no reader looks at it any more "
                    "compaction={}",
                    compaction));
  }
}

}  // namespace

Status FindOrphans(const storage::ObjectStore& store, const SliceInputs& inputs,
                   const TableSlices& table, const Budget& budget, FindingList& findings) {
  PlansByGroup plans;
  for (const auto& [instant, operations] : inputs.plans) {
    for (const CompactionOperation& operation : operations)
      plans[{{operation.partition, operation.file_id}, instant}] = &operation;
  }
  for (size_t i = 1; i < table.slices.size(); ++i) {
    const FileSlice& before = table.slices[i - 1];
    const FileSlice& slice = table.slices[i];
    if (before.group != slice.group) continue;
    const auto plan = plans.find({slice.group, slice.base_instant});
    if (plan != plans.end()) CompareWithPlan(before, slice.base_instant, *plan->second, findings);
  }
  for (const SetAsideFile& file : table.set_aside) {
    const auto name = ParseLogFileName(NameOf(file.key));
    if (!name || name->is_cdc || file.reason != SetAsideReason::kRolledBack) continue;
    TRY(budget.Check());
    const auto bytes = store.Read(file.key, budget);
    // The writer cleans up behind itself.
    if (!bytes && bytes.error().kind == ErrorKind::kNotFound) continue;
    if (!bytes) return std::unexpected(bytes.error());
    if (const auto instant = CommittedBlockIn(*bytes, inputs.instants)) {
      findings.Add(
          "orphan_log_file", file.key,
          fmt::format("the slice this log file belongs to is not on the timeline, no reader "
                      "looks at its committed blocks slice={} block_instant={}",
                      name->instant, *instant));
    }
  }
  return {};
}

}  // namespace tidemark::lake::hudi
