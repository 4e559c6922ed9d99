/// Freshness reports as metrics.
#pragma once

#include <cstddef>
#include <span>

#include "freshness/report.h"
#include "metrics/point.h"

namespace tidemark::metrics {

/// Partitions that get series of their own at most; the rest is counted.
inline constexpr size_t kPartitionSeriesMax = 20'000;

struct FreshnessPointsOptions {
  /// Also one series a partition: three families.
  bool with_partitions = false;
  /// Also the names of kafka-lag-exporter, with group = pipeline: two families a partition.
  bool with_compatibility = false;
  /// Of all reports together; the partitions of the first reports come first.
  size_t partitions_max = kPartitionSeriesMax;
};

/// A point for each family of metrics/family.h and each report that has the number: an absent
/// number has no point, so nothing is ever NaN or stale. Reports in the order given, which must
/// differ in pipeline, cluster or table. Labels: pipeline, cluster, table, then the pipeline's own,
/// "label_" put before those that would hide one of ours. Cost: at most 30 points a report, and
/// five a partition on request.
Points FreshnessPoints(std::span<const freshness::PipelineReport> reports,
                       const FreshnessPointsOptions& options = {});

}  // namespace tidemark::metrics
