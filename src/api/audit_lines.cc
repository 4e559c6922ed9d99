#include "api/audit_lines.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "api/audit_report_internal.h"
#include "api/json_writer_internal.h"

namespace tidemark::api {
namespace {

using nlohmann::json;

constexpr std::string_view kTaskSchema = "tidemark.audit_task/1";

/// Reads the members of one object; the first that is missing or of another kind is remembered.
class Members {
 public:
  Members(const json& object, std::string& mistake) : object_(object), mistake_(mistake) {
    if (!object.is_object()) Complain("", "object");
  }

  const json& Of(const char* name, json::value_t kind) const {
    static const json kNothing;
    const auto found = object_.is_object() ? object_.find(name) : object_.end();
    const bool is_there = object_.is_object() && found != object_.end();
    if (!is_there || (found->type() != kind && !IsNumber(*found, kind))) {
      Complain(name, json(kind).type_name());
      return kNothing;
    }
    return *found;
  }
  std::string Text(const char* name) const {
    const json& value = Of(name, json::value_t::string);
    return value.is_string() ? value.get<std::string>() : "";
  }
  /// null as "".
  std::string TextOrNull(const char* name) const { return OptionalText(name).value_or(""); }
  std::optional<std::string> OptionalText(const char* name) const {
    if (IsNull(name)) return std::nullopt;
    return Text(name);
  }
  uint64_t Number(const char* name) const {
    const json& value = Of(name, json::value_t::number_unsigned);
    return value.is_number_unsigned() ? value.get<uint64_t>() : 0;
  }
  std::optional<uint32_t> OptionalNumber(const char* name) const {
    if (IsNull(name)) return std::nullopt;
    return static_cast<uint32_t>(Number(name));
  }
  bool Flag(const char* name) const {
    const json& value = Of(name, json::value_t::boolean);
    return value.is_boolean() && value.get<bool>();
  }
  bool IsNull(const char* name) const {
    return object_.is_object() && object_.contains(name) && object_[name].is_null();
  }
  std::string& mistake() const { return mistake_; }

 private:
  static bool IsNumber(const json& value, json::value_t kind) {
    return kind == json::value_t::number_float && value.is_number();
  }
  void Complain(std::string_view name, std::string_view kind) const {
    if (mistake_.empty()) mistake_ = fmt::format("member={} wanted={}", name, kind);
  }

  const json& object_;
  std::string& mistake_;
};

Result<json> Parse(std::string_view line, std::string_view schema) {
  json object = json::parse(line, nullptr, false);
  if (object.is_discarded()) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("line is not JSON, or cut short, wanted={}", schema));
  }
  std::string mistake;
  const std::string found = Members(object, mistake).Text("schema");
  if (found != schema) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("line is of another schema, wanted={} found={}", schema, found));
  }
  return object;
}

std::vector<std::string> Texts(const json& array, std::string& mistake) {
  std::vector<std::string> texts;
  for (const json& item : array) {
    if (item.is_string()) {
      texts.push_back(item.get<std::string>());
    } else if (mistake.empty()) {
      mistake = "a list of text holds something else";
    }
  }
  return texts;
}

audit::Summary SummaryOf(const json& object, std::string& mistake) {
  const Members members(object, mistake);
  audit::Summary summary;
  summary.file_groups = members.Number("file_groups");
  summary.file_slices = members.Number("file_slices");
  summary.keys = members.Number("keys");
  summary.versions = members.Number("versions");
  summary.bytes_read = members.Number("bytes_read");
  const json& seconds = members.Of("seconds", json::value_t::number_float);
  if (seconds.is_number()) summary.seconds = seconds.get<double>();
  const json& kinds = members.Of("findings", json::value_t::object);
  for (const auto& [kind, count] : kinds.items()) {
    summary.findings[kind] = Members(kinds, mistake).Number(kind.c_str());
  }
  const Members severities(members.Of("severities", json::value_t::object), mistake);
  summary.by_severity = {severities.Number("info"), severities.Number("warning"),
                         severities.Number("error")};
  summary.damages = members.Number("damages");
  return summary;
}

std::optional<audit::Side> SideOf(const Members& finding, const char* name, std::string& mistake) {
  if (finding.IsNull(name)) return std::nullopt;
  const Members members(finding.Of(name, json::value_t::object), mistake);
  return audit::Side{members.OptionalText("row"), members.OptionalText("ordering")};
}

audit::Evidence EvidenceOf(const json& object, std::string& mistake) {
  const Members members(object, mistake);
  audit::Evidence evidence;
  evidence.file = members.TextOrNull("file");
  evidence.block = members.OptionalNumber("block");
  evidence.position = members.OptionalNumber("position");
  evidence.instant = members.TextOrNull("instant");
  evidence.op = members.TextOrNull("op");
  evidence.ordering = members.OptionalText("ordering");
  evidence.ordering_type = members.TextOrNull("ordering_type");
  return evidence;
}

merge::Severity SeverityOf(std::string_view word, std::string& mistake) {
  using merge::Severity;
  for (const Severity severity : {Severity::kInfo, Severity::kWarning, Severity::kError}) {
    if (SeverityName(severity) == word) return severity;
  }
  if (mistake.empty()) mistake = fmt::format("unknown severity={}", word);
  return Severity::kError;
}

audit::Finding FindingOf(const json& object, std::string& mistake) {
  const Members members(object, mistake);
  audit::Finding finding;
  finding.kind = members.Text("kind");
  finding.severity = SeverityOf(members.Text("severity"), mistake);
  finding.profile = members.TextOrNull("profile");
  finding.partition = members.TextOrNull("partition");
  finding.file_group = members.TextOrNull("file_group");
  finding.record_key = members.TextOrNull("record_key");
  finding.expected = SideOf(members, "expected", mistake);
  finding.actual = SideOf(members, "actual", mistake);
  for (const json& evidence : members.Of("evidence", json::value_t::array)) {
    finding.evidence.push_back(EvidenceOf(evidence, mistake));
  }
  finding.explanation = members.Text("explanation");
  finding.is_repairable = members.Flag("repairable");
  finding.rests_on_history = members.Flag("rests_on_history");
  finding.made_permanent_by = members.TextOrNull("made_permanent_by");
  return finding;
}

}  // namespace

std::string AuditTaskJson(const audit::AuditTask& task) {
  JsonWriter json;
  json.BeginObject();
  json.Key("schema").Text(kTaskSchema);
  json.Key("table").Text(task.table);
  json.Key("as_of").Text(task.as_of);
  json.Key("profiles").BeginArray();
  for (const auto& profile : task.profiles) json.Text(profile);
  json.EndArray();
  json.Key("engine").Text(task.engine == merge::Engine::kFlink ? "flink" : "spark");
  json.Key("where_partition").Text(task.partition_glob);
  json.Key("global_index").Bool(task.keys_are_global);
  json.Key("check").Text(task.part.is_of_table ? "table" : "file_group");
  json.Key("partition").Text(task.part.partition);
  json.Key("file_group").Text(task.part.file_group);
  json.Key("task").Integer(static_cast<int64_t>(task.number));
  json.Key("tasks").Integer(static_cast<int64_t>(task.count));
  json.EndObject();
  return json.text();
}

Result<audit::AuditTask> ParseAuditTask(std::string_view line) {
  TRY_ASSIGN(const json object, Parse(line, kTaskSchema));
  std::string mistake;
  const Members members(object, mistake);
  audit::AuditTask task;
  task.table = members.Text("table");
  task.as_of = members.Text("as_of");
  task.profiles = Texts(members.Of("profiles", json::value_t::array), mistake);
  const std::string engine = members.Text("engine");
  task.engine = engine == "spark" ? merge::Engine::kSpark : merge::Engine::kFlink;
  if (engine != "spark" && engine != "flink" && mistake.empty()) mistake = "unknown engine";
  task.partition_glob = members.Text("where_partition");
  task.keys_are_global = members.Flag("global_index");
  const std::string check = members.Text("check");
  task.part.is_of_table = check == "table";
  if (check != "table" && check != "file_group" && mistake.empty()) mistake = "unknown check";
  task.part.partition = members.Text("partition");
  task.part.file_group = members.Text("file_group");
  task.number = members.Number("task");
  task.count = members.Number("tasks");
  if (mistake.empty()) return task;
  return Fail(ErrorKind::kInvalidArgument, fmt::format("line is no audit task: {}", mistake));
}

std::string AuditPartJson(const audit::Report& report) {
  return ReportJson(kAuditPartSchema, report, true);
}

Result<audit::Report> ParseAuditPart(std::string_view line) {
  TRY_ASSIGN(const json object, Parse(line, kAuditPartSchema));
  std::string mistake;
  const Members members(object, mistake);
  audit::Report report;
  report.table = members.Text("table");
  report.profiles = Texts(members.Of("profiles", json::value_t::array), mistake);
  report.as_of = members.TextOrNull("as_of");
  report.task = members.Number("task");
  report.tasks = members.Number("tasks");
  report.summary = SummaryOf(members.Of("summary", json::value_t::object), mistake);
  for (const json& finding : members.Of("findings", json::value_t::array)) {
    report.findings.push_back(FindingOf(finding, mistake));
  }
  for (const json& task : members.Of("replaces", json::value_t::array)) {
    if (task.is_number_unsigned()) {
      report.replaces.push_back(task.get<uint64_t>());
    } else if (mistake.empty()) {
      mistake = "a task that is replaced has no number";
    }
  }
  for (const json& item : members.Of("unjudged", json::value_t::array)) {
    const Members unjudged(item, mistake);
    report.unjudged.push_back(
        {unjudged.Text("partition"), unjudged.TextOrNull("file_group"), unjudged.Text("reason")});
  }
  if (mistake.empty()) return report;
  return Fail(ErrorKind::kInvalidArgument,
              fmt::format("line is no report of an audit's part: {}", mistake));
}

}  // namespace tidemark::api
