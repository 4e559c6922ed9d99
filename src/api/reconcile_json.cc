#include "api/reconcile_json.h"

#include <algorithm>
#include <string_view>

#include "api/json_writer_internal.h"

namespace tidemark::api {

namespace {

void WritePaths(JsonWriter& json, std::string_view count_key, std::string_view key,
                const std::vector<std::string>& paths) {
  json.Key(count_key).Integer(static_cast<int64_t>(paths.size()));
  json.Key(key).BeginArray();
  for (size_t i = 0; i < std::min(paths.size(), kListedMax); ++i) json.Text(paths[i]);
  json.EndArray();
}

void WriteTable(JsonWriter& json, const ReconciledTable& table) {
  const auto& found = table.found;
  json.BeginObject();
  json.Key("table").Text(table.table);
  json.Key("uid").Text(table.uid);
  json.Key("agreement").Text(AgreementName(found.agreement));
  json.Key("message");
  table.failure ? json.Text(table.failure->message) : json.Null();
  json.Key("epoch").Integer(found.epoch);
  json.Key("told_seq").Integer(found.told_seq);
  json.Key("applied_seq").Integer(found.applied_seq);
  json.Key("schema_equal").Bool(found.is_schema_equal);
  WritePaths(json, "missing_count", "missing_partitions", found.missing);
  WritePaths(json, "surplus_count", "surplus_partitions", found.surplus);
  json.Key("untold_count").Integer(static_cast<int64_t>(found.untold.size()));
  json.Key("untold").BeginArray();
  for (size_t i = 0; i < std::min(found.untold.size(), kListedMax); ++i) {
    json.BeginObject().Key("requestedTime").Text(found.untold[i].requested);
    json.Key("action").Text(found.untold[i].action).EndObject();
  }
  json.EndArray();
  json.Key("lost_groups").BeginArray();
  for (const auto& [first, last] : found.holes)
    json.BeginObject().Key("first").Integer(first).Key("last").Integer(last).EndObject();
  json.EndArray();
  json.Key("repair_asked").Bool(table.is_repair_asked);
  json.EndObject();
}

}  // namespace

std::string ReconcileJson(std::span<const ReconciledTable> tables, WallTime now) {
  JsonWriter json;
  json.BeginObject();
  json.Key("schema").Text("tidemark.reconcile/1");
  json.Key("generated_at").Time(now);
  json.Key("tables").BeginArray();
  for (const auto& table : tables) WriteTable(json, table);
  json.EndArray();
  json.EndObject();
  return json.text();
}

}  // namespace tidemark::api
