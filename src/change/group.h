/// What happened to a table, as subscribers learn it: groups in an order without holes, and the
/// state that a snapshot hands over whole.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "change/digest.h"
#include "change/instant_effect.h"
#include "change/schema.h"
#include "change/schema_diff.h"

namespace tidemark::change {

enum class PartitionOp { kAdd, kTouch, kDrop };
/// "ADD", "TOUCH", "DROP".
std::string_view PartitionOpName(PartitionOp op);

struct PartitionChange {
  std::string path{};
  PartitionOp op = PartitionOp::kTouch;
  int64_t files_added = 0;
  /// File groups that were replaced, or files that a clean removed.
  int64_t files_removed = 0;
  int64_t bytes = 0;  ///< of the files added

  friend bool operator==(const PartitionChange&, const PartitionChange&) = default;
};

struct SchemaChange {
  Schema schema{};  ///< whole: a subscriber that lost one change is right again with the next
  std::vector<SchemaDiff> diff{};
};

/// An instant that was published and is no more.
struct Retraction {
  InstantKey instant{};
  int64_t seq = 0;  ///< in the epoch of the group that takes it back

  friend bool operator==(const Retraction&, const Retraction&) = default;
};

/// What an instant was.
enum class CommitType {
  kCommit,
  kDeltaCommit,
  kReplaceCommit,
  kCompaction,
  kLogCompaction,
  kClustering,
  kClean,
  kRollback,
  kRestore,
  kSavepoint,
  kIndexing,
  kSchemaCommit,
  kArchivedRange,  ///< instants that were archived unseen and cannot be read any more
  kUnknown,        ///< an action of a newer Hudi
};
/// "COMMIT", "DELTA_COMMIT", …, "ARCHIVED_RANGE", "UNKNOWN".
std::string_view CommitTypeName(CommitType type);

struct CommitChange {
  CommitType type = CommitType::kUnknown;
  int64_t files_added = 0;
  int64_t files_removed = 0;  ///< as PartitionChange
  int64_t partitions_touched = 0;
  int64_t records_written = 0;
  int64_t records_deleted = 0;
  bool is_ro_visible = false;  ///< a read-optimised view shows it
  BodyState body = BodyState::kRead;
  std::string defect{};                        ///< of an unreadable body
  std::map<std::string, std::string> extra{};  ///< the keys of extra metadata that are passed on
  // Of kArchivedRange: requested times, inclusive; empty: unknown.
  std::string range_first{};
  std::string range_last{};
};

/// Why a group speaks of the table itself.
enum class TableReason {
  kCreated,     ///< seen for the first time
  kUpgraded,    ///< another table version or timeline layout, up
  kDowngraded,  ///< the same, down
  kRestored,    ///< restored to a savepoint: forget what was known
  kRecreated,   ///< another table at the same place
  kResynced,    ///< what subscribers hold can no longer be told: load the snapshot
  kReconciled,  ///< a listing differed from what was published
  kDropped,     ///< gone
};
/// "CREATED", …
std::string_view TableReasonName(TableReason reason);

struct TableChange {
  TableReason reason = TableReason::kCreated;
  int version_before = 0;  ///< of kUpgraded, kDowngraded
  int layout_before = 0;
};

enum class EventSource { kIncremental, kReconcile, kBootstrap };
/// "incremental", "reconcile", "bootstrap".
std::string_view EventSourceName(EventSource source);

/// The group before, which a subscriber must have applied.
struct Previous {
  int64_t seq = 0;
  std::optional<InstantKey> instant{};  ///< nullopt: it spoke of the table

  friend bool operator==(const Previous&, const Previous&) = default;
};

/// One commit, or one thing that happened to the table: applied as a whole or not at all. Its parts
/// go out as: retractions, schema, partitions, and at last commit or table, which closes it.
struct Group {
  int64_t epoch = 0;
  int64_t seq = 0;                     ///< from 1 in each epoch, without holes
  std::optional<Previous> previous{};  ///< nullopt for the first of an epoch
  EventSource source = EventSource::kIncremental;

  // Of a group that one instant caused.
  std::optional<InstantKey> instant{};
  std::optional<std::string> operation{};
  std::optional<std::string> completed{};  ///< in the table's zone; layout 2 only
  std::optional<WallTime> file_time{};     ///< where there is no completion time
  std::optional<WallTime> time{};          ///< when it completed, as far as can be told
  bool is_late = false;  ///< requested before an instant that was published earlier

  std::vector<Retraction> retracted{};
  std::optional<SchemaChange> schema{};
  std::vector<PartitionChange> partitions{};  ///< ascending by path
  std::optional<CommitChange> commit{};       ///< exactly one of these two
  std::optional<TableChange> table{};

  // What a subscriber holds afterwards.
  std::string schema_fingerprint{};
  int64_t schema_version = 0;  ///< schemas published in this epoch
  int64_t partition_count = 0;
  Digest partition_digest{};
  int table_version = 0;
};

/// A table's whole state right after the group `seq` of `epoch`.
struct Snapshot {
  int64_t epoch = 0;
  int64_t as_of_seq = 0;
  EventSource source = EventSource::kBootstrap;
  std::optional<InstantKey> newest{};  ///< published last
  std::optional<WallTime> time{};      ///< of `newest`
  Schema schema{};
  int64_t schema_version = 0;
  std::vector<std::string> partitions{};  ///< ascending
  Digest partition_digest{};
  int table_version = 0;
};

}  // namespace tidemark::change
