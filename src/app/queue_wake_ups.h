/// Buckets that say through a queue when something has come about in them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/wake_up_config.h"
#include "base/clock.h"
#include "metrics/exporter_points.h"

namespace tidemark::app {

/// What only tests have otherwise.
struct QueueTimes {
  /// A queue that failed is left alone so long at first, then twice as long up to the second.
  Milliseconds pause_first = std::chrono::seconds(1);
  Milliseconds pause_max = std::chrono::seconds(60);
  /// For what a request takes beside waiting for a message.
  Milliseconds request = std::chrono::seconds(10);
  /// A server that answers sooner, and with nothing, does not wait: it is asked once in this time.
  Milliseconds empty_answer_min = std::chrono::seconds(1);
};

/// How long a queue is left alone that was left alone for `last` before it failed again; zero when
/// it had not failed.
Milliseconds NextQueuePause(Milliseconds last, const QueueTimes& times);

/// A thread for each queue: one that does not answer, or lacks a right, delays no other. Each
/// message is only a hint to look; it is deleted once it was handed on, and also when it cannot be
/// understood, or it would come for ever. What is lost or late is found when its table is due.
///
/// Logs once when a queue fails and once when it is back, and each kind of message that is not
/// understood once a queue; nothing of what a message holds.
class QueueWakeUps {
 public:
  /// `uri` is a table, or an instant in its timeline.
  using Wake = std::function<void(const std::string& uri)>;

  explicit QueueWakeUps(const WakeUpsConfig& config, const QueueTimes& times = {});
  /// Stops.
  ~QueueWakeUps();
  QueueWakeUps(const QueueWakeUps&) = delete;
  QueueWakeUps& operator=(const QueueWakeUps&) = delete;

  /// From now on; once. `wake` is called from any thread and must not wait.
  void Start(Wake wake);
  /// Nobody is woken after it. Takes no longer than `wake` does.
  void Stop();

  /// Whether a queue that is known to tell of this table answered the last time it was asked: then
  /// the table is looked at in any case, but seldom. Any thread.
  bool IsTold(std::string_view table) const;
  /// In the order of the configuration. Any thread.
  std::vector<metrics::QueueHealth> Health() const;

 private:
  class Queue;
  std::vector<std::unique_ptr<Queue>> queues_;
};

}  // namespace tidemark::app
