#include "app/queue_wake_ups.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "api/notice.h"
#include "app/subscription_notes.h"
#include "base/budget.h"
#include "base/glob.h"
#include "base/log.h"

namespace tidemark::app {

Milliseconds NextQueuePause(Milliseconds last, const QueueTimes& times) {
  if (last.count() == 0) return times.pause_first;
  return std::min(last * 2, times.pause_max);
}

class QueueWakeUps::Queue {
 public:
  Queue(QueueConfig config, HiddenValues hidden, const QueueTimes& times)
      : config_(std::move(config)), hidden_(std::move(hidden)), times_(times) {
    health_.name = config_.name;
  }

  void Start(const Wake& wake) {
    thread_ = std::jthread([this, wake](const std::stop_token& stop) { Run(wake, stop); });
  }
  void AskToStop() { thread_.request_stop(); }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }

  bool IsTold(std::string_view table) const {
    if (config_.match.empty() || !MatchesGlob(config_.match, table)) return false;
    const std::lock_guard lock(mutex_);
    return health_.is_up.value_or(false);
  }
  metrics::QueueHealth Health() const {
    const std::lock_guard lock(mutex_);
    return health_;
  }

 private:
  void Run(const Wake& wake, const std::stop_token& stop) {
    Milliseconds pause{0};
    while (!stop.stop_requested()) {
      const auto status = Round(wake, stop);
      if (stop.stop_requested()) return;
      if (status) {
        pause = Milliseconds(0);
        // Not being able to delete shows only where there is something to delete.
        if (!is_deletion_refused_) NoteSuccess();
        continue;
      }
      pause = NextQueuePause(pause, times_);
      NoteFailure(hidden_.Hide(Error(status.error())));
      WaitUnlessStopped(pause, stop);
    }
  }

  /// Waits for messages, hands them on and deletes them.
  Status Round(const Wake& wake, const std::stop_token& stop) {
    if (!queue_) {
      TRY_ASSIGN(queue_, storage::SqsQueue::Make(config_.sqs));
    }
    const MonoTime asked = SystemClock().Mono();
    TRY_ASSIGN(const auto messages,
               queue_->Receive(Budget::For(config_.sqs.wait + times_.request, stop)));
    if (messages.empty()) {
      const MonoTime next = asked + times_.empty_answer_min;
      const MonoTime now = SystemClock().Mono();
      if (now < next) WaitUnlessStopped(std::chrono::ceil<Milliseconds>(next - now), stop);
      return {};
    }
    for (const auto& message : messages) HandOn(message.body, wake);
    auto deleted = queue_->Delete(messages, Budget::For(times_.request, stop));
    is_deletion_refused_ = !deleted;
    return deleted;
  }

  void HandOn(const std::string& body, const Wake& wake) {
    const auto notice = api::ParseNotice(body);
    {
      const std::lock_guard lock(mutex_);
      ++health_.messages;
      if (!notice) ++health_.misunderstood;
    }
    if (!notice) {
      if (kinds_warned_of_.insert(notice.error().message).second)
        Log(LogLevel::kWarning,
            fmt::format("queue={}: a message is not understood and is deleted, as all like it "
                        "will be: {}",
                        config_.name, notice.error().message));
      return;
    }
    // A queue that somebody subscribed who is not its owner.
    if (notice->subscription) subscriptions_.Note("queue=" + config_.name, *notice->subscription);
    for (const auto& uri : notice->tables) wake(uri);
    for (const auto& uri : notice->objects)
      if (api::TellsOfCommit(uri)) wake(uri);
  }

  void NoteSuccess() {
    bool was_down = false;
    {
      const std::lock_guard lock(mutex_);
      was_down = !std::exchange(health_.is_up, true).value_or(true);
    }
    if (was_down) Log(LogLevel::kInfo, fmt::format("queue={}: answers again", config_.name));
  }

  void NoteFailure(const Error& error) {
    bool is_new = false;
    {
      const std::lock_guard lock(mutex_);
      ++health_.failures;
      is_new = std::exchange(health_.is_up, false).value_or(true);
    }
    if (is_new)
      Log(LogLevel::kWarning, fmt::format("queue={}: tables are looked at when they are due: {}",
                                          config_.name, error.message));
  }

  const QueueConfig config_;
  const HiddenValues hidden_;
  const QueueTimes times_;

  // Of the thread.
  std::unique_ptr<storage::SqsQueue> queue_;
  bool is_deletion_refused_ = false;
  std::set<std::string> kinds_warned_of_;
  SubscriptionNotes subscriptions_;

  mutable std::mutex mutex_;
  metrics::QueueHealth health_{};  // guarded by mutex_
  std::jthread thread_;            // last: it uses the rest
};

QueueWakeUps::QueueWakeUps(const WakeUpsConfig& config, const QueueTimes& times) {
  for (const auto& each : config.queues)
    queues_.push_back(std::make_unique<Queue>(each, config.hidden, times));
}

QueueWakeUps::~QueueWakeUps() {
  Stop();
}

void QueueWakeUps::Start(Wake wake) {
  for (const auto& queue : queues_) queue->Start(wake);
}

void QueueWakeUps::Stop() {
  for (const auto& queue : queues_) queue->AskToStop();
  for (const auto& queue : queues_) queue->Join();
}

bool QueueWakeUps::IsTold(std::string_view table) const {
  return std::ranges::any_of(queues_, [&](const auto& queue) { return queue->IsTold(table); });
}

std::vector<metrics::QueueHealth> QueueWakeUps::Health() const {
  std::vector<metrics::QueueHealth> health;
  health.reserve(queues_.size());
  for (const auto& queue : queues_) health.push_back(queue->Health());
  return health;
}

}  // namespace tidemark::app
