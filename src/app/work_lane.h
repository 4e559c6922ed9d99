/// Work for one place, done by few threads, so that a place that does not answer holds up nothing
/// but what waits for it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

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

  /// Neither waiting nor running work.
  bool is_idle() const;

 private:
  void Run();

  const unsigned threads_max_;
  mutable std::mutex mutex_;
  std::condition_variable has_work_;
  std::deque<std::function<void()>> waiting_;
  size_t running_ = 0;
  bool is_over_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace tidemark::app
