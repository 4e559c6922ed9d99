/// Freshness reports as JSON, schema "tidemark.freshness/1".
#pragma once

#include <span>
#include <string>

#include "base/clock.h"
#include "freshness/report.h"

namespace tidemark::api {

struct FreshnessJsonOptions {
  WallTime generated_at{};
  Milliseconds duration{0};  ///< of the whole run
  /// Also `partition_detail`. Cost: about 400 bytes a partition.
  bool with_partitions = false;
};

/// One object on one line, without a line feed. Keys in the contract's order; what we add stands at
/// the end of its object: cluster, observed_at, probe_duration_seconds and findings of a pipeline;
/// committed_at, archived and last_change_age_seconds of a checkpoint; a partition's counts.
std::string FreshnessJson(std::span<const freshness::PipelineReport> reports,
                          const FreshnessJsonOptions& options);

}  // namespace tidemark::api
