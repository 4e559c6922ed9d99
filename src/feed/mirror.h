/// A mirror of the tables that a feed tells of: list, then watch (change-feed §4.1). For the daemon
/// and for programs that want the tables in their own memory: open a log, make a Mirror on it, and
/// call Round() from a thread of yours; ask `tables()` from any other.
///
///   auto log = feed::OpenKafkaLog({.cluster = {.bootstrap_servers = "broker:9092"}});
///   feed::Mirror mirror(*log, nullptr, nullptr, clock, {});
///   TRY(mirror.Open(budget));
///   while (!stop.stop_requested()) static_cast<void>(mirror.Round(Milliseconds(500), budget));
///
/// and elsewhere: `mirror.tables().UidOf("db.orders")`, `Read()`, `ReadPartitions()`, `WaitFor()`.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"
#include "feed/control.h"
#include "feed/event_log.h"
#include "feed/mirror_store.h"
#include "feed/mirror_tables.h"

namespace tidemark::feed {

/// The other way: what a mirror says to others.
class MirrorOutlet {
 public:
  virtual ~MirrorOutlet() = default;
  /// A request on the control topic, in the partition of the table.
  virtual Status Ask(PartitionId partition, const ControlRequest& request,
                     const Budget& budget) = 0;
  /// A record that cannot be read, as it is, to the topic of the dead, with why and from where.
  virtual Status Bury(const ReadRecord& record, const Error& why, const Budget& budget) = 0;
};

struct MirrorOptions {
  MirrorTablesOptions tables{};
  /// The longest that applied groups are not on disk; a crash costs their reading again, no more.
  Milliseconds save_every{200};
  /// Of one partition that could not be begun, until the next try.
  Milliseconds retry_every{2'000};
  /// Of one reading of the state topic.
  Milliseconds list_timeout{60'000};
};

/// One caller at a time, but for tables(), is_ready() and trouble(): any thread.
class Mirror {
 public:
  using Listener = std::function<void(const std::vector<TableNews>& news)>;

  /// Everything given outlives it. `store`: nullptr: what is known ends with the process.
  /// `outlet`: nullptr: the publisher is never asked, and what cannot be read is left where it is.
  Mirror(EventLog& log, MirrorStore* store, MirrorOutlet* outlet, const Clock& clock,
         MirrorOptions options);

  /// Takes up what the store has. Errors are the store's.
  Status Open();

  /// Who wants to be told. From the thread of Round(), after the tables have changed; nothing is
  /// told of what was there before all partitions were read to their ends.
  void SetListener(Listener listener) { listener_ = std::move(listener); }

  /// Begins partitions that are not read yet, waits up to `wait` for records, applies them, writes,
  /// reads the state topic for tables that ask for it. What goes wrong with one partition or table
  /// leaves the others alone; it is logged, and tried again in a later round.
  void Round(Milliseconds wait, const Budget& budget);

  /// Writes what is not written yet.
  Status Save();

  const MirrorTables& tables() const { return tables_; }
  /// Every partition was read to where it ended when it was begun.
  bool is_ready() const { return is_ready_; }
  /// Records that went to the topic of the dead.
  int64_t buried() const { return buried_; }

 private:
  struct Followed {
    bool has_begun = false;
    MonoTime retry_at{};
    Offset next = 0;  // of the events
    bool is_made_anew = false;  // the event topic was, since we follow it
  };

  void BeginAll(const Budget& budget);
  void BeginAnew();
  Status Begin(PartitionId partition, Followed& followed, const Budget& budget);
  Result<Offset> ReadEvents(PartitionId partition, Followed& followed, const Budget& budget);
  void TakeAll(std::vector<ReadRecord> records, const Budget& budget);
  void ListAll(const Budget& budget);
  void ListOne(PartitionId partition, const MirrorTables::Uids& uids, const Budget& budget);
  void BuryAll(const Budget& budget);
  void BuryMany(const Budget& budget);
  void TrimPoison();
  void SaveIfDue();
  void Tell();
  void NoteReady();
  void Complain(const std::string& what, const Error& why);
  std::vector<TableNews>* news();

  EventLog& log_;
  MirrorStore* store_;
  MirrorOutlet* outlet_;
  const Clock& clock_;
  const MirrorOptions options_;
  Listener listener_;
  MirrorTables tables_;
  std::unique_ptr<LogFollower> follower_;
  std::map<PartitionId, Followed> partitions_;
  std::map<PartitionId, Offset> saved_;  // offsets as they are stored
  std::vector<Poison> poison_;
  std::vector<TableNews> news_;
  std::string complaint_;  // said last, so that it is not said each round
  MonoTime saved_at_{};
  MonoTime ticked_at_{};
  MonoTime bury_after_{};
  std::atomic<bool> is_ready_ = false;
  std::atomic<int64_t> buried_ = 0;
};

}  // namespace tidemark::feed
