/// From what the watch says to the points that every exporter shows.
#pragma once

#include <optional>
#include <vector>

#include "app/exporter_config.h"
#include "app/watch.h"
#include "base/clock.h"
#include "metrics/exporter_points.h"
#include "push/exporter.h"

namespace tidemark::app {

/// What is said of the daemon itself.
struct DaemonHealth {
  std::vector<metrics::ExporterHealth> exporters;
  metrics::WorkDone work{};
  std::vector<metrics::QueueHealth> queues{};
  /// nullopt: it shares its pipelines with nobody.
  std::optional<metrics::CoordinationHealth> coordination;
};

/// GET /metrics: every pipeline, also one that was not looked at yet (but where pipelines are
/// shared: there it would be news of a hand-over only), the process and its health.
metrics::Points EndpointPoints(const Watch& watch, const SeriesChoice& series,
                               const DaemonHealth& health);

/// What is sent: as above, but without what describes the process as such, and without pipelines
/// that were not looked at yet, whose "unknown" would be news of a restart only. `counting_since`
/// is left to the caller.
push::Values PushedValues(const Watch& watch, const SeriesChoice& series,
                          const DaemonHealth& health, WallTime now);

}  // namespace tidemark::app
