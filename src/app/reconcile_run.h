/// Tables compared with what the change feed told of them, and with what sinks keep of them.
#pragma once

#include <string>
#include <vector>

#include "api/reconcile_json.h"
#include "app/config.h"
#include "app/freshness_run.h"
#include "base/budget.h"
#include "base/error.h"

namespace tidemark::app {

struct ReconcileOptions {
  /// Ask the publisher to compare with a listing and to tell the difference, for tables that are
  /// different.
  bool repairs = false;
  /// Names of sinks to compare with the table as well. Not with `repairs`: a sink is brought up to
  /// date by its mirror alone.
  std::vector<std::string> sinks{};
};

/// Reads what the publisher remembers of each table, what a subscriber that begins now would hold,
/// and the table itself, again when the publisher told something meanwhile. One result a table, in
/// their order. Sinks are asked between the two readings of what the publisher remembers, so that
/// none is further than it. kInvalidArgument for a configuration without `feed`, or without a sink
/// that was named; errors of the cluster when nothing at all could be learned of the log. Cost: one
/// listing of each table, the records of its partition in the event and state topics, and of each
/// sink one listing of its partitions.
Result<std::vector<api::ReconciledTable>> ReconcileTables(const Config& config,
                                                          const std::vector<std::string>& tables,
                                                          const ReconcileOptions& options,
                                                          const Budget& budget,
                                                          const FreshnessEdges& edges);

}  // namespace tidemark::app
