#include "lake/hudi/commit_time.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ratio>

namespace tidemark::lake::hudi {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

/// The offsets of the world's zones are whole quarters of an hour (Nepal: +05:45).
using ZoneSteps = std::chrono::duration<int64_t, std::ratio<900>>;
/// How long after taking an instant its file may appear, and how far the clocks of writer and store
/// may be apart.
constexpr minutes kTolerance{2};
// File time minus instant read as UTC: the offset of the writer's zone, negated.
constexpr hours kShiftMin{-14};
constexpr hours kShiftMax{12};
/// A commit that ran longer is not believed.
constexpr hours kCommitDurationMax{24};
/// In a copy all file times are nearly one, so two instants further apart than this cannot show the
/// same shift there.
constexpr minutes kApartMin = 2 * kTolerance;

/// The moment that a file of the instant was written at, as the instant says it (read as UTC) and
/// as the store does. Layout 2: the completed file; layout 1: the requested file.
struct Stamps {
  WallTime named;
  WallTime stored;
};

std::optional<Stamps> StampsOf(const Instant& instant) {
  const auto named = InstantToWallTime(instant.completed ? *instant.completed : instant.requested);
  const auto stored = instant.completed ? instant.file_time : instant.requested_file_time;
  if (!named || !stored) return std::nullopt;
  return Stamps{*named, *stored};
}

/// nullopt when no zone explains the difference.
std::optional<ZoneSteps> ShiftOf(const Stamps& stamps) {
  const Milliseconds difference = stamps.stored - stamps.named;
  if (difference < kShiftMin - kTolerance || difference > kShiftMax + kTolerance)
    return std::nullopt;
  const auto shift = std::chrono::round<ZoneSteps>(difference);
  if (std::chrono::abs(difference - shift) > kTolerance) return std::nullopt;
  return shift;
}

/// Whether the completed file is no older than the requested one and not much younger.
bool IsPlausibleEnd(WallTime end, WallTime start) {
  return end >= start - kTolerance && end <= start + kCommitDurationMax;
}

CommitTime InUtc(const Instant& instant) {
  if (instant.completed) {
    if (const auto end = InstantToWallTime(*instant.completed))
      return {end, CommitTimeSource::kInstant};
  }
  const auto start = InstantToWallTime(instant.requested);
  if (!start) return {};
  const auto requested = instant.requested_file_time;
  const bool is_original = requested && std::chrono::abs(*requested - *start) <= kTolerance;
  if (is_original && instant.file_time && IsPlausibleEnd(*instant.file_time, *start))
    return {instant.file_time, CommitTimeSource::kFileTime};
  return {start, CommitTimeSource::kInstant};
}

CommitTime InLocalZone(const Instant& instant, std::span<const Instant> timeline) {
  const auto stamps = StampsOf(instant);
  if (!stamps || !instant.file_time) return {};
  const auto shift = ShiftOf(*stamps);
  if (!shift) return {};
  if (!instant.completed && !IsPlausibleEnd(*instant.file_time, stamps->stored)) return {};
  const bool is_confirmed = std::ranges::any_of(timeline, [&](const Instant& other) {
    if (other.state != State::kCompleted) return false;
    const auto its = StampsOf(other);
    return its && std::chrono::abs(its->named - stamps->named) > kApartMin &&
           ShiftOf(*its) == shift;
  });
  if (!is_confirmed) return {};
  return {instant.file_time, CommitTimeSource::kFileTime};
}

}  // namespace

CommitTime CommitTimeOf(const Instant& instant, std::span<const Instant> timeline,
                        TimelineZone zone) {
  return zone == TimelineZone::kUtc ? InUtc(instant) : InLocalZone(instant, timeline);
}

}  // namespace tidemark::lake::hudi
