/// How the exporters of a daemon fare, as metrics.
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

}  // namespace tidemark::metrics
