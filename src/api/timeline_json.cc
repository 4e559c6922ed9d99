#include "api/timeline_json.h"

#include "api/findings_json_internal.h"
#include "api/json_writer_internal.h"

namespace tidemark::api {

namespace {

using lake::hudi::Action;
using lake::hudi::Instant;
using lake::hudi::TableType;

std::string_view TableTypeName(TableType type) {
  return type == TableType::kMergeOnRead ? "MERGE_ON_READ" : "COPY_ON_WRITE";
}

void WriteInstant(JsonWriter& json, const Instant& instant) {
  json.BeginObject();
  json.Key("requested").Text(instant.requested);
  json.Key("completed").TextOrNull(instant.completed);
  json.Key("action").Text(instant.action == Action::kUnknown ? std::string_view(instant.action_name)
                                                             : ActionName(instant.action));
  json.Key("state").Text(StateName(instant.state));
  json.Key("operation").TextOrNull(instant.operation);
  json.Key("archived").Bool(instant.is_archived);
  json.Key("file").Text(instant.file);
  json.Key("planned_as");
  if (instant.planned_as) {
    json.Text(ActionName(*instant.planned_as));
  } else {
    json.Null();
  }
  json.EndObject();
}

}  // namespace

std::string TimelineJson(std::string_view table, const lake::hudi::TableProperties& properties,
                         const lake::hudi::Timeline& timeline) {
  JsonWriter json;
  json.BeginObject();
  json.Key("schema").Text("tidemark.timeline/1");
  json.Key("table").Text(table);
  json.Key("table_type").Text(TableTypeName(properties.type));
  json.Key("table_version").Integer(int64_t{properties.version});
  json.Key("layout").Integer(int64_t{properties.layout});
  json.Key("instants").BeginArray();
  for (const Instant& instant : timeline.instants) WriteInstant(json, instant);
  json.EndArray();
  json.Key("ignored_files").Integer(static_cast<int64_t>(timeline.ignored_files));
  WriteFindings(json, timeline.findings);
  json.EndObject();
  return json.text();
}

}  // namespace tidemark::api
