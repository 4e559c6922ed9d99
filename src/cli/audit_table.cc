#include "cli/audit_table.h"

#include <fmt/format.h>

#include <string_view>

#include "base/utf8.h"

namespace tidemark::cli {
namespace {

using merge::Severity;

Colour ColourOf(Severity severity) {
  switch (severity) {
    case Severity::kError: return Colour::kRed;
    case Severity::kWarning: return Colour::kYellow;
    case Severity::kInfo: return Colour::kDim;
  }
  return Colour::kPlain;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string SideText(std::string_view name, const audit::Side& side) {
  std::string text = fmt::format("{}: {}", name, side.row_json.value_or("no row"));
  if (side.ordering && !side.row_json) text += fmt::format(" (deleted at {})", *side.ordering);
  return text;
}

std::string EvidenceText(const audit::Evidence& evidence) {
  if (evidence.op.empty()) return evidence.file;
  std::string text = fmt::format("{} at {} ({})", evidence.op, evidence.ordering.value_or("null"),
                                 evidence.ordering_type);
  if (!evidence.instant.empty()) text += fmt::format(" by {}", evidence.instant);
  text += evidence.file.empty() ? ", in no file" : fmt::format(" in {}", evidence.file);
  if (evidence.block) text += fmt::format(" block {}", *evidence.block);
  if (evidence.position) text += fmt::format(" record {}", *evidence.position);
  return text;
}

void AddFinding(TextTable& table, const audit::Finding& finding) {
  std::string place = finding.partition;
  if (!finding.file_group.empty()) place += (place.empty() ? "" : "/") + finding.file_group;
  table.AddRow({{std::string(SeverityName(finding.severity)), ColourOf(finding.severity)},
                {finding.kind},
                {finding.profile.empty() ? "-" : finding.profile},
                {finding.record_key.empty() ? "-" : finding.record_key},
                {place.empty() ? "-" : place}});
  if (finding.expected) table.AddNote(SideText("right", *finding.expected));
  if (finding.actual) {
    table.AddNote(SideText(finding.profile.empty() ? "written" : "shown", *finding.actual));
  }
  table.AddNote(finding.explanation);
  for (const auto& evidence : finding.evidence) table.AddNote("  " + EvidenceText(evidence));
}

}  // namespace

std::string AuditTable(const audit::Report& report, const Terminal& terminal) {
  const auto& summary = report.summary;
  std::string out = fmt::format(
      "{}\nas of {}, readers asked about: {}\n{} file groups, {} slices, {} keys, {} versions, "
      "{:.1f} MB in {:.1f} s\n",
      Printable(report.table), report.as_of.empty() ? "-" : report.as_of, Joined(report.profiles),
      summary.file_groups, summary.file_slices, summary.keys, summary.versions,
      static_cast<double>(summary.bytes_read) / 1e6, summary.seconds);
  if (summary.total() == 0) out += "no findings\n";
  for (const auto& [kind, count] : summary.findings) {
    out += fmt::format("  {:>8}  {}\n", count, kind);
  }
  if (!report.findings.empty()) {
    TextTable table({"SEVERITY", "KIND", "READER", "KEY", "FILE GROUP"});
    for (const auto& finding : report.findings) AddFinding(table, finding);
    out += "\n" + table.Render(terminal);
  }
  if (report.findings.size() < summary.total()) {
    out += fmt::format("{} of {} findings are listed (--limit)\n", report.findings.size(),
                       summary.total());
  }
  for (const auto& unjudged : report.unjudged) {
    const std::string place = unjudged.file_group.empty()
                                  ? "the table"
                                  : fmt::format("{}/{}", unjudged.partition, unjudged.file_group);
    out += fmt::format("{}: {}: {}\n", Paint(terminal, Colour::kMagenta, "not judged"),
                       Printable(place), Printable(unjudged.reason));
  }
  if (!report.is_complete()) {
    out += Paint(terminal, Colour::kMagenta,
                 "The audit is not complete: something could not be read or judged.\n");
  }
  return out;
}

}  // namespace tidemark::cli
