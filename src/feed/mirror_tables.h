/// All tables of a mirror: records in, states and questions out. No I/O and no clock.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/replica_json.h"
#include "base/clock.h"
#include "base/error.h"
#include "change/subscriber.h"
#include "feed/event_log.h"
#include "feed/mirror_store.h"

namespace tidemark::feed {

/// What happened since the process began.
struct MirrorCounts {
  int64_t applied = 0;     ///< groups
  int64_t partitions = 0;  ///< partition changes in them
  int64_t replaced = 0;    ///< tables, by a snapshot
  int64_t repeats = 0;     ///< parts that were known, of old epochs included
  int64_t conflicts = 0;   ///< known ids with other bytes
  int64_t broken = 0;
  int64_t overflows = 0;
  int64_t mismatches = 0;
  int64_t late = 0;    ///< groups that say so
  int64_t poison = 0;  ///< records that cannot be read
  std::array<int64_t, static_cast<size_t>(change::RelistReason::kAsked) + 1> relists{};
};

/// Something that listeners learn.
struct TableNews {
  change::DecisionKind kind = change::DecisionKind::kApplied;
  api::TableStatus table{};
  std::optional<change::InstantKey> instant{};  ///< of an applied group
  size_t partitions_changed = 0;
  std::optional<change::Group> group{};  ///< that was applied, where that is the news
};

/// A record that cannot be read, and why (C9 a).
struct Poison {
  ReadRecord record;
  Error why;
};

struct MirrorTablesOptions {
  change::SubscriberLimits limits{};
  /// Table ids, uids or base paths; '*' stands for any run of characters. Empty: all.
  std::vector<std::string> wanted{};
};

/// One thread gives records; any thread may ask.
class MirrorTables {
 public:
  explicit MirrorTables(MirrorTablesOptions options) : options_(std::move(options)) {}

  // --- The thread that reads ---

  void Load(std::vector<change::Replica> replicas, int32_t partition_count);

  /// A record of the event topic; what is news goes to `news` where that is not null.
  void TakeEvent(ReadRecord record, MonoTime now, std::vector<TableNews>* news,
                 std::vector<Poison>& poison);
  /// A record of the state topic; of the table `only`, unless that is empty.
  void TakeState(ReadRecord record, std::string_view only, MonoTime now,
                 std::vector<TableNews>* news, std::vector<Poison>& poison);
  void Tick(MonoTime now, std::vector<TableNews>* news);
  /// The partition's topics were made anew, so that what is held of its tables proves nothing any
  /// more: they are loading again, until a snapshot of them comes.
  void Forget(PartitionId partition);

  using Uids = std::set<std::string, std::less<>>;
  /// Tables for which the state topic is to be read, by partition; their reading begins.
  std::map<PartitionId, Uids> BeginLists(MonoTime now);
  /// Gives those that need a snapshot of the publisher.
  std::vector<std::string> EndLists(const Uids& uids, MonoTime now);

  /// Moves each partition's offset back to the first event that a restart must see again.
  void MakeSafe(std::map<PartitionId, Offset>& next) const;
  /// What changed since the last call of Saved(), valid until the next Take.
  std::vector<ReplicaChange> Changes() const;
  void Saved();

  // --- Any thread ---

  /// By uid, those after `after`, at most `limit`.
  std::vector<api::TableStatus> List(std::string_view after, size_t limit) const;
  size_t table_count() const;
  /// A uid, or a table id or base path that one table alone has. kNotFound; kConflict: several.
  Result<std::string> UidOf(std::string_view name) const;
  /// Calls `read` with the table while it cannot change; kNotFound without calling.
  using Reader = std::function<void(const api::TableStatus&, const change::Replica&)>;
  Status Read(std::string_view uid, const Reader& read) const;
  /// In order of their paths, those that begin with `prefix` and come after `after` (nullopt: from
  /// the first), at most `limit`; gives whether there are more.
  Result<bool> ReadPartitions(std::string_view uid, std::string_view prefix,
                              const std::optional<std::string>& after, size_t limit,
                              api::TableStatus& table,
                              std::vector<api::PartitionEntry>& entries) const;

  /// Waits until `is_reached` of the table or `until`; gives whether it was (C12).
  bool WaitFor(std::string_view uid,
               const std::function<bool(const change::Replica&)>& is_reached, MonoTime until,
               const std::stop_token& stop) const;

  MirrorCounts counts() const;
  /// Groups of which parts, and not all, have come or that wait for others.
  size_t waiting_groups() const;
  /// Of each table: seconds between its newest commit seen on the topic and the newest applied.
  std::map<std::string, double> VersionGaps() const;

 private:
  struct Entry {
    explicit Entry(change::Subscriber it) : subscriber(std::move(it)) {}
    change::Subscriber subscriber;
    PartitionId partition = 0;
    std::optional<Offset> waiting_since{};  // offset of the first event that is not applied
    std::optional<WallTime> seen_time{};    // newest commit on the topic
    bool is_changed = false;
    bool is_whole = false;  // written anew as a whole
    std::set<std::string> paths{};
  };

  bool IsWanted(const change::EventPart& part) const;
  Entry& EntryOf(const std::string& uid, PartitionId partition);
  void TakePart(change::EventPart part, const ReadRecord& record, MonoTime now,
                std::vector<TableNews>* news);
  void Note(Entry& entry, const change::Subscriber::Decisions& decisions,
            std::vector<TableNews>* news);
  void NoteApplied(Entry& entry, const change::Group& group);
  void TakeBookmark(const ReadRecord& record, std::vector<Poison>& poison);
  static api::TableStatus StatusOf(const Entry& entry);

  const MirrorTablesOptions options_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any has_changed_;
  std::map<std::string, Entry, std::less<>> tables_;  // by uid
  MirrorCounts counts_;
};

}  // namespace tidemark::feed
