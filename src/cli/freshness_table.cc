#include "cli/freshness_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/time_text.h"
#include "base/utf8.h"

namespace tidemark::cli {

namespace {

using freshness::PartitionVerdict;
using freshness::PipelineReport;
using freshness::PipelineStatus;
using freshness::Verdict;

Colour ColourOf(PipelineStatus status) {
  switch (status) {
    case PipelineStatus::kFresh: return Colour::kGreen;
    case PipelineStatus::kWarning: return Colour::kYellow;
    case PipelineStatus::kBreach: return Colour::kRed;
    case PipelineStatus::kUnknown: return Colour::kMagenta;
    case PipelineStatus::kDisabled: return Colour::kDim;
  }
  std::unreachable();
}

Colour ColourOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFresh: return Colour::kGreen;
    case Verdict::kLagging: return Colour::kPlain;
    case Verdict::kLost: return Colour::kRed;
    case Verdict::kBlocked: return Colour::kYellow;
    case Verdict::kAhead:
    case Verdict::kUnknown: return Colour::kMagenta;
  }
  std::unreachable();
}

std::string LagText(const std::optional<Milliseconds>& lag, bool is_lower_bound) {
  if (!lag) return "-";
  return (is_lower_bound ? ">= " : "") + FormatDuration(*lag);
}

std::string CountsText(const freshness::PartitionCounts& counts) {
  if (counts.total == 0) return "-";
  std::string text = std::to_string(counts.total) + ":";
  const std::pair<int64_t, const char*> parts[] = {
      {counts.fresh, "fresh"},     {counts.lagging, "lagging"}, {counts.lost, "LOST"},
      {counts.blocked, "blocked"}, {counts.ahead, "ahead"},     {counts.unknown, "unknown"}};
  for (const auto& [count, word] : parts) {
    if (count > 0) text += fmt::format(" {} {}", count, word);
  }
  return text;
}

std::string OffsetText(const std::optional<kafka::Offset>& offset) {
  return offset ? std::to_string(*offset) : "-";
}

std::string CheckpointText(const PipelineReport& report) {
  if (!report.commit) return "-";
  std::string text = report.commit->instant;
  if (report.commit->commit_depth > 0) text += fmt::format(" (-{})", report.commit->commit_depth);
  if (report.commit->is_archived) text += " archived";
  return text;
}

/// Of more, only the number: one damaged table must not hide the others.
constexpr size_t kFindingsShownMax = 3;

void AddFindings(TextTable& table, const std::vector<lake::Finding>& findings) {
  const size_t shown = std::min(findings.size(), kFindingsShownMax);
  for (size_t i = 0; i < shown; ++i) {
    table.AddNote(
        fmt::format("{}: {}: {}", findings[i].kind, findings[i].place, findings[i].message));
  }
  if (shown < findings.size()) {
    table.AddNote(fmt::format("and {} more findings (see --format json)", findings.size() - shown));
  }
}

std::string PartitionTable(const PipelineReport& report, const Terminal& terminal) {
  TextTable table({"PARTITION", "VERDICT", "LAG", "COMMITTED", "LOG START", "END", "FIRST WAITING",
                   "STAMP", "REASON"});
  for (const PartitionVerdict& p : report.partitions) {
    std::string stamp = "-";
    if (p.timestamp_ms) {
      stamp = FormatRfc3339(WallTimeFromMillis(*p.timestamp_ms));
      if (p.timestamp_type == kafka::TimestampType::kAppend) stamp += " append";
    }
    table.AddRow({{fmt::format("{}-{}", p.partition.topic, p.partition.partition)},
                  {std::string(freshness::VerdictName(p.verdict)), ColourOf(p.verdict)},
                  {LagText(p.lag, p.lag_is_lower_bound), Colour::kPlain, true},
                  {OffsetText(p.committed), Colour::kPlain, true},
                  {OffsetText(p.log_start), Colour::kPlain, true},
                  {OffsetText(p.end), Colour::kPlain, true},
                  {OffsetText(p.first_uncommitted), Colour::kPlain, true},
                  {stamp},
                  {p.reason.value_or("")}});
  }
  return table.Render(terminal);
}

}  // namespace

std::string FreshnessTable(std::span<const PipelineReport> reports, bool with_partitions,
                           const Terminal& terminal) {
  TextTable table({"PIPELINE", "STATUS", "LAG", "SLA", "RATIO", "PARTITIONS", "CHECKPOINT"});
  for (const PipelineReport& report : reports) {
    table.AddRow(
        {{report.pipeline, Colour::kBold},
         {std::string(freshness::PipelineStatusName(report.status)), ColourOf(report.status)},
         {LagText(report.lag, report.lag_is_lower_bound), Colour::kPlain, true},
         {FormatDuration(report.sla), Colour::kPlain, true},
         {report.sla_ratio ? fmt::format("{:.2f}", *report.sla_ratio) : "-", Colour::kPlain, true},
         {CountsText(report.counts)},
         {CheckpointText(report)}});
    if (!report.message.empty()) table.AddNote(report.message);
    AddFindings(table, report.findings);
  }
  std::string out = table.Render(terminal);
  if (!with_partitions) return out;
  for (const PipelineReport& report : reports) {
    if (report.partitions.empty()) continue;
    out += "\n" + Paint(terminal, Colour::kBold, Printable(report.pipeline)) + "\n";
    out += PartitionTable(report, terminal);
  }
  return out;
}

}  // namespace tidemark::cli
