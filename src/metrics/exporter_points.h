/// What a daemon says of itself beside its process: exporters, work, its place among others,
/// queues.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "metrics/point.h"

namespace tidemark::metrics {

/// What became of what one exporter was to deliver, since the process began.
struct ExporterHealth {
  std::string name;           ///< unique
  std::optional<bool> is_up;  ///< whether the last delivery arrived; nullopt before the first
  uint64_t deliveries = 0;    ///< that arrived
  uint64_t failures = 0;      ///< that did not
  uint64_t dropped = 0;       ///< values and events that were given up
  uint64_t waiting = 0;       ///< events still to be delivered
  std::optional<WallTime> last_success;
};

/// The families of FamilyGroup::kExporter.
Points ExporterPoints(std::span<const ExporterHealth> exporters);

/// What a daemon has done since it began.
struct WorkDone {
  uint64_t looks = 0;
  uint64_t looks_left_out = 0;
  uint64_t store_listings = 0;
  uint64_t store_reads = 0;
  uint64_t kafka_probes = 0;
  uint64_t kafka_bytes_fetched = 0;
};

/// The families of FamilyGroup::kWork.
Points WorkPoints(const WorkDone& work);

/// A daemon's place in its group.
struct CoordinationHealth {
  std::string group;
  bool is_member = false;
  uint64_t owned_pipelines = 0;
};

/// The families of FamilyGroup::kCoordination; nothing for a daemon that shares with nobody.
Points CoordinationPoints(const std::optional<CoordinationHealth>& health);

/// A queue that wakes the daemon up, since the process began.
struct QueueHealth {
  std::string name;           ///< unique
  std::optional<bool> is_up;  ///< whether it answered the last time; nullopt before the first
  uint64_t messages = 0;
  uint64_t misunderstood = 0;  ///< of `messages`
  uint64_t failures = 0;       ///< requests that were not granted
};

/// The families of FamilyGroup::kQueue.
Points QueuePoints(std::span<const QueueHealth> queues);

}  // namespace tidemark::metrics
