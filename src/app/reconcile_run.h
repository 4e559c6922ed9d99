/// Tables compared with what the change feed told of them.
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
};

/// Reads what the publisher remembers of each table, what a subscriber that begins now would hold,
/// and the table itself, again when the publisher told something meanwhile. One result a table, in
/// their order. kInvalidArgument for a configuration without `feed`; errors of the cluster when
/// nothing at all could be learned of the log. Cost: one listing of each table, and the records of
/// its partition in the event and state topics.
Result<std::vector<api::ReconciledTable>> ReconcileTables(const Config& config,
                                                          const std::vector<std::string>& tables,
                                                          const ReconcileOptions& options,
                                                          const Budget& budget,
                                                          const FreshnessEdges& edges);

}  // namespace tidemark::app
