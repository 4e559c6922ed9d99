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

void WriteTextOrNull(JsonWriter& json, std::string_view key, const std::string& text) {
  json.Key(key);
  text.empty() ? json.Null() : json.Text(text);
}

void WriteCatalogTable(JsonWriter& json, const ReconciledCatalogTable& table) {
  json.BeginObject();
  json.Key("database").Text(table.database);
  json.Key("table").Text(table.table);
  json.Key("agreement").Text(AgreementName(table.agreement));
  WriteTextOrNull(json, "message", table.message);
  json.Key("there").Bool(table.is_there);
  json.Key("epoch");
  table.stamp ? json.Integer(table.stamp->first) : json.Null();
  json.Key("seq");
  table.stamp ? json.Integer(table.stamp->second) : json.Null();
  WritePaths(json, "missing_count", "missing_partitions", table.missing);
  WritePaths(json, "surplus_count", "surplus_partitions", table.surplus);
  WritePaths(json, "difference_count", "differences", table.differences);
  json.EndObject();
}

void WriteSink(JsonWriter& json, const ReconciledSink& sink) {
  json.BeginObject();
  json.Key("sink").Text(sink.sink);
  json.Key("kind").Text(sink.kind);
  json.Key("agreement").Text(AgreementName(AgreementOf(sink)));
  WriteTextOrNull(json, "message", sink.failure ? sink.failure->message : "");
  json.Key("tables").BeginArray();
  for (const auto& table : sink.tables) WriteCatalogTable(json, table);
  json.EndArray().EndObject();
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
  json.Key("sinks").BeginArray();
  for (const auto& sink : table.sinks) WriteSink(json, sink);
  json.EndArray();
  json.EndObject();
}

}  // namespace

change::Agreement WorseOf(change::Agreement a, change::Agreement b) {
  using enum change::Agreement;
  constexpr change::Agreement kRanks[] = {kEqual, kBehind, kUnknown, kDifferent};
  return std::max(a, b, [&](change::Agreement one, change::Agreement other) {
    return std::ranges::find(kRanks, one) < std::ranges::find(kRanks, other);
  });
}

change::Agreement AgreementOf(const ReconciledSink& sink) {
  if (sink.failure || sink.tables.empty()) return change::Agreement::kUnknown;
  auto worst = change::Agreement::kEqual;
  for (const auto& table : sink.tables) worst = WorseOf(worst, table.agreement);
  return worst;
}

change::Agreement AgreementOf(const ReconciledTable& table) {
  auto worst = table.found.agreement;
  for (const auto& sink : table.sinks) worst = WorseOf(worst, AgreementOf(sink));
  return worst;
}

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
