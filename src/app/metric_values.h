/// From what the watch says to the points that every exporter shows.
#pragma once

#include <span>

#include "app/exporter_config.h"
#include "app/watch.h"
#include "base/clock.h"
#include "metrics/exporter_points.h"
#include "push/exporter.h"

namespace tidemark::app {

/// GET /metrics: every pipeline, also one that was not looked at yet, the process and its
/// exporters.
metrics::Points EndpointPoints(const Watch& watch, const SeriesChoice& series,
                               std::span<const metrics::ExporterHealth> exporters);

/// What is sent: as above, but without what describes the process as such, and without pipelines
/// that were not looked at yet, whose "unknown" would be news of a restart only. `counting_since`
/// is left to the caller.
push::Values PushedValues(const Watch& watch, const SeriesChoice& series,
                          std::span<const metrics::ExporterHealth> exporters, WallTime now);

}  // namespace tidemark::app
