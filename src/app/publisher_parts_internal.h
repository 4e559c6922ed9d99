/// What the publisher's loop keeps of tables and partitions, and what its threads tell it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/config.h"
#include "app/partition_share.h"
#include "app/publisher.h"
#include "app/work_lane.h"
#include "base/clock.h"
#include "base/error.h"
#include "feed/control_requests.h"
#include "feed/outbox.h"
#include "feed/table_publisher.h"
#include "metrics/feed_points.h"

namespace tidemark::app {

/// One table. Lives as long as the loop; all but `publisher`, which whoever made it busy has, is of
/// the deciding thread. Names never change.
struct TableEntry {
  std::string uri;
  std::string base_path;
  std::string uid;
  std::string place;  ///< whose silence it shares: StorePlaces
  kafka::PartitionId partition = 0;
  std::unique_ptr<feed::TablePublisher> publisher;
  std::optional<feed::TableRecord> record;
  std::optional<Error> refusal;  ///< what is remembered cannot be read
  bool must_begin = true;

  MonoTime due{};
  Milliseconds pace{0};
  bool is_busy = false;
  bool is_woken = false;
  bool is_notified = false;
  int failures = 0;
  std::optional<MonoTime> settle_until;
  MonoTime rate_free{};
  MonoTime keep_due{};
  MonoTime head_due{};

  std::optional<feed::Parcel> parcel;  ///< waits to be sent
  int send_tries = 0;
  MonoTime send_not_before{};

  metrics::SendWindow window;
  std::optional<int64_t> unpublished;
  std::optional<WallTime> oldest_unpublished;
  std::optional<WallTime> checked;
  MonoTime checked_mono{};
  std::string complaint;  ///< the last one in the log
  std::string failure;
  std::set<std::string> findings;
  bool is_told = false;
};

/// One partition of the feed.
struct Part {
  bool is_held = false;
  bool is_open = false;
  bool is_busy = false;  ///< its lane has work
  uint64_t generation = 0;
  std::shared_ptr<feed::Outbox> outbox;
  std::unique_ptr<WorkLane> lane;
  std::vector<TableEntry*> tables;
  std::vector<TableEntry*> newcomers;  ///< found since it was opened
  std::deque<TableEntry*> waiting;     ///< to be sent
  int tries = 0;
  MonoTime not_before{};
  MonoTime bookmark_due{};
  std::string failure;
  feed::PartitionRequests requests;
  MonoTime hear_until{};            ///< its tables wait for what was asked of them, no longer
  std::set<std::string> strangers;  ///< asked for, and no tables of this feed: said once
};

/// What a look is to do.
struct LookOrder {
  bool begins = false;  ///< from `record`
  std::optional<feed::TableRecord> record{};
  feed::TableWishes wishes{};
  std::optional<bool> pause{};
  /// As wishes.control_next, of the pause alone.
  std::optional<feed::Offset> control_next_of_pause{};
  uint64_t generation = 0;
};
struct TableWasLookedAt {
  TableEntry* table = nullptr;
  LookOrder order{};  ///< `begins` is false once it has
  WallTime taken_at{};
  Result<feed::TableLook> look{};
};
struct PartWasOpened {
  kafka::PartitionId partition = 0;
  Status status{};
};
struct SentParcel {
  TableEntry* table = nullptr;
  feed::Parcel parcel{};
  feed::ParcelOutcome outcome{};
};
struct BatchWasSent {
  kafka::PartitionId partition = 0;
  uint64_t generation = 0;
  std::vector<SentParcel> batch{};
};
struct NotesWereSent {
  kafka::PartitionId partition = 0;
  Status status{};
};
struct TablesWereFound {
  std::vector<std::string> tables{};
  std::vector<std::string> failures{};
};
struct ShareChanged {
  ShareChange change{};
};
/// All that the control topic holds of a partition that was gained; an error: not known yet.
struct ControlBegan {
  kafka::PartitionId partition = 0;
  Status status{};
  std::vector<feed::ReadRecord> records{};
  feed::Offset log_end = 0;
};
struct ControlCame {
  feed::ReadRecord record{};
};
struct WakeUpCall {
  TableEntry* table = nullptr;
};
using PublisherMessage =
    std::variant<TableWasLookedAt, PartWasOpened, BatchWasSent, NotesWereSent, TablesWereFound,
                 ShareChanged, ControlBegan, ControlCame, WakeUpCall>;

/// What the threads tell the deciding one. Any thread.
class MessageBox {
 public:
  void Post(PublisherMessage message);
  void WakeUp() { has_message_.notify_all(); }
  /// Waits up to `nap` for the first.
  std::deque<PublisherMessage> Await(Milliseconds nap, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::condition_variable has_message_;
  std::deque<PublisherMessage> messages_;
};

/// Where a local table's instants come about, in either layout; none for another store.
std::vector<std::string> TimelineFoldersOf(const std::string& uri);

/// Values of the feed's cluster that no message may show.
HiddenValues HiddenOf(const Config& config);

/// Tries of a round over all tables (is_once) before a table is given up.
inline constexpr int kOnceTriesMax = 4;

/// How the round went; nullopt: it goes on.
std::optional<RoundResult> RoundOf(const std::vector<std::unique_ptr<TableEntry>>& tables,
                                   const std::map<kafka::PartitionId, Part>& parts,
                                   const std::vector<std::string>& discovery_failures);

/// Says that a request of the control topic was heard.
void LogAsked(const TableEntry& table, std::string_view what);

/// A partition's bookmarks, and the heads that are due in it (P6).
std::vector<feed::LogRecord> NotesOf(kafka::PartitionId id, const Part& part,
                                     const FeedConfig& feed, MonoTime now, WallTime wall);

metrics::FeedTable ReportOf(const TableEntry& table, bool has_series, MonoTime now, WallTime wall);

}  // namespace tidemark::app
