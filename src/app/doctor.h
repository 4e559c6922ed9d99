/// What is wrong with a set-up and what to do about it, step by step from the table to the broker.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/freshness_run.h"

namespace tidemark::app {

enum class CheckOutcome {
  kOk,
  kWarning,  ///< works, and may not for long
  kFailed,
  kSkipped,  ///< an earlier failure left nothing to check, or it is switched off
};

std::string_view CheckOutcomeName(CheckOutcome outcome);

/// One step.
struct DoctorCheck {
  std::string name;  ///< "pipeline" when it is switched off; else "store", "table", "timeline",
                     ///< "checkpoint", "client", "cluster", "topic", "partitions", "offsets",
                     ///< "retention"
  CheckOutcome outcome = CheckOutcome::kSkipped;
  std::string detail;              ///< what was seen
  std::string cure;                ///< what to do; empty when there is nothing to do
  std::optional<ErrorKind> error;  ///< the kind of failure, where there was an Error
};

/// The steps for one table or pipeline, in order.
struct Diagnosis {
  std::string subject;  ///< the pipeline's name, or the table
  std::string table;
  std::vector<DoctorCheck> checks;
};

/// Checks the pipeline's table and, when its cluster has brokers, the cluster: reachable,
/// permitted, readable, checkpoint, topic, retention against the SLA. Reads only.
Diagnosis Diagnose(const Config& config, const PipelineConfig& pipeline,
                   const FreshnessRunOptions& options, const FreshnessEdges& edges);

}  // namespace tidemark::app
