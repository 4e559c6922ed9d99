/// Threads of their own for handlers that may wait.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace tidemark::http {

/// Does work in the order in which it is given. One mutex; any thread, but Start and Stop are for
/// one.
class AnswerPool {
 public:
  using Work = std::function<void()>;

  /// At most `queue_max` pieces of work wait for one of the threads. No thread until Start.
  AnswerPool(unsigned threads, size_t queue_max) : threads_max_(threads), queue_max_(queue_max) {}
  ~AnswerPool() { Stop(); }
  AnswerPool(const AnswerPool&) = delete;
  AnswerPool& operator=(const AnswerPool&) = delete;

  void Start();

  /// False when all threads are busy and the queue is full, or it was stopped: the work is not
  /// done. Never waits.
  bool Take(Work work);

  /// Asked to stop by Stop().
  std::stop_token stop() const { return stop_.get_token(); }

  /// Drops what waits for a thread, asks what is being done to stop, and returns when it has ended.
  void Stop();

 private:
  void Run();

  const unsigned threads_max_;
  const size_t queue_max_;
  std::mutex mutex_;
  std::condition_variable has_changed_;
  // Guarded by mutex_.
  std::deque<Work> queue_;
  size_t busy_ = 0;  // threads at work
  bool is_over_ = false;
  // Of its own mutex.
  std::stop_source stop_;
  std::vector<std::jthread> threads_;
};

}  // namespace tidemark::http
