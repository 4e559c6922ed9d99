/// Two kinds of time that must not be mixed, and where they come from.
#pragma once

#include <chrono>
#include <string>

namespace tidemark {

/// A moment on the wall, milliseconds since 1970-01-01T00:00:00Z. Kafka timestamps, file times and
/// instants are of this kind; whose clock it was belongs into the name of the variable.
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// A moment of the machine's steady clock, which all its processes share. Only differences mean
/// anything. Not convertible to WallTime.
using MonoTime = std::chrono::steady_clock::time_point;

using Milliseconds = std::chrono::milliseconds;

/// Where time comes from. Functions that judge take the time as a value; only the edges hold a
/// Clock.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime Now() const = 0;
  virtual MonoTime Mono() const = 0;
  /// Which steady clock that is: another one when the machine was started anew. Empty: not known,
  /// and moments of two processes cannot be compared.
  virtual std::string SteadyName() const { return ""; }
};

/// The machine's clocks. Any thread.
class SystemClock final : public Clock {
 public:
  WallTime Now() const override;
  MonoTime Mono() const override;
  std::string SteadyName() const override;  ///< read once
};

/// How a wall clock stood: how far it was ahead of a steady one, which stays the same until
/// somebody sets it or the machine is suspended.
struct ClockReading {
  std::string steady;  ///< Clock::SteadyName()
  Milliseconds ahead{0};

  friend bool operator==(const ClockReading&, const ClockReading&) = default;
};
ClockReading ReadClock(const Clock& clock);  ///< to half the time that the best of a few took

/// `ms` may be any int64 that came from outside; WallTime holds every one of them.
constexpr WallTime WallTimeFromMillis(long long ms) {
  return WallTime(Milliseconds(ms));
}
constexpr long long MillisOf(WallTime time) {
  return time.time_since_epoch().count();
}
constexpr double SecondsOf(Milliseconds duration) {
  return static_cast<double>(duration.count()) / 1000.0;
}

}  // namespace tidemark
