#include <algorithm>
#include <limits>
#include <utility>

#include "freshness/age_internal.h"

namespace tidemark::freshness {

int64_t SaturatingSubtract(int64_t a, int64_t b) {
  int64_t result = 0;
  if (!__builtin_sub_overflow(a, b, &result)) return result;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t result = 0;
  if (!__builtin_add_overflow(a, b, &result)) return result;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

Milliseconds TimeBetween(WallTime earlier, WallTime later) {
  return Milliseconds(std::max<int64_t>(0, SaturatingSubtract(MillisOf(later), MillisOf(earlier))));
}

namespace {

StampWorth WorthOf(const kafka::FirstRecord& record, WallTime now) {
  if (record.timestamp_type == kafka::TimestampType::kNone || record.timestamp_ms < 0)
    return StampWorth::kNone;
  const WallTime stamp = WallTimeFromMillis(record.timestamp_ms);
  if (stamp < kOldestPlausibleStamp) return StampWorth::kImplausible;
  if (stamp <= now) return StampWorth::kUsable;
  return TimeBetween(now, stamp) <= kFutureStampTolerance ? StampWorth::kSlightly
                                                          : StampWorth::kFuture;
}

Milliseconds Less(Milliseconds age, Milliseconds by) {
  return Milliseconds(std::max<int64_t>(0, SaturatingSubtract(age.count(), by.count())));
}

/// Stamps that contradict what was seen by no more than this are believed: clocks of different
/// machines differ.
constexpr Milliseconds kClocksApart{1000};

/// What earlier runs say of a record's wait.
struct ArrivalBounds {
  std::optional<Milliseconds> at_most;  ///< since the log was last seen to end at or before it
  Milliseconds at_least{0};             ///< since the log was first seen to go on
  Milliseconds clock_advance{0};        ///< by so much our clock was set forward meanwhile
};

/// Sightings "after now", or from before there was Kafka, were made with another clock and say
/// nothing.
ArrivalBounds BoundsOf(kafka::Offset offset, const std::vector<PipelineMemory::Arrival>& arrivals,
                       WallTime now) {
  ArrivalBounds bounds;
  for (const PipelineMemory::Arrival& arrival : arrivals) {
    if (arrival.seen_at > now || arrival.seen_at < kOldestPlausibleStamp) continue;
    const Milliseconds since = TimeBetween(arrival.seen_at, now);
    if (arrival.end <= offset) {
      if (bounds.at_most && *bounds.at_most <= since) continue;
      bounds.at_most = since;
      bounds.clock_advance = arrival.clock_advance;
    } else {
      const Milliseconds sure(
          SaturatingAdd(Less(since, arrival.clock_advance).count(), arrival.seen_for.count()));
      bounds.at_least = std::max(bounds.at_least, sure);
      if (!bounds.at_most)
        bounds.clock_advance = std::max(bounds.clock_advance, arrival.clock_advance);
    }
  }
  return bounds;
}

}  // namespace

RecordAge AgeOf(const kafka::FirstRecord& record,
                const std::vector<PipelineMemory::Arrival>& arrivals, WallTime now) {
  RecordAge result;
  result.worth = WorthOf(record, now);
  const WallTime stamp = WallTimeFromMillis(record.timestamp_ms);
  if (result.worth == StampWorth::kSlightly || result.worth == StampWorth::kFuture)
    result.skew = TimeBetween(now, stamp);
  if (result.worth == StampWorth::kUsable) result.age = TimeBetween(stamp, now);
  if (result.worth == StampWorth::kSlightly) result.age = Milliseconds(0);

  const ArrivalBounds bounds = BoundsOf(record.offset, arrivals, now);
  if (bounds.at_most && (!result.age || *bounds.at_most < *result.age)) {
    result.age = bounds.at_most;
    result.is_arrival_bound = true;
  }
  if (!result.age) {
    // Nothing says since when at the latest; only that it was there.
    if (bounds.at_least > Milliseconds(0)) {
      result.age = bounds.at_least;
      result.at_most = Milliseconds::max();
      result.is_arrival_bound = true;
    }
    return result;
  }
  const Milliseconds most = *result.age;
  // The stamp may be of the clock that was right, or that is right now.
  result.age = Less(most, bounds.clock_advance);
  // A stamp of the future gives no time that could be believed.
  const Milliseconds apart = result.worth == StampWorth::kSlightly ? Milliseconds(0) : kClocksApart;
  if (bounds.at_least > *result.age + apart) {
    result.age = bounds.at_least;
    result.is_arrival_bound = true;
  }
  if (bounds.clock_advance > Milliseconds(0) && *result.age < most) result.at_most = most;
  return result;
}

std::string_view StampReason(StampWorth worth, kafka::TimestampType type) {
  switch (worth) {
    case StampWorth::kUsable:
    case StampWorth::kSlightly: return "";
    case StampWorth::kFuture:
      return type == kafka::TimestampType::kAppend ? "clock_skew" : "future_timestamp";
    case StampWorth::kImplausible: return "implausible_timestamp";
    case StampWorth::kNone: return "no_timestamp";
  }
  std::unreachable();
}

}  // namespace tidemark::freshness
