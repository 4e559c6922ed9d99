/// How the sinks of a mirror fare, as metrics (change-feed §6.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "metrics/latency_histogram.h"
#include "metrics/point.h"

namespace tidemark::metrics {

/// Since the process began, but for what is at the moment.
struct SinkHealth {
  std::string name;  ///< unique
  size_t tables = 0;
  size_t behind = 0;        ///< with something still to be brought
  size_t paused = 0;        ///< tried again and again
  size_t quarantined = 0;   ///< waiting for somebody
  uint64_t applied = 0;     ///< updates
  uint64_t full = 0;        ///< of `applied`, those that compared everything
  uint64_t partitions = 0;  ///< added and dropped
  uint64_t failures = 0;
  uint64_t stale = 0;  ///< refused because the target was further
  /// From the news to the target, pauses included.
  LatencyHistogram latency{};
};

/// The families of FamilyGroup::kSink.
Points SinkPoints(std::span<const SinkHealth> sinks);

}  // namespace tidemark::metrics
