#include "app/table_audit.h"

#include <memory>
#include <optional>
#include <utility>

#include "audit/repair_plan.h"

namespace tidemark::app {
namespace {

/// Of the memory one part in so many holds rows of a repair plan whose turn has not come.
constexpr uint64_t kRepairPart = 8;

Error InTable(const Error& error, const std::string& table) {
  return Error(error).With(table);
}

bool AreOfOneAudit(const audit::AuditTask& a, const audit::AuditTask& b) {
  audit::AuditTask same = a;
  same.part = b.part;
  same.number = b.number;
  return same == b;
}

audit::AuditOptions OptionsOf(const audit::AuditTask& task, audit::AuditOptions options) {
  options.profiles = task.profiles;
  options.engine = task.engine;
  options.partition_glob = task.partition_glob;
  options.keys_are_global = task.keys_are_global;
  options.as_of = task.as_of.empty() ? std::nullopt : std::optional(task.as_of);
  return options;
}

}  // namespace

Result<audit::Report> AuditTable(const std::string& table, const storage::StoreOptions& store,
                                 const TableAuditOptions& options, const Budget& budget,
                                 const FreshnessEdges& edges) {
  TRY_ASSIGN(auto opened, edges.open_store(table, store));
  MeteredStore metered(std::move(opened), options.progress);
  audit::AuditOptions own = options.audit;
  own.for_repair = options.repair_plan != nullptr;
  own.group_done = [&](const lake::hudi::FileGroupId& group) { metered.Finish(group); };
  const auto audit = audit::TableAudit::Open(metered, edges.columns, own, budget);
  if (!audit) return std::unexpected(InTable(audit.error(), table));
  std::unique_ptr<audit::RepairPlan> plan;
  if (options.repair_plan) {
    TRY_ASSIGN(plan, audit::RepairPlan::Open(audit->row_type(), options.repair_plan,
                                             own.memory_max / kRepairPart));
  }
  metered.Expect(audit->groups(), scan::SliceView::kSnapshot);
  auto report = audit->Run(audit->Plan(), plan.get());
  if (!report) return std::unexpected(InTable(report.error(), table));
  if (plan) TRY(plan->Close());
  report->table = table;
  return report;
}

Result<std::vector<audit::AuditTask>> PlanAudit(const std::string& table,
                                                const storage::StoreOptions& store,
                                                const audit::AuditOptions& options,
                                                const Budget& budget, const FreshnessEdges& edges) {
  TRY_ASSIGN(const auto opened, edges.open_store(table, store));
  const auto audit = audit::TableAudit::Open(*opened, edges.columns, options, budget);
  if (!audit) return std::unexpected(InTable(audit.error(), table));
  std::vector<audit::AuditTask> tasks;
  auto parts = audit->Plan();
  for (size_t i = 0; i < parts.size(); ++i) {
    tasks.push_back({table, audit->as_of(), audit->profiles(), options.engine,
                     options.partition_glob, options.keys_are_global, std::move(parts[i]), i + 1,
                     parts.size()});
  }
  return tasks;
}

Status RunAuditTasks(std::span<const audit::AuditTask> tasks, const storage::StoreOptions& store,
                     const audit::AuditOptions& options,
                     const std::function<Status(const audit::Report& report)>& take,
                     const Budget& budget, const FreshnessEdges& edges) {
  for (size_t begin = 0; begin < tasks.size();) {
    const audit::AuditTask& first = tasks[begin];
    TRY_ASSIGN(const auto opened, edges.open_store(first.table, store));
    const auto audit =
        audit::TableAudit::Open(*opened, edges.columns, OptionsOf(first, options), budget);
    if (!audit) return std::unexpected(InTable(audit.error(), first.table));
    size_t end = begin;
    for (; end < tasks.size() && AreOfOneAudit(first, tasks[end]); ++end) {
      auto report = audit->Run({&tasks[end].part, 1}, nullptr);
      if (!report) return std::unexpected(InTable(report.error(), first.table));
      report->table = first.table;
      report->task = tasks[end].number;
      report->tasks = tasks[end].count;
      TRY(take(*report));
    }
    begin = end;
  }
  return {};
}

}  // namespace tidemark::app
