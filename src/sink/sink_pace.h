/// When a sink is tried again with a table, and when not before somebody acts. Pure: one value for
/// each pair of table and sink, so that none holds up another.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "sink/sink.h"

namespace tidemark::sink {

enum class SinkMode {
  kRunning,      ///< every update is applied as it comes
  kPaused,       ///< it failed, and is tried again at `next_try`
  kQuarantined,  ///< it was refused for good: nothing is tried before Resume
};
/// "running", "paused", "quarantined".
std::string_view SinkModeName(SinkMode mode);

struct BackOff {
  Milliseconds first = std::chrono::seconds(1);
  Milliseconds most = std::chrono::minutes(1);

  friend bool operator==(const BackOff&, const BackOff&) = default;
};

struct SinkPace {
  SinkMode mode = SinkMode::kRunning;
  int failures = 0;                    ///< in a row
  std::optional<MonoTime> next_try{};  ///< of kPaused
  std::optional<MonoTime> since{};     ///< when the first of `failures` came, or the refusal
  std::string reason{};
  std::string cure{};
  /// How far the target is by our own doing; nullopt: not known, so the next update compares
  /// everything.
  std::optional<SinkStamp> applied{};

  friend bool operator==(const SinkPace&, const SinkPace&) = default;
};

/// Whether an update may be tried now.
bool IsDue(const SinkPace& pace, MonoTime now);

/// The pace after a try with `stamp` that ended in `outcome`. A pause doubles from `first` to
/// `most` and lies between half of that and all of it, by `luck` in [0, 1): sinks that failed
/// together must not come back together. What the target asked for is a least time. Retries never
/// end by themselves.
SinkPace After(SinkPace pace, const SinkStamp& stamp, const SinkOutcome& outcome, MonoTime now,
               const BackOff& back_off, double luck);

/// Somebody says that it will work now: everything is compared, at once.
SinkPace Resume(SinkPace pace);

}  // namespace tidemark::sink
