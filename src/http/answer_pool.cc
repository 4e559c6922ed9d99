#include <utility>

#include "http/answer_pool_internal.h"

namespace tidemark::http {

void AnswerPool::Start() {
  for (unsigned i = 0; i < threads_max_; ++i) threads_.emplace_back([this] { Run(); });
}

bool AnswerPool::Take(Work work) {
  {
    const std::lock_guard lock(mutex_);
    // What waits for a thread that is free, but has not woken yet, takes no place.
    if (is_over_ || busy_ + queue_.size() >= threads_max_ + queue_max_) return false;
    queue_.push_back(std::move(work));
  }
  has_changed_.notify_one();
  return true;
}

void AnswerPool::Stop() {
  std::deque<Work> dropped;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    dropped.swap(queue_);
  }
  has_changed_.notify_all();
  // Only now, or a thread that gave up would begin with the next piece.
  stop_.request_stop();
  threads_.clear();
}

void AnswerPool::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    has_changed_.wait(lock, [this] { return is_over_ || !queue_.empty(); });
    if (is_over_) return;
    Work work = std::move(queue_.front());
    queue_.pop_front();
    ++busy_;
    lock.unlock();
    work();
    work = nullptr;  // what it holds ends without the lock
    lock.lock();
    --busy_;
  }
}

}  // namespace tidemark::http
