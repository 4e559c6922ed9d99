/// Freshness reports as metrics.
#pragma once

#include <span>
#include <string>

#include "freshness/report.h"
#include "metrics/text_exposition.h"

namespace tidemark::metrics {

struct FreshnessExpositionOptions {
  TextFormat format = TextFormat::kPrometheus;
  /// Also one series a partition. Cost: partitions times three lines.
  bool with_partitions = false;
  /// Also the names of kafka-lag-exporter, with group = pipeline.
  bool with_compatibility = false;
};

/// The families of metrics/family.h with a sample for each report that has the number: an absent
/// number has no sample, so nothing is ever NaN or stale. Reports in the order given, which must
/// differ in pipeline, cluster or table. Labels: pipeline, cluster, table, then the pipeline's own,
/// "label_" put before those that would hide one of ours.
std::string FreshnessExposition(std::span<const freshness::PipelineReport> reports,
                                const FreshnessExpositionOptions& options = {});

}  // namespace tidemark::metrics
