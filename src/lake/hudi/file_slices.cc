#include "lake/hudi/file_slices.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "lake/hudi/base_twins_internal.h"
#include "lake/hudi/cleaned_slices_internal.h"
#include "lake/hudi/data_file_name.h"
#include "lake/hudi/doubtful_commits_internal.h"
#include "lake/hudi/lost_files_internal.h"
#include "lake/hudi/slice_inputs_internal.h"
#include "lake/hudi/slice_orphans_internal.h"
#include "storage/object_key.h"

namespace tidemark::lake::hudi {
namespace {

/// The instant of skeleton files (metadata-only bootstrap).
constexpr std::string_view kSkeletonInstant = "00000000000001";

using storage::NameOf;

bool ByName(const LogFile& a, const LogFile& b) {
  const auto rank = [](const LogFile& log) {
    return std::tie(log.name.instant, log.name.version, log.name.write_token, log.name.is_cdc);
  };
  return rank(a) < rank(b);
}

/// The files of one group whose writes count.
struct GroupFiles {
  std::vector<BaseFile> bases;
  std::vector<LogFile> logs;
};

struct TableFiles {
  std::map<FileGroupId, GroupFiles> groups;
  std::vector<SetAsideFile> set_aside;
};

SetAsideReason ReasonOf(WriteFate fate) {
  if (fate == WriteFate::kLater) return SetAsideReason::kLater;
  return fate == WriteFate::kPending ? SetAsideReason::kUncommitted : SetAsideReason::kRolledBack;
}

/// Sorts a table's files into groups.
class FileSorter {
 public:
  FileSorter(const TableProperties& properties, const CommittedInstants& instants,
             FindingList& findings)
      : has_own_logs_(properties.version >= kOwnLogsVersion),
        instants_(instants),
        findings_(findings) {}

  void Sort(const std::string& partition, const storage::ObjectInfo& object) {
    const auto name = NameOf(object.key);
    if (auto base = ParseBaseFileName(name)) {
      SortBase(partition, object, *std::move(base));
    } else if (auto log = ParseLogFileName(name)) {
      SortLog(partition, object, *std::move(log));
    } else {
      SetAside(partition, object.key, SetAsideReason::kUnknown);
      // Sidecars of Hadoop's file system are everywhere and say nothing.
      if (!name.ends_with(".crc"))
        findings_.Add("unknown_file", object.key, "a file in a partition has no name of Hudi's");
    }
  }
  TableFiles Take() && { return std::move(files_); }

 private:
  void SetAside(const std::string& partition, const std::string& key, SetAsideReason reason) {
    files_.set_aside.push_back({key, partition, reason});
  }

  void SortBase(const std::string& partition, const storage::ObjectInfo& object,
                BaseFileName name) {
    if (!instants_.IsCommitted(name.instant))
      return SetAside(partition, object.key, ReasonOf(instants_.FateOf(name.instant)));
    auto& bases = files_.groups[{partition, name.file_id}].bases;
    if (name.format != BaseFileFormat::kParquet) {
      findings_.Add("unsupported_base_file", object.key,
                    fmt::format("base files of this format are not read format={}",
                                BaseFileFormatName(name.format)));
    }
    const bool is_skeleton = name.instant == kSkeletonInstant;
    BaseFile base{object.key, std::move(name), object.size, is_skeleton};
    bases.push_back(std::move(base));
  }

  void SortLog(const std::string& partition, const storage::ObjectInfo& object, LogFileName name) {
    LogFile log{object.key, std::move(name), object.size, {}};
    if (has_own_logs_) {
      if (!instants_.IsCommitted(log.name.instant))
        return SetAside(partition, object.key, ReasonOf(instants_.FateOf(log.name.instant)));
      log.completed = instants_.CompletionOf(log.name.instant);
    }
    auto& logs = files_.groups[{partition, log.name.file_id}].logs;
    logs.push_back(std::move(log));
  }

  bool has_own_logs_;
  const CommittedInstants& instants_;
  FindingList& findings_;
  TableFiles files_;
};

/// Sets aside what was left of tasks that were tried again. A group that was replaced has no latest
/// slice.
Status SettleTwins(const FileGroupId& id, bool is_replaced, BaseTwins& twins, GroupFiles& group,
                   std::vector<SetAsideFile>& set_aside) {
  auto& bases = group.bases;
  if (bases.size() < 2) return {};
  const auto instant_of = [](const BaseFile& base) -> const std::string& {
    return base.name.instant;
  };
  std::ranges::sort(bases, {},
                    [&](const BaseFile& base) { return std::tie(instant_of(base), base.key); });
  std::vector<BaseFile> kept;
  for (size_t begin = 0; begin < bases.size();) {
    size_t end = begin + 1;
    while (end < bases.size() && instant_of(bases[end]) == instant_of(bases[begin])) ++end;
    size_t taken = begin;
    if (end - begin > 1) {
      const bool is_latest = end == bases.size() && !is_replaced;
      TRY_ASSIGN(const size_t place,
                 twins.Choose(std::span(bases).subspan(begin, end - begin), is_latest));
      taken += place;
    }
    for (size_t i = begin; i < end; ++i) {
      if (i == taken)
        kept.push_back(std::move(bases[i]));
      else
        set_aside.push_back({bases[i].key, id.partition, SetAsideReason::kDuplicate});
    }
    begin = end;
  }
  bases = std::move(kept);
  return {};
}

/// Makes the slices of one group, by base instant.
class GroupSlices {
 public:
  GroupSlices(const FileGroupId& id, const CommittedInstants& instants)
      : id_(id), instants_(instants) {}

  void AddBase(BaseFile base) {
    FileSlice& slice = SliceAt(base.name.instant);
    slice.base = std::move(base);
  }

  /// Table versions below 8: the name says the slice.
  void AddLogOfSlice(LogFile log, std::vector<SetAsideFile>& set_aside) {
    const std::string instant = log.name.instant;
    const auto fate = instants_.FateOf(instant);
    const bool is_planned = instants_.IsPendingCompaction(instant);
    if (!is_planned && !instants_.IsCommitted(instant)) {
      set_aside.push_back({log.key, id_.partition, ReasonOf(fate)});
      return;
    }
    Append(SliceAt(instant), std::move(log));
  }

  /// From version 8 on: the newest slice that had begun when the log's commit completed; in a
  /// group without any the log begins one.
  void AddOwnLog(LogFile log) {
    auto at = by_instant_.end();
    if (!by_instant_.empty()) at = by_instant_.upper_bound(CompletionLike(log));
    FileSlice& slice = at == by_instant_.begin() || by_instant_.empty() ? SliceAt(log.name.instant)
                                                                        : std::prev(at)->second;
    Append(slice, std::move(log));
  }

  std::vector<FileSlice> Take() && {
    MergePlanned();
    std::vector<FileSlice> slices;
    for (auto& [instant, slice] : by_instant_) slices.push_back(std::move(slice));
    return slices;
  }

 private:
  FileSlice& SliceAt(const std::string& instant) {
    FileSlice& slice = by_instant_[instant];
    slice.group = id_;
    slice.base_instant = instant;
    return slice;
  }
  static void Append(FileSlice& slice, LogFile log) {
    (log.name.is_cdc ? slice.cdc_logs : slice.logs).push_back(std::move(log));
  }
  /// Instants of other lengths do not compare with a completion time; Hudi then takes the requested
  /// one.
  const std::string& CompletionLike(const LogFile& log) const {
    const bool is_alike = by_instant_.rbegin()->first.size() == log.completed.size();
    return is_alike ? log.completed : log.name.instant;
  }

  /// Logs that wait for a compaction's base file belong on the slice that is to be compacted.
  void MergePlanned() {
    for (auto at = by_instant_.begin(); at != by_instant_.end();) {
      FileSlice& slice = at->second;
      if (slice.base || !instants_.IsPendingCompaction(at->first)) {
        ++at;
        continue;
      }
      slice.pending_compaction = at->first;
      if (at == by_instant_.begin()) {
        ++at;
        continue;
      }
      FileSlice& before = std::prev(at)->second;
      std::ranges::move(slice.logs, std::back_inserter(before.logs));
      std::ranges::move(slice.cdc_logs, std::back_inserter(before.cdc_logs));
      before.pending_compaction = at->first;
      at = by_instant_.erase(at);
    }
  }

  const FileGroupId& id_;
  const CommittedInstants& instants_;
  std::map<std::string, FileSlice> by_instant_;
};

std::vector<FileSlice> MakeGroup(const FileGroupId& id, GroupFiles files,
                                 const TableProperties& properties, const SliceInputs& inputs,
                                 std::vector<SetAsideFile>& set_aside) {
  GroupSlices group(id, inputs.instants);
  for (BaseFile& base : files.bases) group.AddBase(std::move(base));
  // A log of version 8 may begin the slice that later ones belong to.
  std::ranges::sort(files.logs, ByName);
  for (LogFile& log : files.logs) {
    if (properties.version >= kOwnLogsVersion)
      group.AddOwnLog(std::move(log));
    else
      group.AddLogOfSlice(std::move(log), set_aside);
  }
  auto slices = std::move(group).Take();
  const auto replaced = inputs.replaced.find(id);
  for (FileSlice& slice : slices) {
    OrderLogs(slice.logs, LogOrder::kByCompletion);
    OrderLogs(slice.cdc_logs, LogOrder::kByCompletion);
    if (replaced != inputs.replaced.end()) slice.replaced_by = replaced->second;
  }
  if (!slices.empty()) slices.back().is_latest = replaced == inputs.replaced.end();
  return slices;
}

/// Version 8 and later: nothing in a name says that a compaction is planned for a slice.
void NotePlans(const SliceInputs& inputs, std::vector<FileSlice>& slices) {
  std::map<FileGroupId, std::string> planned;
  for (const std::string& instant : inputs.instants.pending_compactions()) {
    const auto plan = inputs.plans.find(instant);
    if (plan == inputs.plans.end()) continue;
    for (const CompactionOperation& operation : plan->second)
      planned.insert_or_assign({operation.partition, operation.file_id}, instant);
  }
  if (planned.empty()) return;
  for (FileSlice& slice : slices) {
    const auto found = planned.find(slice.group);
    if (slice.is_latest && found != planned.end()) slice.pending_compaction = found->second;
  }
}

/// Whether the active timeline leaves it open what a file's write, or a group, came to.
bool NeedsArchive(const PartitionListing& listing, const CommittedInstants& instants) {
  const auto is_old = [&](const storage::ObjectInfo& object) {
    const auto name = NameOf(object.key);
    if (const auto base = ParseBaseFileName(name))
      return instants.FateOf(base->instant) == WriteFate::kBeforeStart;
    const auto log = ParseLogFileName(name);
    return log && instants.FateOf(log->instant) == WriteFate::kBeforeStart;
  };
  return std::ranges::any_of(listing.partitions, [&](const Partition& partition) {
    return std::ranges::any_of(partition.files, is_old);
  });
}

}  // namespace

std::string_view SetAsideReasonName(SetAsideReason reason) {
  switch (reason) {
    case SetAsideReason::kUncommitted: return "uncommitted";
    case SetAsideReason::kRolledBack: return "rolled_back";
    case SetAsideReason::kLater: return "later";
    case SetAsideReason::kDuplicate: return "duplicate";
    case SetAsideReason::kUnknown: return "unknown";
  }
  std::unreachable();
}

void OrderLogs(std::span<LogFile> logs, LogOrder order) {
  std::ranges::stable_sort(logs, ByName);
  if (order == LogOrder::kByCompletion) std::ranges::stable_sort(logs, {}, &LogFile::completed);
}

Result<TableSlices> ReadFileSlices(const storage::ObjectStore& store,
                                   const TableProperties& properties, const Timeline& timeline,
                                   const ColumnReaderSource& columns, const SliceOptions& options,
                                   const Budget& budget) {
  FindingList findings;
  TRY_ASSIGN(SliceInputs inputs, ReadSliceInputs(store, timeline, options, budget, findings));
  TRY_ASSIGN(PartitionListing listing, ListPartitions(store, options.wants_partition, budget));
  for (Finding& finding : listing.findings) {
    findings.Add(std::move(finding.kind), std::move(finding.place), std::move(finding.message));
  }
  const bool looks_for_cleaned = options.with_clean_check && options.as_of;
  if (looks_for_cleaned) {
    TRY_ASSIGN(inputs.cleans, ReadCleans(store, timeline, options.as_of, budget));
  }
  const bool is_archived = looks_for_cleaned && *options.as_of < inputs.instants.start();
  if (options.with_archived && (is_archived || NeedsArchive(listing, inputs.instants)))
    TRY(AddArchiveToInputs(store, properties, columns, options, budget, inputs, findings));

  FileSorter sorter(properties, inputs.instants, findings);
  for (const Partition& partition : listing.partitions) {
    for (const storage::ObjectInfo& object : partition.files) sorter.Sort(partition.path, object);
  }
  TableFiles files = std::move(sorter).Take();
  TableSlices result;
  result.set_aside = std::move(files.set_aside);
  BaseTwins twins(store, timeline, budget, findings);
  for (auto& [id, group] : files.groups) {
    TRY(SettleTwins(id, inputs.replaced.contains(id), twins, group, result.set_aside));
    std::ranges::move(MakeGroup(id, std::move(group), properties, inputs, result.set_aside),
                      std::back_inserter(result.slices));
  }
  NotePlans(inputs, result.slices);
  std::ranges::sort(result.set_aside, [](const SetAsideFile& a, const SetAsideFile& b) {
    return std::tie(a.partition, a.key) < std::tie(b.partition, b.key);
  });
  if (looks_for_cleaned) result.cleaned = FindCleanedSlice(properties, inputs, options, result);
  if (options.with_orphan_check) {
    TRY(FindOrphans(store, inputs, result, budget, findings));
    TRY(CheckPendingPlans(store, timeline, inputs, options, result, budget, findings));
  }
  if (options.loss_check != LossCheck::kNone) {
    TRY(FindLostFiles(store, properties, timeline, inputs, options, result, budget, findings));
    TRY(FindDoubtfulCommits(store, properties, timeline, inputs, options, result, budget,
                            findings));
  }
  const auto unclaimed =
      std::ranges::count(result.set_aside, SetAsideReason::kRolledBack, &SetAsideFile::reason);
  if (inputs.instants.newest().empty() && !options.as_of && unclaimed > 0) {
    findings.Add(
        "missing_commit", properties.timeline_folder,
        fmt::format("data files are there, and no completed commit is files={}", unclaimed));
  }
  result.instants = std::move(inputs.instants);
  result.findings = std::move(findings).Take();
  return result;
}

}  // namespace tidemark::lake::hudi
