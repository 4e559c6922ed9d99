#include "app/export_lanes.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <stop_token>
#include <thread>
#include <utility>

#include "app/lane_record.h"
#include "base/budget.h"
#include "base/check.h"
#include "push/file_exporters.h"

namespace tidemark::app {

namespace {

using std::chrono::steady_clock;

/// The first delivery after the beginning: a scrape's worth of looks may be there.
constexpr Milliseconds kFirstDelivery{2000};
/// For the last words of an exporter that ends.
constexpr Milliseconds kRetireMax{2000};
/// Between tries of one message, doubling.
constexpr Milliseconds kRetryMin{1000};
constexpr Milliseconds kRetryMax{60'000};

std::unique_ptr<push::Exporter> MakeExporter(const ReceiverOptions& options) {
  if (const auto* text = std::get_if<TextfileOptions>(&options))
    return std::make_unique<push::TextfileExporter>(text->path);
  if (const auto* sources = std::get_if<SourcesOptions>(&options))
    return std::make_unique<push::SourcesExporter>(sources->path);
  if (const auto* gateway = std::get_if<push::PushgatewayOptions>(&options))
    return std::make_unique<push::PushgatewayExporter>(*gateway);
  if (const auto* otlp = std::get_if<push::OtlpOptions>(&options))
    return std::make_unique<push::OtlpExporter>(*otlp);
  if (const auto* statsd = std::get_if<push::StatsdOptions>(&options))
    return std::make_unique<push::StatsdExporter>(*statsd);
  const auto* emf = std::get_if<push::EmfOptions>(&options);
  CHECK(emf != nullptr, "a webhook takes messages, not values");
  return std::make_unique<push::EmfExporter>(*emf);
}

}  // namespace

/// One exporter with its thread, which begins with Begin and ends with Stop.
class ExportLanes::Lane {
 public:
  Lane(ExporterConfig config, const Clock& clock)
      : record_(config.name, clock), config_(std::move(config)) {}
  virtual ~Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  const ExporterConfig& config() const { return config_; }
  metrics::ExporterHealth health() const { return record_.Get(); }

  void Begin() {
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }
  void RequestStop() { thread_.request_stop(); }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }

  virtual void Tell(const push::IncidentNotice& notice) { (void)notice; }
  virtual void Hurry() {}

 protected:
  virtual void Run(const std::stop_token& stop) = 0;

  LaneRecord record_;

 private:
  const ExporterConfig config_;
  std::jthread thread_;
};

/// Sends what is true, once an interval. A moment that passed while it was sending is left out.
class ExportLanes::ValueLane final : public Lane {
 public:
  ValueLane(const ExporterConfig& config, ExportLanes& lanes)
      : Lane(config, lanes.clock_), lanes_(lanes), exporter_(MakeExporter(config.receiver)) {}

  void Hurry() override {
    {
      const std::lock_guard lock(mutex_);
      is_hurried_ = true;
    }
    is_due_.notify_all();
  }

 private:
  void Run(const std::stop_token& stop) override {
    auto due = steady_clock::now() + std::min(config().interval, kFirstDelivery);
    std::unique_lock lock(mutex_);
    for (;;) {
      is_due_.wait_until(lock, stop, due, [this] { return is_hurried_; });
      if (stop.stop_requested()) break;
      is_hurried_ = false;
      lock.unlock();
      Deliver(stop);
      lock.lock();
      const auto now = steady_clock::now();
      if (now < due) continue;
      const auto passed = (now - due) / config().interval;
      due += (passed + 1) * config().interval;
    }
    lock.unlock();
    // Nobody has to hear of it when that fails: the daemon ends, or its configuration changed.
    if (const auto retired = exporter_->Retire(Budget::For(kRetireMax)); !retired)
      record_.Failed(retired.error());
  }

  void Deliver(const std::stop_token& stop) {
    const auto values = lanes_.take_(config().series, lanes_.Health());
    if (!values) return;
    const auto sent = exporter_->Send(*values, Budget::For(config().timeout, stop));
    if (sent)
      record_.Arrived(sent->dropped);
    else if (!stop.stop_requested())
      record_.Failed(sent.error());
  }

  ExportLanes& lanes_;
  std::unique_ptr<push::Exporter> exporter_;
  std::mutex mutex_;
  std::condition_variable_any is_due_;
  bool is_hurried_ = false;  // guarded by mutex_
};

/// Sends messages in their order, each until it arrives, is refused for good or is too old.
class ExportLanes::EventLane final : public Lane {
 public:
  EventLane(const ExporterConfig& config, const Clock& clock)
      : Lane(config, clock),
        options_(std::get<push::WebhookOptions>(config.receiver)),
        webhook_(options_) {}

  void Tell(const push::IncidentNotice& notice) override {
    if (std::ranges::find(options_.statuses, notice.status) == options_.statuses.end()) return;
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({notice, steady_clock::now()});
      Trim();
    }
    has_waiting_.notify_all();
  }

  /// What was not delivered yet, of a lane that has ended, before what came since.
  void TakeOver(EventLane& before) {
    const std::scoped_lock lock(mutex_, before.mutex_);
    waiting_.insert(waiting_.begin(), std::move_iterator(before.waiting_.begin()),
                    std::move_iterator(before.waiting_.end()));
    before.waiting_.clear();
    Trim();
  }

 private:
  struct Event {
    push::IncidentNotice notice;
    steady_clock::time_point since;
  };

  /// With the mutex held.
  void Trim() {
    if (waiting_.size() > kEventsWaitingMax) {
      const size_t count = waiting_.size() - kEventsWaitingMax;
      waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
      record_.GaveUp(count, "too many wait");
    }
    record_.SetWaiting(waiting_.size());
  }

  void Run(const std::stop_token& stop) override {
    Milliseconds pause{0};
    std::unique_lock lock(mutex_);
    for (;;) {
      has_waiting_.wait(lock, stop, [this] { return !waiting_.empty(); });
      if (stop.stop_requested()) break;
      const bool is_done = TryFirst(lock, Budget::For(config().timeout, stop));
      pause = is_done ? Milliseconds(0) : std::clamp(2 * pause, kRetryMin, kRetryMax);
      if (!is_done) has_waiting_.wait_for(lock, stop, pause, [] { return false; });
    }
    const Budget last = Budget::For(kRetireMax);
    while (!waiting_.empty() && TryFirst(lock, last)) continue;
  }

  /// True when the first message is off the queue: there, or given up. The lock is not held while
  /// it is being sent.
  bool TryFirst(std::unique_lock<std::mutex>& lock, const Budget& budget) {
    const Event event = waiting_.front();
    lock.unlock();
    const auto told = webhook_.Tell(event.notice, budget);
    lock.lock();
    if (told) {
      record_.Arrived(0);
      return Remove(event);
    }
    if (budget.is_stopped()) return false;
    record_.Failed(told.error());
    const bool is_refused = told.error().kind == ErrorKind::kInvalidArgument;
    const bool is_old = steady_clock::now() - event.since >= options_.give_up_after;
    if (!is_refused && !is_old) return false;
    record_.GaveUp(1, is_refused ? "it was refused" : "it is too old");
    return Remove(event);
  }

  /// The queue may have lost its head to its bound meanwhile.
  bool Remove(const Event& event) {
    if (!waiting_.empty() && waiting_.front().since == event.since &&
        push::IncidentId(waiting_.front().notice) == push::IncidentId(event.notice))
      waiting_.pop_front();
    record_.SetWaiting(waiting_.size());
    return true;
  }

  const push::WebhookOptions options_;
  push::Webhook webhook_;  // of the lane's thread
  std::mutex mutex_;
  std::condition_variable_any has_waiting_;
  std::deque<Event> waiting_;  // guarded by mutex_
};

ExportLanes::ExportLanes(TakeValues take, const Clock& clock)
    : take_(std::move(take)), clock_(clock) {}

ExportLanes::~ExportLanes() {
  Set({});
}

std::shared_ptr<ExportLanes::Lane> ExportLanes::MakeLane(const ExporterConfig& config,
                                                         const std::shared_ptr<Lane>& before) {
  if (!std::holds_alternative<push::WebhookOptions>(config.receiver))
    return std::make_shared<ValueLane>(config, *this);
  auto lane = std::make_shared<EventLane>(config, clock_);
  if (auto* old = dynamic_cast<EventLane*>(before.get())) lane->TakeOver(*old);
  return lane;
}

std::vector<std::shared_ptr<ExportLanes::Lane>> ExportLanes::Lanes() const {
  const std::lock_guard lock(mutex_);
  return lanes_;
}

void ExportLanes::Set(const std::vector<ExporterConfig>& configs) {
  const std::vector<std::shared_ptr<Lane>> before = Lanes();
  const auto stays = [&](const std::shared_ptr<Lane>& lane) {
    return std::ranges::find(configs, lane->config()) != configs.end();
  };
  for (const auto& lane : before)
    if (!stays(lane)) lane->RequestStop();
  // They stay in the list until then: what they are told meanwhile is not lost.
  for (const auto& lane : before)
    if (!stays(lane)) lane->Join();

  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Lane>> after;
  for (const ExporterConfig& config : configs) {
    const auto old = std::ranges::find(lanes_, config.name,
                                       [](const auto& lane) { return lane->config().name; });
    if (old != lanes_.end() && (*old)->config() == config) {
      after.push_back(*old);
      continue;
    }
    after.push_back(MakeLane(config, old == lanes_.end() ? nullptr : *old));
    after.back()->Begin();
  }
  lanes_ = std::move(after);
}

void ExportLanes::Tell(const push::IncidentNotice& notice) {
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_) lane->Tell(notice);
}

void ExportLanes::Hurry() {
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_) lane->Hurry();
}

std::vector<metrics::ExporterHealth> ExportLanes::Health() const {
  std::vector<metrics::ExporterHealth> all;
  for (const auto& lane : Lanes()) all.push_back(lane->health());
  return all;
}

}  // namespace tidemark::app
