/// Where a table's metadata is brought: one interface for catalogs, caches and listeners.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/change_json.h"
#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"
#include "change/group.h"
#include "change/schema.h"
#include "lake/hudi/properties.h"

namespace tidemark::sink {

/// How far a target is: ordered by epoch, then by seq.
struct SinkStamp {
  int64_t epoch = 0;
  int64_t seq = 0;

  friend auto operator<=>(const SinkStamp&, const SinkStamp&) = default;
};

/// Properties that a stamped target bears (change-feed C10).
inline constexpr std::string_view kEpochKey = "hudi_sync_epoch";
inline constexpr std::string_view kSeqKey = "hudi_sync_seq";

/// "3/17", for messages.
std::string StampText(const SinkStamp& stamp);

struct PartitionView {
  std::string path{};  ///< relative to the table; empty in a table without partitions
  /// One for each partition column, decoded; nullopt for null.
  std::vector<std::optional<std::string>> values{};

  friend bool operator==(const PartitionView&, const PartitionView&) = default;
};

/// What changed between two stamps of one epoch. Several groups may be in one (Append).
struct TableDelta {
  SinkStamp from{};     ///< exclusive
  SinkStamp to{};       ///< inclusive
  bool is_new = false;  ///< the table was seen for the first time, or made anew
  bool has_schema_change = false;
  std::vector<PartitionView> added{};    ///< not among `dropped`
  std::vector<PartitionView> dropped{};  ///< not among `added`
  std::vector<PartitionView> touched{};  ///< got other files; in neither of the two
  /// The events of the groups (api/change_json.h), for those who listen; oldest first.
  std::vector<std::string> events{};

  bool is_empty() const {
    return !is_new && !has_schema_change && added.empty() && dropped.empty() && touched.empty();
  }
};

/// Lets `delta` go on to where `next` ends: of two changes of one partition the later one counts.
/// REQUIRES: next.from == delta.to. Cost: linear in both.
void Append(TableDelta& delta, TableDelta next);

/// A table as its subscribers are to see it.
struct TableView {
  api::TableIdentity identity{};
  std::string table_name{};  ///< hoodie.table.name
  lake::hudi::TableType type = lake::hudi::TableType::kCopyOnWrite;
  int table_version = 0;
  std::vector<std::string> partition_columns{};
  change::Schema schema{};
  int64_t schema_version = 0;
  /// Of the newest commit: Hudi's own cursor, and its completion where the table has such times.
  std::optional<std::string> last_commit_requested{};
  std::optional<std::string> last_commit_completed{};
  std::optional<WallTime> last_commit_at{};
  bool is_dropped = false;  ///< the table is gone
  /// All partitions, ascending by path; asked for only where everything is compared.
  std::function<std::vector<PartitionView>()> partitions{};
};

/// One call's work.
struct SinkUpdate {
  const TableView& now;  ///< as of `stamp`
  SinkStamp stamp{};
  /// What led to `now`; null: not known, so everything is compared.
  const TableDelta* delta = nullptr;
  /// How far this sink was brought by us, as our own store remembers; nullopt: not known.
  std::optional<SinkStamp> applied{};
  /// Somebody asked for it: a target that bears `stamp` already is compared all the same, for it
  /// may have been changed by others.
  bool compares_all = false;
};

enum class OutcomeKind {
  kApplied,    ///< the target is at the stamp; also where there was nothing to do
  kStale,      ///< the target is further than we are: another process is newer; nothing was written
  kTemporary,  ///< later it may work
  kPermanent,  ///< somebody has to do something first
};
/// "applied", "stale", "temporary", "permanent".
std::string_view OutcomeKindName(OutcomeKind kind);

struct SinkOutcome {
  OutcomeKind kind = OutcomeKind::kApplied;
  std::string reason{};         ///< of everything but kApplied: as messages of Error; no secret
  std::string cure{};           ///< of kPermanent: what to do
  Milliseconds retry_after{0};  ///< of kTemporary: what the target asked for; 0: nothing
  std::optional<SinkStamp> target{};  ///< of kStale: where the target is
  // Of kApplied:
  bool was_full = false;  ///< everything was compared
  size_t partitions_added = 0;
  size_t partitions_dropped = 0;

  friend bool operator==(const SinkOutcome&, const SinkOutcome&) = default;
};

/// What an error of a target means: kUnavailable, kDenied, kConflict, kExhausted and kCancelled may
/// heal; everything else does not. A right that is refused is temporary: whoever grants it should
/// not have to find us too.
SinkOutcome OutcomeOf(const Error& error);

/// One target of one kind. Single-threaded; of one table at a time.
class Sink {
 public:
  virtual ~Sink() = default;

  /// Brings the target to `update.now`. Convergent: reads what is there, writes what differs; what
  /// exists already, or is gone already, is success, so a call may be repeated after any failure. A
  /// target that bears a stamp gets it last: one that says (epoch, seq) holds all of it.
  virtual SinkOutcome Apply(const SinkUpdate& update, const Budget& budget) = 0;

  /// Whether the target answers and lets us in; changes nothing. For `tidemark doctor`.
  virtual Status Check(const Budget& budget) = 0;
};

}  // namespace tidemark::sink
