/// When each pipeline is to be looked at. Values only: the time is a parameter.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace tidemark::app {

/// How many moments an interval has at which pipelines begin: those of one moment are asked of
/// their cluster together.
inline constexpr int kMomentsPerInterval = 10;

/// Pipelines by name, each due once an interval at a moment of its own, so that thousands do not
/// begin together; the moment depends on the name only. Single-threaded.
class Schedule {
 public:
  struct Entry {
    std::string name;
    Milliseconds interval{0};  ///< > 0
  };

  /// Replaces the pipelines. New ones are due at once; those that were there keep their moment and
  /// whether they run.
  void Set(const std::vector<Entry>& entries, MonoTime now);

  /// Due now; when it runs, as soon as that is over. False for a name that is not there.
  bool WakeUp(std::string_view name, MonoTime now);

  /// Those that are due at `now` and do not run yet, longest overdue first. They run until Done().
  std::vector<std::string> TakeDue(MonoTime now);

  /// Over; due again at its next moment after `now`. Moments that passed meanwhile are left out:
  /// how many. Nothing for a name that is not there.
  size_t Done(std::string_view name, MonoTime now);

  /// When TakeDue has something next; nullopt when nothing waits.
  std::optional<MonoTime> NextDue() const;

 private:
  struct Plan {
    Milliseconds interval{0};
    MonoTime due{};
    bool is_running = false;
    bool is_woken = false;
  };
  MonoTime NextMoment(std::string_view name, Milliseconds interval, MonoTime now) const;

  std::map<std::string, Plan, std::less<>> plans_;
};

}  // namespace tidemark::app
