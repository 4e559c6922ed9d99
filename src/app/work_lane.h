/// Work for one place, done by few threads, so that a place that does not answer holds up nothing
/// but what waits for it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace tidemark::app {

/// Threads start when there is work for them. Any thread may add.
class WorkLane {
 public:
  explicit WorkLane(unsigned threads_max) : threads_max_(threads_max) {}

  /// What still waits is dropped; what runs is waited for.
  ~WorkLane();

  WorkLane(const WorkLane&) = delete;
  WorkLane& operator=(const WorkLane&) = delete;

  /// First come, first done. Whoever adds bounds how much waits.
  void Add(std::function<void()> work);

  /// Lets a waiting work run beside each one that has run since before `begun`, but no more than
  /// `more_max` at a time.
  void RunBesides(MonoTime begun, size_t more_max);

  /// Neither waiting nor running work.
  bool is_idle() const;

 private:
  void Run();
  void StartThread();  // with the lock

  const unsigned threads_max_;
  mutable std::mutex mutex_;
  std::condition_variable has_work_;
  std::deque<std::function<void()>> waiting_;
  std::multiset<MonoTime> running_;  // since when
  size_t more_ = 0;                  // of `threads_max_`
  bool is_over_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace tidemark::app
