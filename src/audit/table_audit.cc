#include "audit/table_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "audit/counting_store.h"
#include "audit/duplicate_keys.h"
#include "audit/repair_plan.h"
#include "merge/settings_lint.h"
#include "scan/table_scan.h"

namespace tidemark::audit {
namespace {

using lake::hudi::FileGroupId;

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

void Lint(const scan::ScanTable& table, FindingList& findings) {
  std::vector<merge::OrderingColumn> columns;
  for (size_t i = 0; i < table.columns.ordering().size(); ++i) {
    columns.push_back(table.columns.ordering().column(i));
  }
  for (auto& found : merge::LintSettings(table.columns.settings(), columns)) {
    Finding finding;
    finding.kind = found.kind;
    finding.severity = found.severity;
    finding.explanation = std::move(found.explanation);
    finding.evidence.push_back({std::string(kPropertiesFile), {}, {}, "", "", "", ""});
    findings.Add(std::move(finding));
  }
}

/// Runs `work(i)` for all i below `count` on some threads; the error of the lowest i.
Status InParallel(size_t count, unsigned threads, const std::function<Status(size_t)>& work) {
  std::atomic<size_t> next = 0;
  std::vector<Status> done(count);
  std::atomic<bool> has_failed = false;
  const auto run = [&] {
    for (size_t i = next++; i < count && !has_failed; i = next++) {
      done[i] = work(i);
      if (!done[i]) has_failed = true;
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (unsigned i = 1; i < std::min<size_t>(threads, count); ++i) helpers.emplace_back(run);
    run();
  }
  for (Status& status : done) TRY(std::move(status));
  return {};
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
  std::vector<scan::GroupSlices> groups;  // that are part of the table
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
  scan_options.memory_max = options.memory_max;
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
  size_t replaced = 0;
  std::vector<scan::GroupSlices> groups;
  for (const auto& group : scan.groups()) {
    if (group.back().is_latest) {
      groups.push_back(group);
    } else {
      ++replaced;
    }
  }
  if (replaced > 0) {
    Finding finding;
    finding.kind = "replaced_file_groups";
    finding.severity = merge::Severity::kInfo;
    finding.explanation = fmt::format(
        "{} file groups that a clustering rewrote are still on storage and are not held against "
        "the groups that took their rows: what the clustering itself lost is not looked for",
        replaced);
    of_opening->Add(std::move(finding));
  }
  return TableAudit(std::make_unique<State>(
      State{std::move(counting), std::move(scan), std::move(judge), options, std::move(profiles),
            std::move(as_of), std::move(readers.left_out), *of_opening, std::move(groups)}));
}

std::span<const scan::GroupSlices> TableAudit::groups() const {
  return state_->groups;
}

std::vector<AuditPart> TableAudit::Plan() const {
  std::vector<AuditPart> parts = {{true, "", ""}};
  for (const auto& group : state_->groups) {
    parts.push_back({false, group.back().group.partition, group.back().group.file_id});
  }
  return parts;
}

namespace {

Result<scan::GroupSlices> GroupOf(std::span<const scan::GroupSlices> groups,
                                  const AuditPart& part) {
  const FileGroupId wanted{part.partition, part.file_group};
  for (const auto& group : groups) {
    if (group.back().group == wanted) return group;
  }
  return Fail(ErrorKind::kInvalidArgument,
              fmt::format("the table has no such file group at this instant, partition={} "
                          "file_group={}",
                          part.partition, part.file_group));
}

}  // namespace

Result<Report> TableAudit::Run(std::span<const AuditPart> parts, const RepairSink& repair) const {
  const auto begin = std::chrono::steady_clock::now();
  const uint64_t bytes_before = state_->store->bytes_read();
  std::vector<scan::GroupSlices> groups;  // beside parts
  for (const auto& part : parts) {
    groups.emplace_back();
    if (part.is_of_table) continue;
    TRY_ASSIGN(groups.back(), GroupOf(state_->groups, part));
  }
  std::vector<GroupAudit> audits(parts.size(), GroupAudit(state_->options.limit));
  GroupQuestion question{&state_->judge, state_->options.limit, repair};
  const unsigned threads = repair ? 1 : state_->options.threads;  // rows in the order of keys
  TRY(InParallel(parts.size(), threads, [&](size_t i) -> Status {
    const scan::ScanTable& table = state_->scan.table();
    if (parts[i].is_of_table) {
      audits[i].findings.Add(state_->of_opening);
      Lint(table, audits[i].findings);
      return FindDuplicateKeys(table, state_->groups, audits[i].findings);
    }
    TRY_ASSIGN(audits[i], AuditGroup(table, state_->scan.writers(), groups[i], question));
    if (state_->options.group_done) state_->options.group_done(groups[i].back().group);
    return {};
  }));
  Report report;
  report.table = state_->store->uri();
  report.profiles = state_->profiles;
  report.as_of = state_->as_of;
  FindingList all(state_->options.limit);
  for (size_t i = 0; i < parts.size(); ++i) {
    report.summary += audits[i].counts;
    if (audits[i].unjudged) report.unjudged.push_back(*audits[i].unjudged);
    if (parts[i].is_of_table) {
      report.unjudged.insert(report.unjudged.end(), state_->left_out.begin(),
                             state_->left_out.end());
    }
    all.Add(std::move(audits[i].findings));
  }
  report.summary += all.counts();
  report.findings = all.Take();
  std::ranges::sort(report.unjudged);
  report.summary.bytes_read = state_->store->bytes_read() - bytes_before;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  report.summary.seconds = took.count();
  return report;
}

}  // namespace tidemark::audit
