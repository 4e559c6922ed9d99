#include "app/work_lane.h"

#include <utility>

namespace tidemark::app {

WorkLane::~WorkLane() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    waiting_.clear();
  }
  has_work_.notify_all();
}

void WorkLane::Add(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    const size_t wanted = running_ + waiting_.size();
    if (threads_.size() < wanted && threads_.size() < threads_max_)
      threads_.emplace_back([this] { Run(); });
  }
  has_work_.notify_one();
}

bool WorkLane::is_idle() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() && running_ == 0;
}

void WorkLane::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    has_work_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
    if (is_over_) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    ++running_;
    lock.unlock();
    work();
    lock.lock();
    --running_;
  }
}

}  // namespace tidemark::app
