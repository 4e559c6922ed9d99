#include "app/work_lane.h"

#include <algorithm>
#include <iterator>
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
    StartThread();
  }
  has_work_.notify_one();
}

void WorkLane::RunBesides(MonoTime begun, size_t more_max) {
  const std::lock_guard lock(mutex_);
  const auto held = std::distance(running_.begin(), running_.upper_bound(begun));
  more_ = std::min(more_max, static_cast<size_t>(held));
  for (size_t i = 0; i < more_ && i < waiting_.size(); ++i) StartThread();
  if (more_ > 0) has_work_.notify_all();
}

void WorkLane::StartThread() {
  const size_t wanted = running_.size() + waiting_.size();
  if (threads_.size() < wanted && threads_.size() < threads_max_ + more_)
    threads_.emplace_back([this] { Run(); });
}

bool WorkLane::is_idle() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() && running_.empty();
}

void WorkLane::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    has_work_.wait(lock, [this] {
      return is_over_ || (!waiting_.empty() && running_.size() < threads_max_ + more_);
    });
    if (is_over_) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    const auto mine = running_.insert(std::chrono::steady_clock::now());
    lock.unlock();
    work();
    lock.lock();
    running_.erase(mine);
    // Whoever was woken while too many ran.
    if (!waiting_.empty()) has_work_.notify_one();
  }
}

}  // namespace tidemark::app
