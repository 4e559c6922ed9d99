#include "api/sources_json.h"

#include <chrono>
#include <string_view>

#include "api/json_writer_internal.h"
#include "freshness/judge.h"

namespace tidemark::api {

namespace {

using freshness::PipelineReport;
using freshness::PipelineStatus;

std::string UniqueId(const PipelineReport& report) {
  const std::string cluster = report.cluster.empty() ? "default" : report.cluster;
  return "source.tidemark." + cluster + "." + report.pipeline;
}

std::string_view StatusWord(PipelineStatus status) {
  switch (status) {
    case PipelineStatus::kFresh: return "pass";
    case PipelineStatus::kWarning: return "warn";
    case PipelineStatus::kBreach: return "error";
    case PipelineStatus::kUnknown:
    case PipelineStatus::kDisabled: return "runtime error";
  }
  return "runtime error";
}

/// A limit in the largest unit that holds it whole; at least one minute.
void WriteLimit(JsonWriter& json, std::string_view key, Milliseconds limit) {
  using std::chrono::minutes;
  const minutes whole = std::max(std::chrono::ceil<minutes>(limit), minutes(1));
  const bool is_days = whole % std::chrono::days(1) == minutes(0);
  const bool is_hours = whole % std::chrono::hours(1) == minutes(0);
  const int64_t unit = is_days ? 24 * 60 : is_hours ? 60 : 1;
  json.Key(key).BeginObject();
  json.Key("count").Integer(int64_t{whole.count()} / unit);
  json.Key("period").Text(is_days ? "day" : is_hours ? "hour" : "minute");
  json.EndObject();
}

void WriteCriteria(JsonWriter& json, Milliseconds sla) {
  const auto warning =
      static_cast<int64_t>(static_cast<double>(sla.count()) * freshness::kWarningRatio);
  json.Key("criteria").BeginObject();
  WriteLimit(json, "warn_after", Milliseconds(warning));
  WriteLimit(json, "error_after", sla);
  json.Key("filter").Null();
  json.EndObject();
}

void WriteResult(JsonWriter& json, const PipelineReport& report) {
  json.BeginObject();
  json.Key("unique_id").Text(UniqueId(report));
  if (!report.lag || report.status == PipelineStatus::kUnknown) {
    json.Key("error").Text(report.message);
    json.Key("status").Text("runtime error");
    json.EndObject();
    return;
  }
  json.Key("max_loaded_at").Time(report.observed_at - *report.lag);
  json.Key("snapshotted_at").Time(report.observed_at);
  json.Key("max_loaded_at_time_ago_in_s").Seconds(*report.lag);
  json.Key("status").Text(StatusWord(report.status));
  WriteCriteria(json, report.sla);
  json.Key("adapter_response").BeginObject().EndObject();
  json.Key("timing").BeginArray().EndArray();
  json.Key("thread_id").Text("main");
  json.Key("execution_time").Seconds(report.probe_duration);
  json.EndObject();
}

}  // namespace

std::string SourcesJson(std::span<const freshness::PipelineReport> reports, WallTime generated_at,
                        Milliseconds duration) {
  JsonWriter json;
  json.BeginObject();
  json.Key("metadata").BeginObject();
  json.Key("dbt_schema_version").Text("https://schemas.getdbt.com/dbt/sources/v3.json");
  json.Key("generated_at").Time(generated_at);
  json.Key("invocation_id").Null();
  json.Key("env").BeginObject().EndObject();
  json.EndObject();
  json.Key("results").BeginArray();
  for (const PipelineReport& report : reports)
    if (report.status != PipelineStatus::kDisabled) WriteResult(json, report);
  json.EndArray();
  json.Key("elapsed_time").Seconds(duration);
  json.EndObject();
  return json.text();
}

}  // namespace tidemark::api
