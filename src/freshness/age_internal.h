/// How long a record has waited, from its stamp and from when it can have arrived at the earliest.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "freshness/judge.h"
#include "kafka/partition_probe.h"

namespace tidemark::freshness {

/// a - b and a + b without overflow: the nearest end of the range instead. Stamps and offsets come
/// from outside and may be any int64.
int64_t SaturatingSubtract(int64_t a, int64_t b);
int64_t SaturatingAdd(int64_t a, int64_t b);

/// later - earlier, 0 when it would be negative.
Milliseconds TimeBetween(WallTime earlier, WallTime later);

/// What a stamp says about the moment a record was made.
enum class StampWorth {
  kUsable,       ///< a moment of the past
  kSlightly,     ///< in the future within kFutureStampTolerance: taken as now
  kFuture,       ///< further in the future
  kImplausible,  ///< before kOldestPlausibleStamp
  kNone,         ///< no stamp
};

struct RecordAge {
  /// Time in queue, >= 0; nullopt when neither the stamp nor an earlier run says anything.
  std::optional<Milliseconds> age;
  StampWorth worth = StampWorth::kNone;
  /// Only when `age` is the least: our clock was set forward while it can have waited, or nothing
  /// says when it came (Milliseconds::max()).
  std::optional<Milliseconds> at_most;
  bool is_arrival_bound = false;  ///< `age` comes from what was seen: see PartitionVerdict
  Milliseconds skew{0};           ///< how far the stamp lies in the future, >= 0
};

/// max(min(now - stamp, now - t1), now - t2): t1 is the latest moment at which the log was seen to
/// end at or before the record, so that it has arrived since; t2 the first at which it was seen to
/// go on. A stamp that says nothing leaves the sightings; without any there is no age.
RecordAge AgeOf(const kafka::FirstRecord& record,
                const std::vector<PipelineMemory::Arrival>& arrivals, WallTime now);

/// Why a stamp of this worth gives no age, as a partition's reason: "no_timestamp",
/// "implausible_timestamp", "future_timestamp", or "clock_skew" when the broker itself stamped the
/// future (then its clock and ours disagree). Empty when it gives one.
std::string_view StampReason(StampWorth worth, kafka::TimestampType type);

}  // namespace tidemark::freshness
