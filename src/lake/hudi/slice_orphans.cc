#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lake/hudi/cleaned_slices_internal.h"
#include "lake/hudi/log_file.h"
#include "lake/hudi/slice_orphans_internal.h"
#include "lake/hudi/stored_log.h"
#include "storage/object_key.h"

namespace tidemark::lake::hudi {
namespace {

using storage::NameOf;

bool HoldsRows(const LogBlock& block) {
  switch (block.kind) {
    case LogBlockKind::kAvroData:
    case LogBlockKind::kParquetData:
    case LogBlockKind::kHFileData:
    case LogBlockKind::kDelete: return true;
    default: return false;
  }
}

/// The instant of the first block in a log that is part of the table.
Result<std::optional<std::string>> CommittedBlockIn(const storage::ObjectStore& store,
                                                    const std::string& key,
                                                    const CommittedInstants& instants,
                                                    const Budget& budget) {
  TRY_ASSIGN(const storage::ObjectInfo now, store.Stat(key, budget));
  storage::ObjectState state(storage::ObjectChange::kGrow, now.size);
  StoredLog bytes(store, key, {.size = now.size, .block_bytes_max = 0}, state, budget);
  LogReader reader(bytes, "", {});
  while (const auto block = reader.Next()) {
    const auto instant = block->Header(LogHeaderKey::kInstantTime);
    // What is older than the timeline may as well have been rolled back.
    if (HoldsRows(*block) && instants.FateOf(instant) == WriteFate::kCommitted)
      return std::string(instant);
  }
  TRY(reader.status());
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

std::unordered_set<std::string_view> KeysOf(const TableSlices& table) {
  std::unordered_set<std::string_view> keys;
  for (const FileSlice& slice : table.slices) {
    if (slice.base) keys.insert(slice.base->key);
    for (const LogFile& log : slice.logs) keys.insert(log.key);
    for (const LogFile& log : slice.cdc_logs) keys.insert(log.key);
  }
  for (const SetAsideFile& file : table.set_aside) keys.insert(file.key);
  return keys;
}

/// The file that a plan names, as a key.
std::string KeyOf(const CompactionOperation& operation, const std::string& name) {
  return operation.partition.empty() ? name : operation.partition + "/" + name;
}

struct PlannedFile {
  std::string key;
  std::string compaction;
};

/// Files of pending compactions that are not on storage.
std::vector<PlannedFile> MissingOfPlans(const SliceInputs& inputs, const SliceOptions& options,
                                        const TableSlices& table) {
  const auto present = KeysOf(table);
  std::vector<PlannedFile> missing;
  for (const std::string& compaction : inputs.instants.pending_compactions()) {
    const auto plan = inputs.plans.find(compaction);
    if (plan == inputs.plans.end()) continue;
    for (const CompactionOperation& operation : plan->second) {
      if (options.wants_partition && !options.wants_partition(operation.partition)) continue;
      std::vector<std::string> names = operation.log_files;
      if (!operation.base_file.empty()) names.insert(names.begin(), operation.base_file);
      for (const std::string& name : names) {
        std::string key = KeyOf(operation, name);
        if (!present.contains(key)) missing.push_back({std::move(key), compaction});
      }
    }
  }
  return missing;
}

/// Requested time of the clean that removed the file; empty when none is known.
std::string CleanOf(const std::string& key, const std::map<std::string, CleanMetadata>& cleans) {
  const size_t slash = key.rfind('/');
  const auto partition = slash == key.npos ? std::string() : key.substr(0, slash);
  for (const auto& [requested, clean] : cleans) {
    const auto removed = clean.removed.find(partition);
    if (removed == clean.removed.end()) continue;
    if (std::ranges::binary_search(removed->second, NameOf(key))) return requested;
  }
  return std::string();
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
    const auto instant = CommittedBlockIn(store, file.key, inputs.instants, budget);
    // The writer cleans up behind itself.
    const bool is_gone = !instant && (instant.error().kind == ErrorKind::kNotFound ||
                                      instant.error().kind == ErrorKind::kConflict);
    if (is_gone) continue;
    if (!instant) return std::unexpected(instant.error());
    if (*instant) {
      findings.Add(
          "orphan_log_file", file.key,
          fmt::format("the slice this log file belongs to is not on the timeline, no reader "
                      "looks at its committed blocks slice={} block_instant={}",
                      name->instant, **instant));
    }
  }
  return {};
}

Status CheckPendingPlans(const storage::ObjectStore& store, const Timeline& timeline,
                         const SliceInputs& inputs, const SliceOptions& options,
                         const TableSlices& table, const Budget& budget, FindingList& findings) {
  const auto missing = MissingOfPlans(inputs, options, table);
  if (missing.empty()) return {};
  auto cleans = ReadCleans(store, timeline, std::nullopt, budget);
  const bool is_unreadable = !cleans && (cleans.error().kind == ErrorKind::kCorrupt ||
                                         cleans.error().kind == ErrorKind::kUnsupported);
  if (!cleans && !is_unreadable) return std::unexpected(cleans.error());
  for (const PlannedFile& file : missing) {
    const std::string clean = cleans ? CleanOf(file.key, *cleans) : std::string();
    findings.Add("planned_file_gone", file.key,
                 fmt::format("a pending compaction names this file, and it is not there "
                             "compaction={} removed_by_clean={}",
                             file.compaction, clean.empty() ? "unknown" : clean));
  }
  return {};
}

}  // namespace tidemark::lake::hudi
