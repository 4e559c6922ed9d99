#include "audit/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "lake/finding.h"

namespace tidemark::audit {
namespace {

/// Tasks that were not done, named one by one.
constexpr size_t kMissingMax = 1000;

auto OrderOf(const Finding& finding) {
  return std::make_tuple(-static_cast<int>(finding.severity), std::tie(finding.partition),
                         std::tie(finding.file_group), std::tie(finding.record_key),
                         std::tie(finding.kind), std::tie(finding.profile),
                         std::tie(finding.explanation));
}

void Sort(std::vector<Finding>& findings) {
  std::ranges::stable_sort(
      findings, [](const Finding& a, const Finding& b) { return OrderOf(a) < OrderOf(b); });
}

Status CheckParts(const std::vector<Report>& parts) {
  if (parts.empty()) return Fail(ErrorKind::kInvalidArgument, "there is no part to merge");
  std::set<uint64_t> done;
  const Report& first = parts.front();
  for (const Report& part : parts) {
    if (part.table != first.table || part.as_of != first.as_of || part.profiles != first.profiles ||
        part.tasks != first.tasks) {
      return Fail(
          ErrorKind::kInvalidArgument,
          fmt::format("parts are of different audits, tables={},{} as_of={},{} tasks={},{}",
                      first.table, part.table, first.as_of, part.as_of, first.tasks, part.tasks));
    }
    if (part.task != 0 && !done.insert(part.task).second) {
      return Fail(ErrorKind::kInvalidArgument,
                  fmt::format("there are two parts of one task, task={}", part.task));
    }
  }
  return {};
}

std::set<uint64_t> ReplacedTasks(const std::vector<Report>& parts) {
  std::set<uint64_t> replaced;
  for (const Report& part : parts) replaced.insert(part.replaces.begin(), part.replaces.end());
  return replaced;
}

/// The first kMissingMax.
std::vector<uint64_t> MissingTasks(const std::vector<Report>& parts, std::set<uint64_t> done) {
  for (const Report& part : parts) done.insert(part.task);
  std::vector<uint64_t> missing;
  for (uint64_t task = 1; task <= parts.front().tasks && missing.size() < kMissingMax; ++task) {
    if (!done.contains(task)) missing.push_back(task);
  }
  return missing;
}

}  // namespace

Summary& Summary::operator+=(const Summary& other) {
  file_groups += other.file_groups;
  file_slices += other.file_slices;
  keys += other.keys;
  versions += other.versions;
  bytes_read += other.bytes_read;
  seconds += other.seconds;
  for (const auto& [kind, count] : other.findings) findings[kind] += count;
  for (size_t i = 0; i < by_severity.size(); ++i) by_severity[i] += other.by_severity[i];
  damages += other.damages;
  return *this;
}

uint64_t Summary::total() const {
  return by_severity[0] + by_severity[1] + by_severity[2];
}

void FindingList::Add(Finding finding) {
  ++counts_.findings[finding.kind];
  ++counts_.by_severity[static_cast<size_t>(finding.severity)];
  if (lake::IsDamage(finding.kind)) ++counts_.damages;
  findings_.push_back(std::move(finding));
  if (limit_ > 0 && findings_.size() >= 2 * limit_ + 1024) Cut();
}

void FindingList::Add(FindingList other) {
  counts_ += other.counts_;
  std::ranges::move(other.findings_, std::back_inserter(findings_));
  if (limit_ > 0 && findings_.size() >= 2 * limit_ + 1024) Cut();
}

void FindingList::Cut() {
  Sort(findings_);
  if (limit_ > 0 && findings_.size() > limit_) findings_.resize(limit_);
}

std::vector<Finding> FindingList::Take() {
  Cut();
  return std::move(findings_);
}

Result<Report> MergeReports(std::vector<Report> parts, size_t limit) {
  TRY(CheckParts(parts));
  Report whole;
  whole.table = parts.front().table;
  whole.profiles = parts.front().profiles;
  whole.as_of = parts.front().as_of;
  const auto replaced = ReplacedTasks(parts);
  for (Report& part : parts) {
    if (replaced.contains(part.task)) {
      whole.summary.bytes_read += part.summary.bytes_read;
      whole.summary.seconds += part.summary.seconds;
      continue;
    }
    whole.summary += part.summary;
    std::ranges::move(part.findings, std::back_inserter(whole.findings));
    std::ranges::move(part.unjudged, std::back_inserter(whole.unjudged));
  }
  Sort(whole.findings);
  if (limit > 0 && whole.findings.size() > limit) whole.findings.resize(limit);
  for (const uint64_t task : MissingTasks(parts, replaced)) {
    whole.unjudged.push_back(
        {"", "", fmt::format("task {} of {} was not done", task, parts.front().tasks)});
  }
  std::ranges::sort(whole.unjudged);
  return whole;
}

}  // namespace tidemark::audit
