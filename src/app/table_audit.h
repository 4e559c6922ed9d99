/// Auditing a table for `tidemark audit`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/freshness_run.h"
#include "app/metered_store.h"
#include "audit/report.h"
#include "audit/table_audit.h"
#include "base/budget.h"
#include "base/error.h"
#include "columnar/batch_writer.h"
#include "storage/object_store.h"

namespace tidemark::app {

struct TableAuditOptions {
  audit::AuditOptions audit;
  /// Where the rows that would make the table right go as Parquet (docs/audit.md); may be empty.
  columnar::ByteSink repair_plan = {};
  ProgressSink progress = {};
};

/// Audits all of a table. Errors begin with the table.
Result<audit::Report> AuditTable(const std::string& table, const storage::StoreOptions& store,
                                 const TableAuditOptions& options, const Budget& budget,
                                 const FreshnessEdges& edges);

/// The work of such an audit as tasks.
Result<std::vector<audit::AuditTask>> PlanAudit(const std::string& table,
                                                const storage::StoreOptions& store,
                                                const audit::AuditOptions& options,
                                                const Budget& budget, const FreshnessEdges& edges);

/// Does tasks one by one and gives each one's report to `take`. A table is opened once for
/// neighbours that agree on everything but the part. `options` add what tasks do not say.
Status RunAuditTasks(std::span<const audit::AuditTask> tasks, const storage::StoreOptions& store,
                     const audit::AuditOptions& options,
                     const std::function<Status(const audit::Report& report)>& take,
                     const Budget& budget, const FreshnessEdges& edges);

}  // namespace tidemark::app
