#include "app/sink_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "base/glob.h"
#include "base/log.h"

namespace tidemark::app {

namespace {

/// How long a lane sleeps that has nothing to wait for.
constexpr std::chrono::hours kIdle{1};

}  // namespace

/// One sink, its thread, and how far each table is.
class SinkLanes::Lane {
 public:
  Lane(SinkConfig config, HiddenValues hidden, SinkSource& source, const Clock& clock,
       std::unique_ptr<sink::Sink> sink)
      : config_(std::move(config)),
        hidden_(std::move(hidden)),
        source_(source),
        clock_(clock),
        sink_(std::move(sink)),
        random_(std::random_device{}()),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}

  const std::string& name() const { return config_.name; }

  void Note(const SinkTable& table) {
    if (!IsNamed(config_.tables, table)) return;
    const std::scoped_lock lock(mutex_);
    Entry& entry = entries_[table.uid];
    entry.table = table;
    if (!entry.is_behind) entry.noted_at = clock_.Mono();
    entry.is_behind = true;
    Wake();
  }

  Status Resume(const std::string& uid) {
    const std::scoped_lock lock(mutex_);
    const auto it = entries_.find(uid);
    if (it == entries_.end())
      return Fail(ErrorKind::kNotFound,
                  fmt::format("the sink has no such table: sink={} uid={}", config_.name, uid));
    Entry& entry = it->second;
    entry.pace = sink::Resume(std::move(entry.pace));
    entry.compares_all = true;
    if (!entry.is_behind) entry.noted_at = clock_.Mono();
    entry.is_behind = true;
    Wake();
    return {};
  }

  metrics::SinkHealth Health() const {
    const std::scoped_lock lock(mutex_);
    metrics::SinkHealth health = health_;
    health.name = config_.name;
    health.tables = entries_.size();
    for (const auto& [uid, entry] : entries_) {
      if (entry.pace.mode == sink::SinkMode::kPaused) ++health.paused;
      if (entry.pace.mode == sink::SinkMode::kQuarantined) ++health.quarantined;
      if (entry.is_behind) ++health.behind;
    }
    return health;
  }

  void AddStates(bool with_running, std::vector<SinkState>& states) const {
    const std::scoped_lock lock(mutex_);
    for (const auto& [uid, entry] : entries_) {
      if (with_running || entry.pace.mode != sink::SinkMode::kRunning)
        states.push_back({config_.name, entry.table, entry.pace, entry.is_behind});
    }
  }

 private:
  struct Entry {
    SinkTable table{};
    sink::SinkPace pace{};
    bool is_behind = false;
    MonoTime noted_at{};                            // when it fell behind
    std::shared_ptr<const sink::TableNow> known{};  // what the sink was brought to
    bool compares_all = false;                      // at the next try
  };

  /// Under the lock.
  void Wake() {
    is_woken_ = true;
    has_work_.notify_all();
  }

  void Run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      MonoTime wake = clock_.Mono() + kIdle;
      const std::string uid = NextDue(wake);
      if (uid.empty()) {
        const auto until = std::chrono::steady_clock::now() + (wake - clock_.Mono());
        has_work_.wait_until(lock, stop, until, [this] { return std::exchange(is_woken_, false); });
        continue;
      }
      Work(uid, lock, stop);
    }
  }

  /// The table that has waited longest of those that may be tried; empty, and when to look again:
  /// none. Under the lock.
  std::string NextDue(MonoTime& wake) const {
    const MonoTime now = clock_.Mono();
    const Entry* longest = nullptr;
    for (const auto& [uid, entry] : entries_) {
      if (!entry.is_behind || entry.pace.mode == sink::SinkMode::kQuarantined) continue;
      if (!IsDue(entry.pace, now)) {
        wake = std::min(wake, *entry.pace.next_try);
      } else if (longest == nullptr || entry.noted_at < longest->noted_at) {
        longest = &entry;
      }
    }
    return longest == nullptr ? std::string() : longest->table.uid;
  }

  void Work(const std::string& uid, std::unique_lock<std::mutex>& lock,
            const std::stop_token& stop) {
    Entry& entry = entries_.at(uid);  // entries are never removed
    entry.is_behind = false;          // a Note from here on is news again
    // Asked for once more meanwhile: done once more.
    const bool compares_all = std::exchange(entry.compares_all, false);
    const auto known = compares_all ? nullptr : entry.known;
    const auto applied = entry.pace.applied;
    lock.unlock();
    const Budget budget = Budget::For(config_.timeout, stop);
    std::shared_ptr<const sink::TableNow> now;
    sink::SinkOutcome outcome =
        Bring(uid, known, {.applied = applied, .compares_all = compares_all}, now, budget);
    outcome.reason = hidden_.Hide(std::move(outcome.reason));
    lock.lock();
    if (stop.stop_requested()) return;
    if (now == nullptr || outcome.kind != sink::OutcomeKind::kApplied)
      entry.compares_all |= compares_all;
    Settle(entry, std::move(now), std::move(outcome));
  }

  struct Wish {
    std::optional<sink::SinkStamp> applied{};
    bool compares_all = false;
  };

  sink::SinkOutcome Bring(const std::string& uid,
                          const std::shared_ptr<const sink::TableNow>& known, const Wish& wish,
                          std::shared_ptr<const sink::TableNow>& now, const Budget& budget) {
    auto read = source_.Read(uid, budget);
    // Not known yet: its first news will come.
    if (!read && read.error().kind == ErrorKind::kNotFound) return {};
    if (!read)
      return {.kind = sink::OutcomeKind::kTemporary, .reason = std::move(read).error().message};
    now = *std::move(read);
    std::optional<sink::TableDelta> delta;
    if (known != nullptr) delta = DeltaBetween(*known, *now, WantsEvents(config_.target));
    sink::TableView view = now->view;
    view.partitions = [&now] { return PartitionsOf(*now); };
    return sink_->Apply({.now = view,
                         .stamp = now->stamp,
                         .delta = delta ? &*delta : nullptr,
                         .applied = wish.applied,
                         .compares_all = wish.compares_all},
                        budget);
  }

  /// Under the lock.
  void Settle(Entry& entry, std::shared_ptr<const sink::TableNow> now, sink::SinkOutcome outcome) {
    if (now == nullptr && outcome.kind == sink::OutcomeKind::kApplied) return;
    const MonoTime mono = clock_.Mono();
    const sink::SinkMode before = entry.pace.mode;
    const sink::SinkStamp stamp = now != nullptr ? now->stamp : sink::SinkStamp{};
    std::uniform_real_distribution<double> luck(0, 1);
    entry.pace =
        After(std::move(entry.pace), stamp, outcome, mono, config_.back_off, luck(random_));
    switch (outcome.kind) {
      case sink::OutcomeKind::kApplied:
        ++health_.applied;
        health_.partitions += outcome.partitions_added + outcome.partitions_dropped;
        if (outcome.was_full) ++health_.full;
        health_.latency.Add(std::chrono::ceil<Milliseconds>(mono - entry.noted_at));
        entry.known = std::move(now);
        break;
      case sink::OutcomeKind::kStale:
        ++health_.stale;
        entry.known = nullptr;
        break;
      case sink::OutcomeKind::kTemporary:
      case sink::OutcomeKind::kPermanent:
        ++health_.failures;
        entry.is_behind = true;
        break;
    }
    if (entry.pace.mode != before || outcome.kind == sink::OutcomeKind::kStale)
      Say(entry, before, outcome);
  }

  void Say(const Entry& entry, sink::SinkMode before, const sink::SinkOutcome& outcome) const {
    const auto place = fmt::format("sink={} table={}", config_.name, entry.table.table_id);
    if (outcome.kind == sink::OutcomeKind::kStale)
      return Log(LogLevel::kWarning, fmt::format("{}: {}", place, outcome.reason));
    switch (entry.pace.mode) {
      case sink::SinkMode::kRunning:
        return Log(LogLevel::kInfo, fmt::format("{}: works again", place));
      case sink::SinkMode::kPaused:
        return Log(LogLevel::kWarning,
                   fmt::format("{}: is tried again and again: {}", place, outcome.reason));
      case sink::SinkMode::kQuarantined:
        return Log(LogLevel::kError,
                   fmt::format("{}: is quarantined{}: {}; {}", place,
                               before == sink::SinkMode::kPaused ? " after a pause" : "",
                               outcome.reason, outcome.cure));
    }
  }

  const SinkConfig config_;
  const HiddenValues hidden_;
  SinkSource& source_;
  const Clock& clock_;
  const std::unique_ptr<sink::Sink> sink_;  // touched by thread_ alone
  mutable std::mutex mutex_;
  std::condition_variable_any has_work_;
  bool is_woken_ = false;                 // guarded by mutex_
  std::map<std::string, Entry> entries_;  // guarded by mutex_; by uid
  metrics::SinkHealth health_;            // guarded by mutex_
  std::minstd_rand random_;               // guarded by mutex_
  std::jthread thread_;                   // the last: it uses everything above
};

bool IsNamed(const std::vector<std::string>& patterns, const SinkTable& table) {
  return IsChosen(patterns, {table.table_id, table.uid, table.base_path});
}

SinkLanes::SinkLanes(const SinksConfig& config, SinkSource& source, const Clock& clock,
                     MakeSink make) {
  for (const auto& each : config.sinks) {
    auto made = make ? make(each) : sink::MakeSink(each.target);
    lanes_.push_back(std::make_unique<Lane>(each, config.hidden, source, clock, std::move(made)));
  }
}

SinkLanes::~SinkLanes() = default;

void SinkLanes::Note(const SinkTable& table) {
  for (const auto& lane : lanes_) lane->Note(table);
}

Status SinkLanes::Resume(const std::string& sink, const std::string& uid) {
  for (const auto& lane : lanes_)
    if (lane->name() == sink) return lane->Resume(uid);
  return Fail(ErrorKind::kNotFound, fmt::format("no such sink: sink={}", sink));
}

std::vector<metrics::SinkHealth> SinkLanes::Health() const {
  std::vector<metrics::SinkHealth> health;
  for (const auto& lane : lanes_) health.push_back(lane->Health());
  return health;
}

std::vector<SinkState> SinkLanes::States(bool with_running) const {
  std::vector<SinkState> states;
  for (const auto& lane : lanes_) lane->AddStates(with_running, states);
  return states;
}

}  // namespace tidemark::app
