#include "base/budget.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace tidemark {

namespace {
constexpr auto kForever = std::chrono::hours(24 * 365);
constexpr int kDoublingsMax = 5;

MonoTime After(std::chrono::nanoseconds duration) {
  const MonoTime now = std::chrono::steady_clock::now();
  if (duration >= kForever) return MonoTime::max();
  return now + std::max(duration, std::chrono::nanoseconds::zero());
}
}  // namespace

Budget Budget::For(std::chrono::nanoseconds duration, std::stop_token stop) {
  Budget budget;
  budget.deadline_ = After(duration);
  budget.stop_ = std::move(stop);
  return budget;
}

Budget Budget::Within(std::chrono::nanoseconds duration) const {
  Budget budget = *this;
  budget.deadline_ = std::min(deadline_, After(duration));
  return budget;
}

std::chrono::milliseconds Budget::Remaining() const {
  if (deadline_ == MonoTime::max())
    return std::chrono::duration_cast<std::chrono::milliseconds>(kForever);
  const auto left = deadline_ - std::chrono::steady_clock::now();
  if (left <= left.zero()) return std::chrono::milliseconds::zero();
  // Rounded up: a budget that is not over never reports zero.
  return std::chrono::ceil<std::chrono::milliseconds>(left);
}

Status Budget::Check() const {
  if (is_stopped()) return Fail(ErrorKind::kCancelled, "stopped");
  if (is_over()) return Fail(ErrorKind::kUnavailable, "the time budget is used up");
  return {};
}

bool Budget::WaitForTry(int next_try, std::chrono::milliseconds at_least) const {
  if (next_try > tries_max || is_stopped()) return false;
  const int doublings = std::clamp(next_try - 2, 0, kDoublingsMax);
  const auto delay = std::max(retry_delay * (1 << doublings), at_least);
  if (delay >= Remaining()) return false;
  return WaitUnlessStopped(delay, stop_);
}

bool WaitUnlessStopped(std::chrono::milliseconds duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any woken;
  woken.wait_for(lock, stop, duration, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace tidemark
