#include "api/audit_json.h"

#include "api/audit_report_internal.h"
#include "api/json_writer_internal.h"

namespace tidemark::api {
namespace {

using audit::Evidence;
using audit::Finding;
using merge::Severity;

JsonWriter& TextOrNull(JsonWriter& json, const std::string& text) {
  return text.empty() ? json.Null() : json.Text(text);
}

void WriteSummary(JsonWriter& json, const audit::Report& report) {
  const audit::Summary& summary = report.summary;
  const auto number = [&](std::string_view key, uint64_t value) {
    json.Key(key).Integer(static_cast<int64_t>(value));
  };
  json.Key("summary").BeginObject();
  number("file_slices", summary.file_slices);
  number("keys", summary.keys);
  number("versions", summary.versions);
  number("bytes_read", summary.bytes_read);
  json.Key("seconds").Decimal(summary.seconds);
  json.Key("findings").BeginObject();
  for (const auto& [kind, count] : summary.findings) number(kind, count);
  json.EndObject();
  number("file_groups", summary.file_groups);
  json.Key("severities").BeginObject();
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kInfo}) {
    number(SeverityName(severity), summary.by_severity[static_cast<size_t>(severity)]);
  }
  json.EndObject();
  number("listed", report.findings.size());
  number("damages", summary.damages);
  json.Key("complete").Bool(report.is_complete());
  json.EndObject();
}

void WriteSide(JsonWriter& json, std::string_view key, const std::optional<audit::Side>& side,
               bool has_text_rows) {
  json.Key(key);
  if (!side) {
    json.Null();
    return;
  }
  json.BeginObject().Key("row");
  if (!side->row_json) {
    json.Null();
  } else if (has_text_rows) {
    json.Text(*side->row_json);
  } else {
    json.Raw(*side->row_json);
  }
  json.Key("ordering").TextOrNull(side->ordering);
  json.EndObject();
}

void WriteEvidence(JsonWriter& json, const Evidence& evidence) {
  json.BeginObject();
  TextOrNull(json.Key("file"), evidence.file);
  json.Key("block").IntegerOrNull(evidence.block);
  json.Key("position").IntegerOrNull(evidence.position);
  TextOrNull(json.Key("instant"), evidence.instant);
  TextOrNull(json.Key("op"), evidence.op);
  if (evidence.op.empty()) {
    json.Key("ordering").Null().Key("ordering_type").Null();
  } else {
    json.Key("ordering").TextOrNull(evidence.ordering);
    json.Key("ordering_type").Text(evidence.ordering_type);
  }
  json.EndObject();
}

void WriteFinding(JsonWriter& json, const Finding& finding, bool has_text_rows) {
  json.BeginObject();
  json.Key("kind").Text(finding.kind);
  json.Key("severity").Text(SeverityName(finding.severity));
  TextOrNull(json.Key("profile"), finding.profile);
  // A table without partitions has one whose path is empty.
  if (finding.file_group.empty()) {
    json.Key("partition").Null();
  } else {
    json.Key("partition").Text(finding.partition);
  }
  TextOrNull(json.Key("file_group"), finding.file_group);
  TextOrNull(json.Key("record_key"), finding.record_key);
  WriteSide(json, "expected", finding.expected, has_text_rows);
  WriteSide(json, "actual", finding.actual, has_text_rows);
  json.Key("evidence").BeginArray();
  for (const Evidence& evidence : finding.evidence) WriteEvidence(json, evidence);
  json.EndArray();
  json.Key("explanation").Text(finding.explanation);
  json.Key("repairable").Bool(finding.is_repairable);
  json.Key("rests_on_history").Bool(finding.rests_on_history);
  TextOrNull(json.Key("made_permanent_by"), finding.made_permanent_by);
  json.EndObject();
}

}  // namespace

std::string ReportJson(std::string_view schema, const audit::Report& report, bool has_text_rows) {
  JsonWriter json;
  json.BeginObject();
  json.Key("schema").Text(schema);
  json.Key("table").Text(report.table);
  json.Key("profiles").BeginArray();
  for (const auto& profile : report.profiles) json.Text(profile);
  json.EndArray();
  TextOrNull(json.Key("as_of"), report.as_of);
  if (has_text_rows) {
    json.Key("task").Integer(static_cast<int64_t>(report.task));
    json.Key("tasks").Integer(static_cast<int64_t>(report.tasks));
    json.Key("replaces").BeginArray();
    for (const uint64_t task : report.replaces) json.Integer(static_cast<int64_t>(task));
    json.EndArray();
  }
  WriteSummary(json, report);
  json.Key("findings").BeginArray();
  for (const Finding& finding : report.findings) WriteFinding(json, finding, has_text_rows);
  json.EndArray();
  json.Key("unjudged").BeginArray();
  for (const auto& unjudged : report.unjudged) {
    json.BeginObject();
    json.Key("partition").Text(unjudged.partition);
    TextOrNull(json.Key("file_group"), unjudged.file_group);
    json.Key("reason").Text(unjudged.reason);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.text();
}

std::string AuditJson(const audit::Report& report) {
  return ReportJson(kAuditSchema, report, false);
}

}  // namespace tidemark::api
