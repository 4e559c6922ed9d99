#include "app/metric_values.h"

#include <iterator>
#include <utility>
#include <vector>

#include "app/build_info.h"
#include "metrics/freshness_points.h"
#include "metrics/process_points.h"

namespace tidemark::app {

namespace {

std::vector<Watched> SnapshotFor(const Watch& watch, const SeriesChoice& series) {
  return watch.Snapshot(series.with_partitions || series.with_compatibility);
}

void Append(metrics::Points& points, metrics::Points more) {
  points.insert(points.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
}

metrics::Points PointsOf(std::span<const freshness::PipelineReport> reports,
                         const SeriesChoice& series) {
  return metrics::FreshnessPoints(reports, {.with_partitions = series.with_partitions,
                                            .with_compatibility = series.with_compatibility});
}

}  // namespace

metrics::Points EndpointPoints(const Watch& watch, const SeriesChoice& series,
                               const DaemonHealth& health) {
  std::vector<freshness::PipelineReport> reports;
  for (Watched& each : SnapshotFor(watch, series))
    if (each.looks > 0 || !health.coordination) reports.push_back(std::move(each.report));
  metrics::Points points = PointsOf(reports, series);
  Append(points, metrics::ProcessPoints(GetBuildInfo().version));
  Append(points, metrics::ExporterPoints(health.exporters));
  Append(points, metrics::WorkPoints(health.work));
  Append(points, metrics::CoordinationPoints(health.coordination));
  Append(points, metrics::QueuePoints(health.queues));
  return points;
}

push::Values PushedValues(const Watch& watch, const SeriesChoice& series,
                          const DaemonHealth& health, WallTime now) {
  push::Values values;
  values.taken_at = now;
  for (Watched& each : SnapshotFor(watch, series))
    if (each.looks > 0) values.reports.push_back(std::move(each.report));
  values.points = PointsOf(values.reports, series);
  Append(values.points, metrics::BuildPoints(GetBuildInfo().version));
  Append(values.points, metrics::ExporterPoints(health.exporters));
  Append(values.points, metrics::WorkPoints(health.work));
  Append(values.points, metrics::CoordinationPoints(health.coordination));
  Append(values.points, metrics::QueuePoints(health.queues));
  return values;
}

}  // namespace tidemark::app
