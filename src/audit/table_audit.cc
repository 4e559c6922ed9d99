#include "audit/table_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "audit/audit_run.h"
#include "audit/counting_store.h"
#include "audit/repair_plan.h"
#include "merge/settings_lint.h"
#include "scan/table_scan.h"

namespace tidemark::audit {
namespace {

constexpr std::string_view kPropertiesFile = ".hoodie/hoodie.properties";

struct Readers {
  std::vector<merge::Profile> profiles;
  std::vector<Unjudged> left_out;
};

Result<Readers> MakeReaders(const AuditOptions& options, const merge::TableSettings& settings) {
  Readers readers;
  std::vector<std::string> names = options.profiles;
  if (names.empty()) {
    names.push_back(ProfileOfVersion(settings.version));
    if (names.back() != "hudi-1.1") names.emplace_back("table");
  }
  for (const auto& name : names) {
    if (name == "event-time") {
      return Fail(ErrorKind::kInvalidArgument,
                  "every reader is measured against event-time, it is no profile to audit");
    }
    auto profile = merge::MakeProfile(name, settings, options.engine);
    const bool is_known = std::ranges::any_of(
        readers.profiles, [&](const merge::Profile& known) { return known.name == name; });
    if (is_known) continue;
    if (profile) {
      readers.profiles.push_back(*std::move(profile));
    } else if (options.profiles.empty() && profile.error().kind == ErrorKind::kUnsupported) {
      readers.left_out.push_back(
          {"", "", fmt::format("profile {}: {}", name, profile.error().message)});
    } else {
      return internal::Pass(profile);
    }
  }
  return readers;
}

/// The ordering fields' types, as far as they are known. `has_files`: without one nothing may say
/// the columns of the table.
std::vector<merge::OrderingColumn> OrderingColumns(const scan::ScanTable& table, bool has_files) {
  std::vector<merge::OrderingColumn> columns;
  for (size_t i = 0; has_files && i < table.columns.ordering().size(); ++i) {
    const auto column = table.columns.ordering().column(i);
    const std::string& field = table.columns.settings().ordering_fields[i];
    // A column is there whose type says nothing.
    if (column.type == merge::ColumnType::kUnknown &&
        table.type.Find(field.substr(0, field.find('.')))) {
      break;
    }
    columns.push_back(column);
  }
  return columns;
}

void Lint(const scan::ScanTable& table, bool has_files, FindingList& findings) {
  const auto columns = OrderingColumns(table, has_files);
  for (auto& found : merge::LintSettings(table.columns.settings(), columns)) {
    Finding finding;
    finding.kind = found.kind;
    finding.severity = found.severity;
    finding.explanation = std::move(found.explanation);
    finding.evidence.push_back({std::string(kPropertiesFile), {}, {}, "", "", "", ""});
    findings.Add(std::move(finding));
  }
}

/// Up to version 8 every record index is of the whole table.
bool AreKeysGlobal(const AuditOptions& options, const scan::ScanTable& table) {
  if (options.keys_are_global) return true;
  const auto partitions = table.properties.Find("hoodie.table.metadata.partitions").value_or("");
  return table.properties.version <= 8 && partitions.find("record_index") != partitions.npos;
}

}  // namespace

std::string ProfileOfVersion(int table_version) {
  if (table_version >= 9) return "hudi-1.1";
  if (table_version >= 7) return "hudi-1.0.2";
  return table_version >= 4 ? "hudi-0.14" : "hudi-0.10";
}

struct TableAudit::State {
  std::unique_ptr<CountingStore> store;
  scan::TableScan scan;
  merge::KeyJudge judge;
  AuditOptions options;
  std::vector<std::string> profiles;
  std::string as_of;
  std::vector<Unjudged> left_out;
  FindingList of_opening;
  bool keys_are_global = false;
};

TableAudit::TableAudit(std::unique_ptr<State> state) : state_(std::move(state)) {}
TableAudit::TableAudit(TableAudit&&) noexcept = default;
TableAudit& TableAudit::operator=(TableAudit&&) noexcept = default;
TableAudit::~TableAudit() = default;

const std::vector<std::string>& TableAudit::profiles() const {
  return state_->profiles;
}

const std::string& TableAudit::as_of() const {
  return state_->as_of;
}

const columnar::RowType& TableAudit::row_type() const {
  return state_->scan.type();
}

Result<TableAudit> TableAudit::Open(const storage::ObjectStore& store,
                                    const lake::ColumnReaderSource& columns,
                                    const AuditOptions& options, const Budget& budget) {
  auto counting = std::make_unique<CountingStore>(store);
  scan::ScanOptions scan_options;
  scan_options.with_history = true;
  scan_options.with_evidence = true;
  if (options.for_repair) scan_options.hidden = RepairPlan::HiddenColumns();
  scan_options.partition_glob = options.partition_glob;
  scan_options.as_of = options.as_of;
  scan_options.memory_max = options.memory_max - options.memory_max / kCensusPart;
  scan_options.threads = options.threads;
  // The scan keeps the sink for as long as it lives.
  const auto of_opening = std::make_shared<FindingList>(0);
  TRY_ASSIGN(auto scan,
             scan::TableScan::Open(
                 *counting, columns, std::move(scan_options),
                 [of_opening](const lake::Finding& finding) { of_opening->Add(FromLake(finding)); },
                 budget));
  const scan::ScanTable& table = scan.table();
  TRY_ASSIGN(auto readers, MakeReaders(options, table.columns.settings()));
  std::vector<std::string> profiles;
  for (const auto& profile : readers.profiles) profiles.push_back(profile.name);
  merge::KeyJudge judge(table.profile, std::move(readers.profiles));
  std::string as_of = options.as_of.value_or(table.instants.newest());
  const bool keys_are_global = AreKeysGlobal(options, table);
  return TableAudit(std::make_unique<State>(
      State{std::move(counting), std::move(scan), std::move(judge), options, std::move(profiles),
            std::move(as_of), std::move(readers.left_out), *of_opening, keys_are_global}));
}

std::span<const scan::GroupSlices> TableAudit::groups() const {
  return state_->scan.groups();
}

std::vector<AuditPart> TableAudit::Plan() const {
  std::vector<AuditPart> parts = {{true, "", ""}};
  for (const auto& group : state_->scan.groups()) {
    if (!group.back().is_latest) continue;  // judged with the groups that took its rows
    parts.push_back({false, group.back().group.partition, group.back().group.file_id});
  }
  return parts;
}

Result<Report> TableAudit::Run(std::span<const AuditPart> parts, RepairSink* repair) const {
  const auto begin = std::chrono::steady_clock::now();
  const uint64_t bytes_before = state_->store->bytes_read();
  const scan::ScanTable& table = state_->scan.table();
  AuditRun run(state_->scan, state_->judge,
               {state_->options.limit, state_->options.threads, state_->options.memory_max,
                state_->keys_are_global, repair, state_->options.group_done});
  Report report;
  for (const auto& part : parts) {
    if (!part.is_of_table) {
      TRY(run.Want({part.partition, part.file_group}));
      continue;
    }
    run.WantTable();
    run.Add(state_->of_opening);
    FindingList lint(0);
    Lint(table, !state_->scan.slices().empty(), lint);
    run.Add(std::move(lint));
    report.unjudged = state_->left_out;
  }
  TRY(run.Run());
  run.Fill(report);
  report.table = state_->store->uri();
  report.profiles = state_->profiles;
  report.as_of = state_->as_of;
  std::ranges::sort(report.unjudged);
  report.summary.bytes_read = state_->store->bytes_read() - bytes_before;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  report.summary.seconds = took.count();
  return report;
}

}  // namespace tidemark::audit
