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

/// Time since the log was last seen to end at or before `offset`. Sightings "after now", or from
/// before there was Kafka, were made with another clock and say nothing.
std::optional<Milliseconds> ArrivalBound(kafka::Offset offset,
                                         const std::vector<PipelineMemory::Arrival>& arrivals,
                                         WallTime now) {
  std::optional<Milliseconds> bound;
  for (const PipelineMemory::Arrival& arrival : arrivals) {
    if (arrival.end > offset || arrival.seen_at > now || arrival.seen_at < kOldestPlausibleStamp)
      continue;
    const Milliseconds since = TimeBetween(arrival.seen_at, now);
    if (!bound || since < *bound) bound = since;
  }
  return bound;
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

  const auto bound = ArrivalBound(record.offset, arrivals, now);
  if (bound && (!result.age || *bound < *result.age)) {
    result.age = bound;
    result.is_arrival_bound = true;
  }
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
