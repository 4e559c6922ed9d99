/// What is wrong with a set-up and what to do about it, step by step from the table to the broker.
#pragma once

#include <optional>
#include <stop_token>
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
  std::string name;  ///< "pipeline" when it is switched off; else "interval", "store", "table",
                     ///< "timeline", "checkpoint", "client", "cluster", "topic", "partitions",
                     ///< "offsets", "retention"; of the daemon "state", "group topic", "group",
                     ///< "hand-over", "tokens", "listen"; of an exporter its kind, of a queue its
                     ///< name
  CheckOutcome outcome = CheckOutcome::kSkipped;
  std::string detail;              ///< what was seen
  std::string cure;                ///< what to do; empty when there is nothing to do
  std::optional<ErrorKind> error;  ///< the kind of failure, where there was an Error
};

/// The steps for one table or pipeline, in order.
struct Diagnosis {
  std::string subject;  ///< the pipeline's name, or the table; "(daemon)", "(exporters)",
                        ///< "(wake-ups)"
  std::string table;    ///< empty of those in parentheses
  std::vector<DoctorCheck> checks;
};

/// Checks the table of each pipeline and, when its cluster has brokers, the cluster: reachable,
/// permitted, readable, checkpoint, topic, retention against the SLA. Reads only. In the order of
/// `pipelines`, `options.tables_at_once` of them at a time; a cluster or a bucket that did not
/// answer is not asked again for the pipelines that follow. Not whole when `options.stop` ends it.
std::vector<Diagnosis> DiagnoseAll(const Config& config,
                                   const std::vector<PipelineConfig>& pipelines,
                                   const FreshnessRunOptions& options, const FreshnessEdges& edges);

/// What `serve` needs beside its pipelines: the state, the group it shares them with, and where it
/// answers. Changes nothing and joins nothing; listens for a moment. The cluster has `limit`.
Diagnosis DiagnoseDaemon(const Config& config, Milliseconds limit);

/// Whether each receiver could be told: it is there, lets us in, or its file can be written.
/// A failed check has no `error`: what is watched can be watched all the same. Changes nothing
/// there: an OpenTelemetry collector gets a request without metrics, a webhook HEAD,
/// a StatsD server nothing at all. All at once, each within `timeout`.
Diagnosis DiagnoseExporters(const Config& config, Milliseconds timeout,
                            const std::stop_token& stop);

/// What `publish` needs: "cluster", "topics" (partitions, clean-up, sizes), "transactions" (rights
/// on transactional ids and to write idempotently: one is opened that no publisher uses). No checks
/// without a section `feed`. Asks the cluster for `limit` at most for each.
Diagnosis DiagnoseFeed(const Config& config, Milliseconds limit);

/// Whether each queue of `wake_ups` answers us, and how many messages wait in it, a check for each
/// by its name, within `limit` each. A failed check has no `error`, as of an exporter. Receives
/// nothing.
Diagnosis DiagnoseQueues(const Config& config, Milliseconds limit, const std::stop_token& stop);

/// Whether each sink of the mirror answers and lets us in, a check for each by the sink's name,
/// within `limit` each. Changes nothing.
Diagnosis DiagnoseSinks(const Config& config, Milliseconds limit, const std::stop_token& stop);

}  // namespace tidemark::app
