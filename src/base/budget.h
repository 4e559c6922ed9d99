/// How long, how often and until whose word a piece of work may go on. One object is passed down
/// the call chain, so that nested retries cannot multiply.
#pragma once

#include <chrono>
#include <stop_token>

#include "base/clock.h"
#include "base/error.h"

namespace tidemark {

/// A copyable value: deadline, stop signal and the retry policy. Any thread.
class Budget {
 public:
  /// No deadline, no stop.
  Budget() = default;

  /// Ends `duration` from now on the steady clock.
  static Budget For(std::chrono::nanoseconds duration, std::stop_token stop = {});

  /// The same stop signal, ending no later than `duration` from now and no later than this budget.
  Budget Within(std::chrono::nanoseconds duration) const;

  /// Zero or more; a very long time when there is no deadline.
  std::chrono::milliseconds Remaining() const;
  bool is_over() const { return Remaining().count() == 0; }
  bool is_stopped() const { return stop_.stop_requested(); }
  const std::stop_token& stop() const { return stop_; }

  /// kCancelled when stopped, kUnavailable when the deadline has passed, else ok.
  Status Check() const;

  /// How many tries a request gets that failed with kUnavailable. At least 1.
  int tries_max = 3;
  /// Wait before the second try; doubles per try, up to 32 times as long.
  std::chrono::milliseconds retry_delay{100};

  /// Sleeps before try number `next_try` (2, 3, …), at least as long as `at_least` (what a server
  /// asked for); false, and no sleep, when that leaves no time for another try or it is one too
  /// many; false when stopped.
  bool WaitForTry(int next_try, std::chrono::milliseconds at_least = {}) const;

 private:
  MonoTime deadline_ = MonoTime::max();
  std::stop_token stop_;
};

/// Waits `duration`, or until `stop` asks to stop; false when it does, or did already.
bool WaitUnlessStopped(std::chrono::milliseconds duration, const std::stop_token& stop);

}  // namespace tidemark
