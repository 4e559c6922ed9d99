/// How the exporters of a daemon fare, and its place among others, as metrics.
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

/// A daemon's place in its group.
struct CoordinationHealth {
  std::string group;
  bool is_member = false;
  uint64_t owned_pipelines = 0;
};

/// The families of FamilyGroup::kCoordination; nothing for a daemon that shares with nobody.
Points CoordinationPoints(const std::optional<CoordinationHealth>& health);

}  // namespace tidemark::metrics
