/// Service level objectives for programs that make burn-rate alerts and budget pages themselves.
/// All count the same thing: the share of time in which a pipeline was no breach, out of the time
/// in which that is known.
#pragma once

#include <span>
#include <string>

#include "rules/watched.h"

namespace tidemark::rules {

/// One PrometheusServiceLevel (sloth.slok.dev/v1), which `sloth generate` and its operator read,
/// with an objective for each pipeline over 30 days. Alerts whose windows do not carry the
/// pipeline's step are switched off. `pipelines` is not empty: Sloth refuses none.
std::string SlothObjectives(std::span<const WatchedPipeline> pipelines, const RuleOptions& options);

/// A ServiceLevelObjective (pyrra.dev/v1alpha1) for each pipeline, over four weeks. They read
/// records::kWithinSla, so the rules of prometheus_rules.h must be loaded too. No burn-rate alerts
/// where Pyrra's shortest window does not carry the pipeline's step.
std::string PyrraObjectives(std::span<const WatchedPipeline> pipelines, const RuleOptions& options);

/// A Service and an SLO (openslo/v1) for each pipeline, by time slices of a step, over 30 days.
std::string OpenSloObjectives(std::span<const WatchedPipeline> pipelines,
                              const RuleOptions& options);

}  // namespace tidemark::rules
