#include "sink/sink_pace.h"

#include <algorithm>

namespace tidemark::sink {

namespace {

/// Doublings after which every pause is the longest one.
constexpr int kDoublingsMax = 20;

Milliseconds PauseAfter(int failures, const BackOff& back_off, double luck) {
  const int doublings = std::clamp(failures - 1, 0, kDoublingsMax);
  const int64_t whole = std::min(back_off.most.count(), back_off.first.count() << doublings);
  const auto half = static_cast<double>(whole) / 2;
  return Milliseconds(static_cast<int64_t>(half + half * std::clamp(luck, 0.0, 1.0)));
}

}  // namespace

std::string_view SinkModeName(SinkMode mode) {
  switch (mode) {
    case SinkMode::kRunning: return "running";
    case SinkMode::kPaused: return "paused";
    case SinkMode::kQuarantined: return "quarantined";
  }
  return "";
}

bool IsDue(const SinkPace& pace, MonoTime now) {
  switch (pace.mode) {
    case SinkMode::kRunning: return true;
    case SinkMode::kPaused: return !pace.next_try || now >= *pace.next_try;
    case SinkMode::kQuarantined: return false;
  }
  return false;
}

SinkPace After(SinkPace pace, const SinkStamp& stamp, const SinkOutcome& outcome, MonoTime now,
               const BackOff& back_off, double luck) {
  switch (outcome.kind) {
    case OutcomeKind::kApplied: return {.applied = stamp};
    case OutcomeKind::kStale:
      // Nothing is wrong: whoever is newer does the work. When we overtake it, what we know of the
      // target is not what we wrote.
      return {.reason = outcome.reason};
    case OutcomeKind::kTemporary:
      ++pace.failures;
      pace.mode = SinkMode::kPaused;
      pace.next_try =
          now + std::max(outcome.retry_after, PauseAfter(pace.failures, back_off, luck));
      if (!pace.since) pace.since = now;
      pace.reason = outcome.reason;
      pace.cure.clear();
      return pace;
    case OutcomeKind::kPermanent:
      return {.mode = SinkMode::kQuarantined,
              .failures = pace.failures + 1,
              .since = pace.since.value_or(now),
              .reason = outcome.reason,
              .cure = outcome.cure};
  }
  return pace;
}

SinkPace Resume(SinkPace) {
  return {};
}

}  // namespace tidemark::sink
