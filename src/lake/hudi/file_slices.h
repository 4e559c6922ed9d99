/// The file slices of a table: which files make up its rows at one moment, and which earlier ones
/// are still on storage (hudi-log.md in docs/formats).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"
#include "lake/column_reader.h"
#include "lake/finding.h"
#include "lake/hudi/committed_instants.h"
#include "lake/hudi/data_file_name.h"
#include "lake/hudi/partitions.h"
#include "lake/hudi/properties.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

struct FileGroupId {
  std::string partition;  ///< Partition::path
  std::string file_id;

  friend auto operator<=>(const FileGroupId&, const FileGroupId&) = default;
};

/// A base file on storage.
struct BaseFile {
  std::string key;  ///< relative to the table
  BaseFileName name;
  uint64_t size = 0;  ///< bytes
  /// true: it holds only Hudi's own columns, the others stay in the table that it was bootstrapped
  /// from. Not readable on its own.
  bool is_skeleton = false;
};

/// A log file on storage.
struct LogFile {
  std::string key;  ///< relative to the table
  LogFileName name;
  uint64_t size = 0;  ///< bytes
  /// From table version 8 on: when the delta commit that wrote it completed, or its requested time
  /// where nothing tells. Empty below version 8, where one file may hold many commits.
  std::string completed;
};

/// A base file with the log files on top of it, and whatever else is known of the moment.
struct FileSlice {
  FileGroupId group;
  /// Of the base file; where there is none the instant that the group began with.
  std::string base_instant;
  std::optional<BaseFile> base;
  /// In the order in which their blocks apply (LogOrder::kByCompletion). Without change data files.
  std::vector<LogFile> logs;
  std::vector<LogFile> cdc_logs;  ///< change data, of no use to a reader of rows
  /// Part of the table at as_of. At most one slice of a group is.
  bool is_latest = false;
  /// Requested time of the replacecommit that took the group out of sight; its slices stay on
  /// storage until they are cleaned.
  std::optional<std::string> replaced_by;
  /// Requested time of a compaction that is planned for this slice and not completed. Logs written
  /// since then are among `logs`.
  std::optional<std::string> pending_compaction;
};

/// Why a file is in no slice.
enum class SetAsideReason {
  kUncommitted,  ///< its write is requested or inflight
  kRolledBack,   ///< its write is not on the timeline: rolled back, or never begun
  kLater,        ///< its write was requested after as_of
  kDuplicate,    ///< a retried task left it beside the one that its commit names
  kUnknown,      ///< no name we know
};
/// "uncommitted", "rolled_back", "later", "duplicate", "unknown".
std::string_view SetAsideReasonName(SetAsideReason reason);

struct SetAsideFile {
  std::string key;  ///< relative to the table
  std::string partition;
  SetAsideReason reason = SetAsideReason::kUnknown;
};

/// Which files are held against what the commits of the active timeline say they wrote
/// ("missing_file", "wrong_size", "missing_commit", "empty_commit"). Cost: one read per commit.
enum class LossCheck { kNone, kBaseFiles, kAllFiles };

struct SliceOptions {
  /// Requested time of a write: the table as its commits up to there left it. nullopt: the latest.
  std::optional<std::string> as_of = std::nullopt;
  PartitionFilter wants_partition = {};
  /// Read the archive when a file names a write older than the active timeline. Without it such a
  /// file counts as committed at its requested time, and replaced groups whose replacecommit is
  /// archived are part of the table, as Hudi has it.
  bool with_archived = true;
  /// Read the plans of completed compactions, and log files that no slice holds, for log files that
  /// a compaction passed over ("orphan_log_file"), and for files that a pending one names and that
  /// are gone ("planned_file_gone"). Cost: one read per compaction and such file; when something is
  /// gone one per clean.
  bool with_orphan_check = false;
  /// Of as_of: look whether the cleaner has removed slices that the table consisted of then. Cost:
  /// one read per clean since as_of, and the archive's files when as_of is older than the active
  /// timeline.
  bool with_clean_check = false;
  LossCheck loss_check = LossCheck::kNone;
};

/// A slice that was part of the table at as_of and whose files the cleaner has removed since.
struct CleanedSlice {
  FileGroupId group;
  std::string file;   ///< one of them, relative to the table
  std::string clean;  ///< requested time of the clean that removed it
  /// From this requested time on all slices that the asked-for partitions consisted of are there.
  std::string readable_from;
};

struct TableSlices {
  /// All that are on storage, by group, then base instant; oldest first.
  std::vector<FileSlice> slices;
  std::vector<SetAsideFile> set_aside;  ///< by key within each partition
  /// What files and blocks are measured against; newest() is the instant a reader reads as of.
  CommittedInstants instants;
  /// Set: the slices are not all that the table consisted of at as_of; this is one that is missing.
  std::optional<CleanedSlice> cleaned;
  /// Kinds: those of ListPartitions and of the archive, and "unknown_file", "duplicate_base_file",
  /// "ambiguous_base_file", "unsupported_base_file", "orphan_log_file", "planned_file_gone",
  /// "unreadable_plan",
  /// "missing_file", "wrong_size", "missing_commit", "doubtful_commit", "unreadable_commit". Beyond
  /// kSliceFindingsMax of one kind only the first are kept, and the last says how many there were.
  /// Also of the loss check: "empty_commit", "unfinished_write".
  std::vector<Finding> findings;
};

inline constexpr size_t kSliceFindingsMax = 100;

/// Finds the slices of a table whose active timeline is `timeline`. kCorrupt: a replacecommit
/// cannot be read, so that nobody knows what it replaced, or for the clean check a clean; with
/// everything else a listing, a commit or the archive can fail with. kConflict: a file of the
/// timeline is gone, read it anew (Table::ReadFileSlices does). Cost: as ListPartitions, one read
/// per replacecommit and pending compaction, and the archive's files where needed.
Result<TableSlices> ReadFileSlices(const storage::ObjectStore& store,
                                   const TableProperties& properties, const Timeline& timeline,
                                   const ColumnReaderSource& columns, const SliceOptions& options,
                                   const Budget& budget);

/// How log files of one slice are ordered.
enum class LogOrder {
  /// Below table version 8 as kByName; from there on by completion time, then as kByName: the order
  /// in which their commits became part of the table.
  kByCompletion,
  /// By instant, version, write token, as the readers of all releases do.
  kByName,
};
void OrderLogs(std::span<LogFile> logs, LogOrder order);

}  // namespace tidemark::lake::hudi
