#include "app/publisher.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <variant>

#include "app/publisher_parts_internal.h"
#include "app/share_follower.h"
#include "app/store_place.h"
#include "app/table_changes.h"
#include "app/table_discovery.h"
#include "app/table_wake_ups.h"
#include "app/work_lane.h"
#include "base/log.h"
#include "feed/control.h"
#include "feed/outbox.h"
#include "feed/send_retry.h"
#include "feed/table_publisher.h"
#include "kafka/group_lease.h"

namespace tidemark::app {

namespace {

/// The longest the deciding thread sleeps.
constexpr Milliseconds kNapMax{250};
/// After a change a table is looked at again so soon, then twice as late each time.
constexpr Milliseconds kPaceMin{50};
/// What could not be looked at is tried so late at first, then twice as late up to the second.
constexpr Milliseconds kFailureMin{500};
constexpr Milliseconds kFailureMax{30'000};
/// A partition that somebody else took although the group says it is ours.
constexpr Milliseconds kTakeBackAfter{10'000};
/// Taking over: the cluster ends the former owner's transaction, and the cursors are read.
constexpr Milliseconds kOpenTime{30'000};
constexpr Milliseconds kDiscoveryTime{120'000};
/// So much of the waiting goes out in one transaction (R28).
constexpr size_t kBatchGroupsMax = 500;
constexpr size_t kBatchBytesMax = size_t{16} << 20;
/// So long nothing is told of a partition before it is known what was asked of its tables.
constexpr Milliseconds kHearTime{5'000};

}  // namespace

class Publisher::Loop {
 public:
  Loop(Config config, std::shared_ptr<feed::EventLog> log, std::unique_ptr<PartitionShare> share,
       FreshnessEdges edges, const PublisherOptions& options)
      : config_(std::move(config)),
        feed_(*config_.feed),
        hidden_(HiddenOf(config_)),
        log_(std::move(log)),
        share_(std::move(share)),
        edges_(std::move(edges)),
        options_(options),
        wake_ups_([this](TableEntry& table) { messages_.Post(WakeUpCall{&table}); },
                  !options.is_once && feed_.with_local_wake_ups),
        follower_(*share_, *log_, messages_, !options.is_once) {
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }

  ~Loop() {
    stop_work_.request_stop();
    follower_.Stop();
    wake_ups_.Stop();
    thread_.request_stop();
    messages_.WakeUp();
    thread_.join();
    // Lanes first: their work refers to the rest.
    discovery_lane_.reset();
    look_lanes_.clear();
    for (auto& [id, part] : parts_) part.lane.reset();
    share_->Leave();
  }

  size_t WakeUpAt(std::string_view uri) const { return wake_ups_.WakeUpAt(uri); }

  metrics::FeedReport Report() const {
    const std::lock_guard lock(report_mutex_);
    return report_;
  }

  RoundResult AwaitRound(const Budget& budget) {
    std::unique_lock lock(round_mutex_);
    while (!round_ && budget.Check()) round_done_.wait_for(lock, kNapMax);
    if (round_) return *round_;
    return {.tables = 1, .failures = {"the round did not end in time"}};
  }

 private:
  // --- the deciding thread --------------------------------------------------------------------

  void Run(const std::stop_token& stop) {
    Discover();
    while (!stop.stop_requested()) {
      const MonoTime now = edges_.clock->Mono();
      if (next_discovery_ && now >= *next_discovery_) Discover();
      OpenParts(now);
      LookAtDue(now);
      SendWaiting(now);
      if (!options_.is_once) SendNotes(now);
      PublishReport(now);
      if (options_.is_once) CheckRound();
      for (auto& message : messages_.Await(NapUntil(now), stop))
        std::visit([this](auto& each) { Take(each); }, message);
    }
  }

  Milliseconds NapUntil(MonoTime now) const {
    Milliseconds nap = kNapMax;
    const auto shorten = [&](MonoTime until) {
      nap = std::clamp(std::chrono::ceil<Milliseconds>(until - now), Milliseconds(0), nap);
    };
    if (!due_.empty()) shorten(due_.begin()->first);
    for (const auto& [id, part] : parts_) {
      if (part.is_held && !part.is_busy && (!part.waiting.empty() || !part.is_open))
        shorten(part.not_before);
    }
    return std::max(nap, Milliseconds(1));
  }

  // --- tables ---------------------------------------------------------------------------------

  void Discover() {
    next_discovery_.reset();
    if (!discovery_lane_) discovery_lane_ = std::make_unique<WorkLane>(1);
    discovery_lane_->Add([this] {
      TablesWereFound found;
      const auto budget = Budget::For(kDiscoveryTime, stop_work_.get_token());
      for (const auto& pattern : feed_.tables) {
        auto tables = FindTables(
            pattern, [this](const std::string& uri) { return OpenShared(uri); },
            [this](const std::string& uri) { return wake_ups_.Knows(BasePathOf(uri)); }, budget);
        if (!tables) {
          found.failures.push_back(fmt::format("{}: {}", pattern, tables.error().message));
          continue;
        }
        for (auto& each : *tables) found.tables.push_back(std::move(each));
      }
      messages_.Post(std::move(found));
    });
  }

  void Take(TablesWereFound& found) {
    for (const auto& failure : found.failures) {
      if (discovery_failures_.insert(failure).second)
        Log(LogLevel::kWarning, "tables of the feed cannot be looked for: " + failure);
    }
    if (found.failures.empty()) discovery_failures_.clear();
    discovery_failed_ = found.failures;
    bool has_new = false;
    const StorePlaces places;
    for (const auto& uri : found.tables) has_new |= AddTable(uri, places);
    if (has_new) wake_ups_.Watch(tables_);
    has_discovered_ = true;
    for (auto& [id, part] : parts_) RefuseStrangers(id, part);
    if (!options_.is_once) next_discovery_ = edges_.clock->Mono() + feed_.discover_every;
  }

  bool AddTable(const std::string& uri, const StorePlaces& places) {
    const std::string base_path = BasePathOf(uri);
    if (wake_ups_.Knows(base_path)) return false;
    auto entry = std::make_unique<TableEntry>();
    entry->uri = uri;
    entry->base_path = base_path;
    entry->uid = api::TableUid(base_path);
    entry->place = places.Of(uri);
    entry->partition = kafka::PartitionOfKey(entry->uid, log_->partition_count());
    TableEntry* raw = entry.get();
    tables_.push_back(std::move(entry));
    by_uid_[raw->uid] = raw;
    wake_ups_.Add(*raw);
    auto& part = parts_[raw->partition];
    part.tables.push_back(raw);
    part.newcomers.push_back(raw);
    BeginNewcomers(part);
    return true;
  }

  Result<std::shared_ptr<storage::ObjectStore>> OpenShared(const std::string& uri) const {
    TRY_ASSIGN(auto store, edges_.open_store(uri, StoreFor(config_, uri).options));
    return std::shared_ptr<storage::ObjectStore>(std::move(store));
  }

  /// The owner of its partition has been found out: go on from what is remembered.
  void BeginTable(Part& part, TableEntry& table) {
    table.record = std::nullopt;
    if (const auto found = part.outbox->tables().find(table.uid);
        found != part.outbox->tables().end())
      table.record = found->second;
    const auto refused = part.outbox->refused().find(table.uid);
    table.refusal =
        refused == part.outbox->refused().end() ? std::nullopt : std::optional(refused->second);
    if (table.refusal) Complain(table, table.refusal->message);
    HearPast(part, table);
    table.must_begin = true;
    table.is_told = false;
    SetDue(table, edges_.clock->Mono());
  }

  /// While the lane works, what is remembered is not for us to read.
  void BeginNewcomers(Part& part) {
    if (!part.is_open || part.is_busy) return;
    for (TableEntry* table : std::exchange(part.newcomers, {})) BeginTable(part, *table);
  }

  void SetDue(TableEntry& table, MonoTime due) {
    due_.erase({table.due, &table});
    table.due = due;
    due_.insert({due, &table});
  }
  void ClearDue(TableEntry& table) { due_.erase({table.due, &table}); }

  Milliseconds QuietPace(const TableEntry& table) const {
    const bool is_notified =
        table.is_notified || (options_.is_told && options_.is_told(table.base_path));
    return is_notified ? feed_.poll_notified : feed_.poll;
  }

  // --- looking --------------------------------------------------------------------------------

  void LookAtDue(MonoTime now) {
    while (!due_.empty() && due_.begin()->first <= now) {
      TableEntry& table = *due_.begin()->second;
      ClearDue(table);
      const Part& part = parts_[table.partition];
      if (!part.is_open || table.is_busy || table.parcel || table.refusal) continue;
      // A pause that was asked for while nobody published counts for what is there already.
      if (!options_.is_once && !part.requests.has_begun() && now < part.hear_until) {
        SetDue(table, now + kPaceMin);
        continue;
      }
      BeginLook(part, table);
    }
  }

  void BeginLook(const Part& part, TableEntry& table) {
    table.is_busy = true;
    table.is_woken = false;
    auto& lane = look_lanes_[{table.place, table.failures > 0}];
    if (!lane) lane = std::make_unique<WorkLane>(options_.tables_at_once);
    const auto asked = part.requests.Of(table.uid);
    const auto heard = part.requests.heard();
    LookOrder order{.begins = std::exchange(table.must_begin, false),
                    .record = {},
                    .wishes = {.snapshot = asked.wants_snapshot(),
                               .reconcile = asked.wants_reconcile(),
                               .control_next = heard},
                    .pause = asked.pause(),
                    .generation = part.generation};
    if (heard) order.control_next_of_pause = asked.NextAfterPause(*heard);
    if (order.begins) order.record = table.record;
    lane->Add([this, &table, order = std::move(order)] { messages_.Post(LookAt(table, order)); });
  }

  /// On a lane's thread; the table is busy meanwhile, so nobody else has its publisher.
  TableWasLookedAt LookAt(TableEntry& table, const LookOrder& order) {
    TableWasLookedAt message{.table = &table, .order = order, .taken_at = edges_.clock->Now()};
    if (const auto opened = OpenTable(table); !opened) {
      message.look = std::unexpected(opened.error());
      return message;
    }
    if (message.order.begins) table.publisher->Begin(std::move(message.order.record));
    message.order.begins = false;
    if (order.pause) {
      if (auto parcel = table.publisher->Pause(*order.pause, order.control_next_of_pause)) {
        message.look = feed::TableLook{.parcel = std::move(parcel)};
        return message;
      }
    }
    message.look =
        table.publisher->Look(order.wishes, message.taken_at,
                              Budget::For(options_.table_deadline, stop_work_.get_token()));
    return message;
  }

  Status OpenTable(TableEntry& table) const {
    if (table.publisher) return {};
    TRY_ASSIGN(auto store, OpenShared(table.uri));
    std::shared_ptr<storage::ObjectStore> parent;
    if (const std::string above = ParentOf(table.base_path); !above.empty()) {
      auto opened = OpenShared(above);
      if (opened) parent = *std::move(opened);
    }
    table.publisher = std::make_unique<feed::TablePublisher>(
        std::move(store), std::move(parent), edges_.columns, table.base_path, feed_.publish);
    return {};
  }

  void Take(TableWasLookedAt& message) {
    TableEntry& table = *message.table;
    table.is_busy = false;
    Part& part = parts_[table.partition];
    if (!part.is_open || part.generation != message.order.generation) {
      // Another owner, or a new beginning, meanwhile.
      if (part.is_open) SetDue(table, edges_.clock->Mono());
      return;
    }
    const MonoTime now = edges_.clock->Mono();
    table.must_begin |= message.order.begins;
    if (!message.look) return LookFailed(table, message.look.error(), now);
    table.failures = 0;
    table.complaint.clear();
    table.checked = message.taken_at;
    table.checked_mono = now;
    auto& look = *message.look;
    for (const auto& finding : look.findings) Report(table, finding);
    // Of a pause, what else was asked for waits for its end.
    const bool is_paused = table.record && table.record->is_paused;
    const bool is_heeded = !look.parcel && !look.is_restoring && !is_paused &&
                           !(look.is_missing && table.record && table.record->cursor);
    if (is_heeded && message.order.wishes.control_next)
      part.requests.Done(table.uid, *message.order.wishes.control_next);
    if (look.is_missing && !look.parcel) {
      if (options_.is_once && !table.record)
        table.failure = "there is no Hudi table";
      else
        table.is_told = true;
      return SetDue(table, now + (table.record ? QuietPace(table) : feed_.poll_notified));
    }
    if (look.is_restoring) {
      table.failure = "a restore is under way, and nothing can be told before it is complete";
      return SetDue(table, now + feed_.poll);
    }
    if (!look.parcel) return NothingToTell(table, now);
    Offer(part, table, std::move(*look.parcel), now);
  }

  void NothingToTell(TableEntry& table, MonoTime now) {
    table.is_told = true;
    table.unpublished = 0;
    table.settle_until.reset();
    table.pace = std::clamp(2 * table.pace, kPaceMin, QuietPace(table));
    // What is under way is remembered now and then, and by nobody who only passes by.
    if (!options_.is_once && now >= table.keep_due) {
      table.keep_due = now + feed_.head_every;
      Part& part = parts_[table.partition];
      auto next = part.requests.heard();
      if (next) next = part.requests.Of(table.uid).NextUndone(*next);
      if (auto parcel = table.publisher->KeepPending(next)) {
        Queue(part, table, *std::move(parcel));
        return;
      }
    }
    SetDue(table, table.is_woken ? now : now + table.pace);
  }

  /// A parcel with groups may have to wait: for others to settle, or for the table's rate.
  void Offer(Part& part, TableEntry& table, feed::Parcel parcel, MonoTime now) {
    const bool has_groups = !parcel.groups.empty();
    if (has_groups && feed_.settle.count() > 0 && !table.settle_until)
      table.settle_until = now + feed_.settle;
    const MonoTime until = std::max(table.settle_until.value_or(now), table.rate_free);
    if (has_groups && until > now) {
      // Planned anew then, with what has come by that time.
      table.unpublished = static_cast<int64_t>(parcel.groups.size());
      return SetDue(table, until);
    }
    table.settle_until.reset();
    if (feed_.rate > 0 && has_groups) {
      table.rate_free = std::max(table.rate_free, now) +
                        std::chrono::nanoseconds(std::chrono::seconds(1)) *
                            static_cast<int64_t>(parcel.groups.size()) / feed_.rate;
    }
    table.pace = kPaceMin;
    Queue(part, table, std::move(parcel));
  }

  void Queue(Part& part, TableEntry& table, feed::Parcel parcel) {
    table.unpublished = static_cast<int64_t>(parcel.groups.size());
    table.oldest_unpublished.reset();
    for (const auto& group : parcel.groups) {
      if (group.completed &&
          (!table.oldest_unpublished || *group.completed < *table.oldest_unpublished))
        table.oldest_unpublished = group.completed;
    }
    table.parcel = std::move(parcel);
    table.send_not_before = MonoTime{};
    part.waiting.push_back(&table);
  }

  void LookFailed(TableEntry& table, const Error& error, MonoTime now) {
    if (error.kind == ErrorKind::kCancelled) return SetDue(table, now + kFailureMin);
    ++table.failures;
    const std::string words = StoreFor(config_, table.uri).hidden.Hide(error).message;
    Complain(table, words);
    if (options_.is_once && table.failures >= kOnceTriesMax) table.failure = words;
    const auto wait = std::min(kFailureMin * (1 << std::min(table.failures - 1, 10)), kFailureMax);
    SetDue(table, now + wait);
  }

  void Complain(TableEntry& table, const std::string& words) {
    table.failure = words;
    if (table.complaint == words) return;
    table.complaint = words;
    Log(LogLevel::kWarning, fmt::format("feed table={}: {}", table.base_path, words));
  }

  void Report(TableEntry& table, const lake::Finding& finding) {
    const std::string words =
        fmt::format("{}: {}: {}", finding.kind, finding.place, finding.message);
    if (!table.findings.insert(words).second) return;
    Log(LogLevel::kWarning, fmt::format("feed table={}: {}", table.base_path, words));
  }

  // --- partitions -----------------------------------------------------------------------------

  void OpenParts(MonoTime now) {
    for (auto& [id, part] : parts_) {
      if (!part.is_held || part.is_open || part.is_busy || part.tables.empty() ||
          now < part.not_before)
        continue;
      part.is_busy = true;
      part.outbox = std::make_shared<feed::Outbox>(*log_, id);
      if (!part.lane) part.lane = std::make_unique<WorkLane>(1);
      part.lane->Add([this, partition = id, outbox = part.outbox] {
        auto status = outbox->Open(Budget::For(kOpenTime, stop_work_.get_token()));
        messages_.Post(PartWasOpened{partition, std::move(status)});
      });
    }
  }

  void Take(PartWasOpened& message) {
    Part& part = parts_[message.partition];
    part.is_busy = false;
    if (!part.is_held) return part.outbox.reset();
    const MonoTime now = edges_.clock->Mono();
    if (!message.status) {
      ++part.tries;
      part.not_before = now + Delay(part.tries);
      part.failure = hidden_.Hide(message.status.error()).message;
      if (part.tries == 1) {
        Log(LogLevel::kWarning, fmt::format("feed partition={} cannot be taken over: {}",
                                            message.partition, part.failure));
      }
      return;
    }
    part.tries = 0;
    part.failure.clear();
    part.is_open = true;
    ++part.generation;
    part.bookmark_due = now + feed_.bookmark_every;
    part.hear_until = now + kHearTime;
    part.newcomers.clear();
    for (TableEntry* table : part.tables) BeginTable(part, *table);
    RefuseStrangers(message.partition, part);
  }

  /// Nothing of the partition's work goes on; what was to be sent is planned anew by its next
  /// owner.
  void Close(Part& part) {
    part.is_open = false;
    part.waiting.clear();
    ++part.generation;
    for (TableEntry* table : part.tables) {
      ClearDue(*table);
      table->parcel.reset();
      table->send_tries = 0;
      table->unpublished.reset();
      table->oldest_unpublished.reset();
    }
  }

  void Take(ShareChanged& message) {
    for (const auto partition : message.change.lost) {
      Part& part = parts_[partition];
      part.is_held = false;
      part.requests.End();
      part.strangers.clear();
      Close(part);
    }
    for (const auto partition : message.change.gained) {
      if (partition >= log_->partition_count()) continue;
      Part& part = parts_[partition];
      part.is_held = true;
      part.not_before = MonoTime{};
    }
    has_share_ = has_share_ || !message.change.gained.empty();
  }

  // --- sending --------------------------------------------------------------------------------

  Milliseconds Delay(int tries) {
    return feed::RetryDelay(tries, std::uniform_real_distribution<double>(0, 1)(random_));
  }

  void SendWaiting(MonoTime now) {
    for (auto& [id, part] : parts_) {
      if (!part.is_open || part.is_busy || part.waiting.empty() || now < part.not_before) continue;
      auto batch = std::make_shared<std::vector<SentParcel>>();
      size_t groups = 0, bytes = 0;
      std::deque<TableEntry*> later;
      for (TableEntry* table : part.waiting) {
        const bool is_full = groups >= kBatchGroupsMax || bytes >= kBatchBytesMax;
        if (is_full || now < table->send_not_before) {
          later.push_back(table);
          continue;
        }
        groups += table->parcel->groups.size();
        bytes += table->parcel->byte_count;
        batch->push_back({table, std::move(*table->parcel), {}});
        table->parcel.reset();
        table->is_busy = true;
      }
      part.waiting = std::move(later);
      if (batch->empty()) continue;
      part.is_busy = true;
      part.lane->Add(
          [this, partition = id, outbox = part.outbox, batch, generation = part.generation] {
            std::vector<const feed::Parcel*> parcels;
            for (const auto& each : *batch) parcels.push_back(&each.parcel);
            // A try that has begun is seen through: what it came to decides what is done next.
            const auto time = outbox->is_open() ? feed::kTryTime : kOpenTime;
            auto outcomes = outbox->Send(parcels, Budget::For(time));
            for (size_t i = 0; i < batch->size(); ++i) (*batch)[i].outcome = std::move(outcomes[i]);
            messages_.Post(BatchWasSent{partition, generation, std::move(*batch)});
          });
    }
  }

  void Take(BatchWasSent& message) {
    Part& part = parts_[message.partition];
    part.is_busy = false;
    const MonoTime now = edges_.clock->Mono();
    bool is_fenced = false;
    bool has_sent = false, is_unavailable = false;
    for (auto& sent : message.batch) {
      sent.table->is_busy = false;
      CountTry(*sent.table, sent.parcel, sent.outcome, now);
      if (message.generation != part.generation) continue;
      if (sent.outcome.status) {
        has_sent = true;
        Confirmed(*sent.table, std::move(sent.parcel), now);
      } else if (sent.outcome.is_stale) {
        BeginTable(part, *sent.table);
      } else if (sent.outcome.status.error().kind == ErrorKind::kConflict) {
        is_fenced = true;
      } else {
        is_unavailable |= sent.outcome.status.error().kind == ErrorKind::kUnavailable;
        Park(part, *sent.table, std::move(sent.parcel), sent.outcome.status.error(), now);
      }
    }
    if (has_sent) part.tries = 0;
    if (is_unavailable && !has_sent) part.not_before = now + Delay(++part.tries);
    if (is_fenced) Fenced(message.partition, part, now);
    BeginNewcomers(part);
  }

  void CountTry(TableEntry& table, const feed::Parcel& parcel, const feed::ParcelOutcome& outcome,
                MonoTime now) {
    if (parcel.groups.empty()) return;
    const bool is_good = outcome.status.has_value();
    if (!is_good && outcome.status.error().kind == ErrorKind::kConflict) return;
    table.window.Tried(is_good, now);
    ++counts_.send_tries;
    if (!is_good) ++counts_.send_failures;
    if (!is_good) return;
    const WallTime wall = edges_.clock->Now();
    for (const auto& group : parcel.groups) {
      ++counts_.groups;
      if (group.is_late) ++counts_.late_instants;
      if (!group.completed) continue;
      const Milliseconds latency = std::max(wall - *group.completed, Milliseconds(0));
      counts_.latency.Add(latency);
      table.window.Confirmed(latency, now);
    }
    if (parcel.after.snapshot != table.record.value_or(feed::TableRecord{}).snapshot)
      ++counts_.snapshots;
  }

  void Confirmed(TableEntry& table, feed::Parcel parcel, MonoTime now) {
    table.send_tries = 0;
    table.complaint.clear();
    table.failure.clear();
    table.unpublished = 0;
    table.oldest_unpublished.reset();
    table.record = parcel.after;
    if (parcel.after.control_next)
      parts_[table.partition].requests.Done(table.uid, *parcel.after.control_next);
    table.publisher->Sent(std::move(parcel));
    table.is_told = true;
    SetDue(table, table.is_woken ? now : now + kPaceMin);
  }

  void Park(Part& part, TableEntry& table, feed::Parcel parcel, const Error& error, MonoTime now) {
    ++table.send_tries;
    table.parcel = std::move(parcel);
    table.send_not_before = now + Delay(table.send_tries);
    part.waiting.push_back(&table);
    Complain(table, "not sent: " + hidden_.Hide(error).message);
  }

  void Fenced(kafka::PartitionId id, Part& part, MonoTime now) {
    ++counts_.fenced;
    Log(LogLevel::kInfo, fmt::format("feed partition={} has another publisher", id));
    Close(part);
    part.not_before = now + kTakeBackAfter;
  }

  // --- bookmarks and heads --------------------------------------------------------------------

  void SendNotes(MonoTime now) {
    for (auto& [id, part] : parts_) {
      if (!part.is_open || part.is_busy || now < part.bookmark_due) continue;
      part.bookmark_due = now + feed_.bookmark_every;
      auto records = std::make_shared<std::vector<feed::LogRecord>>(
          NotesOf(id, part, feed_, now, edges_.clock->Now()));
      if (records->empty()) continue;
      part.is_busy = true;
      part.lane->Add([this, partition = id, outbox = part.outbox, records] {
        auto status = outbox->SendNotes(*records, Budget::For(feed::kTryTime));
        messages_.Post(NotesWereSent{partition, std::move(status)});
      });
    }
  }

  void Take(NotesWereSent& message) {
    Part& part = parts_[message.partition];
    part.is_busy = false;
    if (!message.status && part.is_open && message.status.error().kind == ErrorKind::kConflict)
      Fenced(message.partition, part, edges_.clock->Mono());
    BeginNewcomers(part);
  }

  // --- wake-ups and requests ------------------------------------------------------------------

  void Take(WakeUpCall& message) {
    TableEntry& table = *message.table;
    table.is_woken = true;
    if (!table.is_busy && !table.parcel) SetDue(table, edges_.clock->Mono());
  }

  void Take(ControlBegan& message) {
    Part& part = parts_[message.partition];
    if (!part.is_held) return;
    if (!message.status) {
      const std::string words = hidden_.Hide(message.status.error()).message;
      if (std::exchange(control_complaint_, words) != words)
        Log(LogLevel::kWarning, "requests cannot be heard: " + words);
      return;
    }
    for (const auto& error : part.requests.Begin(message.records, message.log_end))
      Refuse(error.message);
    if (!part.is_open) return RefuseStrangers(message.partition, part);
    for (TableEntry* table : part.tables) {
      HearPast(part, *table);
      table->keep_due = MonoTime{};
      if (part.requests.Of(table->uid).is_empty()) continue;
      WakeUpCall wake{table};
      Take(wake);
    }
    RefuseStrangers(message.partition, part);
  }

  /// What was asked of the table before we came, and not done by anybody.
  void HearPast(Part& part, const TableEntry& table) {
    part.requests.Settle(table.uid, table.record);
    const auto asked = part.requests.Of(table.uid);
    if (!asked.is_empty()) LogAsked(table, asked.Text());
  }

  void Take(ControlCame& message) {
    const auto id = message.record.partition;
    Part& part = parts_[id];
    if (!part.requests.has_begun()) return;
    const auto request = part.requests.Take(message.record);
    if (!request) return Refuse(request.error().message);
    const auto table = by_uid_.find(request->uid);
    if (table == by_uid_.end() || table->second->partition != id) return RefuseStrangers(id, part);
    LogAsked(*table->second, feed::ControlActionName(request->action));
    WakeUpCall wake{table->second};
    Take(wake);
  }

  /// Requests for tables that are not here. They stay, for the table may be found yet.
  void RefuseStrangers(kafka::PartitionId id, Part& part) {
    // What is remembered must be read first: it may say that they are done.
    const bool is_readable = part.tables.empty() || (part.is_open && !part.is_busy);
    if (!has_discovered_ || !is_readable) return;
    for (const auto& uid : part.requests.Uids()) {
      const auto table = by_uid_.find(uid);
      const bool is_known = table != by_uid_.end();
      if (is_known && table->second->partition == id) continue;
      std::optional<feed::TableRecord> record;
      if (part.outbox && part.outbox->tables().contains(uid))
        record = part.outbox->tables().at(uid);
      part.requests.Settle(uid, record);
      if (part.requests.Of(uid).is_empty() || !part.strangers.insert(uid).second) continue;
      Refuse(is_known ? fmt::format("a record of the control topic is in partition {} and those of "
                                    "its table must be in {} uid={}",
                                    id, table->second->partition, uid)
                      : "a record of the control topic names no table of this feed uid=" + uid);
    }
  }

  void Refuse(const std::string& why) {
    ++counts_.control_refused;
    Log(LogLevel::kWarning, why);
  }

  // --- reports --------------------------------------------------------------------------------

  void PublishReport(MonoTime now) {
    if (options_.is_once || now < next_report_) return;
    next_report_ = now + std::chrono::seconds(1);
    metrics::FeedReport report = counts_;
    const auto wall = edges_.clock->Now();
    const bool has_series =
        tables_.size() <= static_cast<size_t>(std::max<int64_t>(feed_.table_series_max, 0));
    for (const auto& [id, part] : parts_) {
      if (!part.is_held) continue;
      ++report.partitions_held;
      if (!part.is_open && !part.tables.empty()) ++report.partitions_closed;
      for (const TableEntry* table : part.tables)
        report.tables.push_back(ReportOf(*table, has_series, now, wall));
    }
    const std::lock_guard lock(report_mutex_);
    report_ = std::move(report);
  }

  void CheckRound() {
    if (!has_discovered_ || !has_share_) return;
    auto result = RoundOf(tables_, parts_, discovery_failed_);
    if (!result) return;
    const std::lock_guard lock(round_mutex_);
    round_ = std::move(result);
    round_done_.notify_all();
  }

  const Config config_;
  const FeedConfig feed_;
  const HiddenValues hidden_;
  const std::shared_ptr<feed::EventLog> log_;
  const std::unique_ptr<PartitionShare> share_;
  const FreshnessEdges edges_;
  const PublisherOptions options_;

  // Of the deciding thread.
  std::vector<std::unique_ptr<TableEntry>> tables_;
  std::map<std::string, TableEntry*> by_uid_;
  std::map<kafka::PartitionId, Part> parts_;
  std::set<std::pair<MonoTime, TableEntry*>> due_;
  std::optional<MonoTime> next_discovery_;
  std::set<std::string> discovery_failures_;
  std::vector<std::string> discovery_failed_;
  std::string control_complaint_;
  bool has_discovered_ = false;
  bool has_share_ = false;
  metrics::FeedReport counts_;
  MonoTime next_report_{};
  std::minstd_rand random_{std::random_device{}()};
  std::map<std::pair<std::string, bool>, std::unique_ptr<WorkLane>> look_lanes_;
  std::unique_ptr<WorkLane> discovery_lane_;

  mutable std::mutex report_mutex_;
  metrics::FeedReport report_;
  std::mutex round_mutex_;
  std::condition_variable round_done_;
  std::optional<RoundResult> round_;

  MessageBox messages_;
  std::stop_source stop_work_;
  TableWakeUps wake_ups_;
  ShareFollower follower_;
  std::jthread thread_;
};

Publisher::Publisher(Config config, std::shared_ptr<feed::EventLog> log,
                     std::unique_ptr<PartitionShare> share, FreshnessEdges edges,
                     const PublisherOptions& options)
    : loop_(std::make_unique<Loop>(std::move(config), std::move(log), std::move(share),
                                   std::move(edges), options)) {}

Publisher::~Publisher() = default;

size_t Publisher::WakeUpAt(std::string_view uri) {
  return loop_->WakeUpAt(uri);
}

metrics::FeedReport Publisher::Report() const {
  return loop_->Report();
}

RoundResult Publisher::AwaitRound(const Budget& budget) {
  return loop_->AwaitRound(budget);
}

}  // namespace tidemark::app
