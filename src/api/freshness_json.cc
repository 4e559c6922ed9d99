#include "api/freshness_json.h"

#include <optional>
#include <string_view>

#include "api/findings_json_internal.h"
#include "api/json_writer_internal.h"
#include "base/number_text.h"

namespace tidemark::api {

namespace {

using freshness::PartitionVerdict;
using freshness::PipelineReport;

/// Null for a record nobody stamped.
std::optional<std::string> TimestampTypeName(kafka::TimestampType type) {
  switch (type) {
    case kafka::TimestampType::kCreate: return "create";
    case kafka::TimestampType::kAppend: return "append";
    case kafka::TimestampType::kNone: return std::nullopt;
  }
  return std::nullopt;
}

void WriteCheckpoint(JsonWriter& json, const PipelineReport& report) {
  json.Key("checkpoint");
  if (!report.commit) {
    json.Null();
    return;
  }
  const lake::CommitPoint& commit = *report.commit;
  json.BeginObject();
  json.Key("instant").Text(commit.instant);
  json.Key("action").Text(commit.action);
  json.Key("completion_time").TextOrNull(commit.completion);
  json.Key("key").Text(commit.checkpoint.key);
  json.Key("value").Text(commit.checkpoint.value);
  json.Key("commit_depth").Integer(commit.commit_depth);
  json.Key("commit_age_seconds").SecondsOrNull(report.commit_age);
  json.Key("committed_at").TimeOrNull(commit.committed_at);
  json.Key("archived").Bool(commit.is_archived);
  json.Key("last_change_age_seconds").SecondsOrNull(report.last_change_age);
  json.EndObject();
}

void WriteCounts(JsonWriter& json, const freshness::PartitionCounts& counts) {
  json.Key("partitions").BeginObject();
  json.Key("total").Integer(counts.total);
  json.Key("fresh").Integer(counts.fresh);
  json.Key("lagging").Integer(counts.lagging);
  json.Key("lost").Integer(counts.lost);
  json.Key("blocked").Integer(counts.blocked);
  json.Key("ahead").Integer(counts.ahead);
  json.Key("unknown").Integer(counts.unknown);
  json.EndObject();
}

void WriteOldest(JsonWriter& json, const std::optional<freshness::OldestRecord>& oldest) {
  json.Key("oldest");
  if (!oldest) {
    json.Null();
    return;
  }
  json.BeginObject();
  json.Key("topic").Text(oldest->partition.topic);
  json.Key("partition").Integer(int64_t{oldest->partition.partition});
  json.Key("offset").Integer(oldest->offset);
  json.Key("timestamp_ms");
  if (oldest->timestamp_ms < 0) {
    json.Null();
  } else {
    json.Integer(oldest->timestamp_ms);
  }
  json.Key("timestamp_type").TextOrNull(TimestampTypeName(oldest->timestamp_type));
  json.EndObject();
}

void WritePartition(JsonWriter& json, const PartitionVerdict& partition) {
  json.BeginObject();
  json.Key("topic").Text(partition.partition.topic);
  json.Key("partition").Integer(int64_t{partition.partition.partition});
  json.Key("verdict").Text(VerdictName(partition.verdict));
  json.Key("reason").TextOrNull(partition.reason);
  json.Key("committed").IntegerOrNull(partition.committed);
  json.Key("log_start").IntegerOrNull(partition.log_start);
  json.Key("end").IntegerOrNull(partition.end);
  json.Key("first_uncommitted").IntegerOrNull(partition.first_uncommitted);
  json.Key("timestamp_ms").IntegerOrNull(partition.timestamp_ms);
  json.Key("lag_seconds").SecondsOrNull(partition.lag);
  json.Key("timestamp_type").TextOrNull(TimestampTypeName(partition.timestamp_type));
  json.Key("lag_is_lower_bound").Bool(partition.lag_is_lower_bound);
  json.Key("lag_is_arrival_bound").Bool(partition.is_arrival_bound);
  json.Key("blocked_age_seconds").SecondsOrNull(partition.blocked_age);
  json.Key("uncommitted_records").IntegerOrNull(partition.uncommitted_records);
  json.Key("lost_records").Integer(partition.lost_records);
  json.Key("retention_margin_records").IntegerOrNull(partition.retention_margin_records);
  json.Key("retention_margin_seconds").SecondsOrNull(partition.retention_margin);
  json.EndObject();
}

void WritePipeline(JsonWriter& json, const PipelineReport& report, bool with_partitions) {
  json.BeginObject();
  json.Key("pipeline").Text(report.pipeline);
  json.Key("table").Text(report.table);
  json.Key("mode").Text(ModeName(report.mode));
  json.Key("labels").BeginObject();
  for (const auto& [name, value] : report.labels) json.Key(name).Text(value);
  json.EndObject();
  json.Key("status").Text(PipelineStatusName(report.status));
  json.Key("reason").Text(ReasonName(report.reason));
  json.Key("message").Text(report.message);
  json.Key("lag_seconds").SecondsOrNull(report.lag);
  json.Key("lag_is_lower_bound").Bool(report.lag_is_lower_bound);
  json.Key("sla_seconds").RawNumber(ShortSecondsText(report.sla));
  json.Key("sla_ratio").DecimalOrNull(report.sla_ratio);
  json.Key("sla_ratio_capped").DecimalOrNull(report.sla_ratio_capped);
  WriteCheckpoint(json, report);
  WriteCounts(json, report.counts);
  WriteOldest(json, report.oldest);
  json.Key("uncommitted_records").IntegerOrNull(report.uncommitted_records);
  json.Key("lost_records").IntegerOrNull(report.lost_records);
  json.Key("retention_margin_records").IntegerOrNull(report.retention_margin_records);
  json.Key("retention_margin_seconds").SecondsOrNull(report.retention_margin);
  json.Key("clock_skew_seconds").SecondsOrNull(report.clock_skew);
  if (with_partitions) {
    json.Key("partition_detail").BeginArray();
    for (const PartitionVerdict& partition : report.partitions) WritePartition(json, partition);
    json.EndArray();
  }
  json.Key("cluster").Text(report.cluster);
  json.Key("observed_at").Time(report.observed_at);
  json.Key("probe_duration_seconds").Seconds(report.probe_duration);
  WriteFindings(json, report.findings);
  json.EndObject();
}

}  // namespace

std::string FreshnessJson(std::span<const freshness::PipelineReport> reports,
                          const FreshnessJsonOptions& options) {
  JsonWriter json;
  json.BeginObject();
  json.Key("schema").Text("tidemark.freshness/1");
  json.Key("generated_at").Time(options.generated_at);
  json.Key("duration_seconds").Seconds(options.duration);
  json.Key("pipelines").BeginArray();
  for (const PipelineReport& report : reports) WritePipeline(json, report, options.with_partitions);
  json.EndArray();
  json.EndObject();
  return json.text();
}

}  // namespace tidemark::api
