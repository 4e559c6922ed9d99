#include "metrics/freshness_exposition.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/number_text.h"

namespace tidemark::metrics {

namespace {

using freshness::PartitionVerdict;
using freshness::PipelineReport;
using freshness::PipelineStatus;
using freshness::Verdict;

constexpr std::string_view kTrue = "1";
constexpr std::string_view kFalse = "0";

std::string_view BoolText(bool value) {
  return value ? kTrue : kFalse;
}

constexpr std::string_view kPrefix = "tidemark_freshness_";
constexpr std::array<std::string_view, 10> kOurLabels = {
    "pipeline", "cluster", "table",     "status", "reason",
    "verdict",  "topic",   "partition", "group",  "cluster_name"};

/// Names that our own labels have, or that Prometheus keeps for itself.
bool IsReserved(std::string_view name) {
  return name.starts_with("__") || std::ranges::find(kOurLabels, name) != kOurLabels.end();
}

/// The pipeline's own labels under names that are valid and unique.
Labels OwnLabels(const PipelineReport& report) {
  Labels labels;
  std::set<std::string> used;
  for (const auto& [key, value] : report.labels) {
    std::string name = LabelName(key);
    if (IsReserved(name)) name = "label_" + name;
    while (!used.insert(name).second) name += '_';
    labels.emplace_back(std::move(name), value);
  }
  return labels;
}

Labels LabelsOf(const PipelineReport& report) {
  Labels labels = {
      {"pipeline", report.pipeline}, {"cluster", report.cluster}, {"table", report.table}};
  std::ranges::move(OwnLabels(report), std::back_inserter(labels));
  return labels;
}

Labels With(Labels labels, std::string name, std::string_view value) {
  labels.emplace_back(std::move(name), value);
  return labels;
}

std::optional<std::string> Seconds(const std::optional<Milliseconds>& duration) {
  if (!duration) return std::nullopt;
  return ShortSecondsText(*duration);
}
std::optional<std::string> Number(const std::optional<int64_t>& count) {
  if (!count) return std::nullopt;
  return std::to_string(*count);
}
std::optional<std::string> Decimal(const std::optional<double>& number) {
  if (!number) return std::nullopt;
  return DecimalText(*number);
}

std::optional<std::string> Breach(const PipelineReport& report) {
  switch (report.status) {
    case PipelineStatus::kBreach: return std::string(kTrue);
    case PipelineStatus::kFresh:
    case PipelineStatus::kWarning: return std::string(kFalse);
    case PipelineStatus::kUnknown:
    case PipelineStatus::kDisabled: return std::nullopt;
  }
  std::unreachable();
}

std::optional<std::string> OldestStamp(const PipelineReport& report) {
  if (!report.oldest || report.oldest->is_arrival_bound || report.oldest->timestamp_ms < 0)
    return std::nullopt;
  return ShortSecondsText(Milliseconds(report.oldest->timestamp_ms));
}

std::optional<std::string> LastSuccess(const PipelineReport& report) {
  if (report.last_success) return ShortSecondsText(report.last_success->time_since_epoch());
  const bool is_judged = report.status != PipelineStatus::kUnknown &&
                         (report.status != PipelineStatus::kDisabled || report.lag);
  if (!is_judged) return std::nullopt;
  return ShortSecondsText(report.observed_at.time_since_epoch());
}

/// The one number a family shows of a report; families with a label of their own are not here.
struct PipelineNumber {
  std::string_view family;
  std::function<std::optional<std::string>(const PipelineReport&)> value;
};

const std::vector<PipelineNumber>& PipelineNumbers() {
  using R = PipelineReport;
  static const std::vector<PipelineNumber> numbers = {
      {"breach", Breach},
      {"lag_seconds", [](const R& r) { return Seconds(r.lag); }},
      {"lag_lower_bound",
       [](const R& r) {
         return r.lag ? std::optional<std::string>(BoolText(r.lag_is_lower_bound)) : std::nullopt;
       }},
      {"sla_seconds", [](const R& r) { return Seconds(r.sla); }},
      {"sla_ratio", [](const R& r) { return Decimal(r.sla_ratio); }},
      {"sla_ratio_capped", [](const R& r) { return Decimal(r.sla_ratio_capped); }},
      {"oldest_message_timestamp_seconds", OldestStamp},
      {"uncommitted_records", [](const R& r) { return Number(r.uncommitted_records); }},
      {"lost_records", [](const R& r) { return Number(r.lost_records); }},
      {"retention_margin_records", [](const R& r) { return Number(r.retention_margin_records); }},
      {"retention_margin_seconds", [](const R& r) { return Seconds(r.retention_margin); }},
      {"commit_depth",
       [](const R& r) { return r.commit ? Number(r.commit->commit_depth) : std::nullopt; }},
      {"commit_age_seconds", [](const R& r) { return Seconds(r.commit_age); }},
      {"offsets_age_seconds", [](const R& r) { return Seconds(r.last_change_age); }},
      {"clock_skew_seconds", [](const R& r) { return Seconds(r.clock_skew); }},
      {"probe_duration_seconds",
       [](const R& r) {
         return r.probe_duration.count() > 0 ? Seconds(r.probe_duration) : std::nullopt;
       }},
      {"last_success_timestamp_seconds", LastSuccess},
  };
  return numbers;
}

void WriteStatus(TextExposition& out, const PipelineReport& report) {
  for (const PipelineStatus status :
       {PipelineStatus::kFresh, PipelineStatus::kWarning, PipelineStatus::kBreach,
        PipelineStatus::kUnknown, PipelineStatus::kDisabled})
    out.Sample(With(LabelsOf(report), "status", PipelineStatusName(status)),
               BoolText(report.status == status));
}

void WriteCounts(TextExposition& out, const PipelineReport& report) {
  const freshness::PartitionCounts& counts = report.counts;
  if (counts.total == 0) return;
  const std::pair<std::string_view, int64_t> rows[] = {
      {"fresh", counts.fresh},     {"lagging", counts.lagging}, {"lost", counts.lost},
      {"blocked", counts.blocked}, {"ahead", counts.ahead},     {"unknown", counts.unknown}};
  for (const auto& [verdict, count] : rows)
    out.Sample(With(LabelsOf(report), "verdict", verdict), std::to_string(count));
}

void WritePipelineFamily(TextExposition& out, const Family& family, const PipelineReport& report) {
  const std::string_view name = family.name.substr(kPrefix.size());
  if (name == "status") return WriteStatus(out, report);
  if (name == "partitions") return WriteCounts(out, report);
  if (name == "reason")
    return out.Sample(With(LabelsOf(report), "reason", ReasonName(report.reason)), kTrue);
  const auto number = std::ranges::find(PipelineNumbers(), name, &PipelineNumber::family);
  CHECK(number != PipelineNumbers().end(), std::string(family.name));
  if (const auto value = number->value(report)) out.Sample(LabelsOf(report), *value);
}

/// A loss that is proved, or a proof that there is none.
std::optional<int64_t> LostRecords(const PartitionVerdict& partition) {
  const bool is_decided =
      partition.verdict != Verdict::kUnknown && partition.verdict != Verdict::kAhead;
  if (partition.lost_records > 0 || (is_decided && partition.log_start))
    return partition.lost_records;
  return std::nullopt;
}

void WritePartitionFamily(TextExposition& out, const Family& family, const PipelineReport& report) {
  const Labels base = LabelsOf(report);
  for (const PartitionVerdict& partition : report.partitions) {
    std::optional<std::string> value;
    if (family.name.ends_with("_lag_seconds")) value = Seconds(partition.lag);
    if (family.name.ends_with("_uncommitted_records"))
      value = Number(partition.uncommitted_records);
    if (family.name.ends_with("_lost_records")) value = Number(LostRecords(partition));
    if (!value) continue;
    out.Sample(With(With(base, "topic", partition.partition.topic), "partition",
                    std::to_string(partition.partition.partition)),
               *value);
  }
}

/// Greatest count of records waiting in one partition; absent when any of them is.
std::optional<int64_t> MaxUncommitted(const PipelineReport& report) {
  std::optional<int64_t> most;
  for (const PartitionVerdict& partition : report.partitions) {
    if (!partition.uncommitted_records) return std::nullopt;
    most = std::max(most.value_or(0), *partition.uncommitted_records);
  }
  return most;
}

void WriteCompatibilityFamily(TextExposition& out, const Family& family,
                              const PipelineReport& report) {
  Labels base = {{"cluster_name", report.cluster}, {"group", report.pipeline}};
  std::ranges::move(OwnLabels(report), std::back_inserter(base));
  const bool is_time = family.name.ends_with("_seconds");
  if (family.name.contains("_max_")) {
    const auto value = is_time ? Seconds(report.lag) : Number(MaxUncommitted(report));
    if (value) out.Sample(base, *value);
    return;
  }
  for (const PartitionVerdict& partition : report.partitions) {
    const auto value = is_time ? Seconds(partition.lag) : Number(partition.uncommitted_records);
    if (!value) continue;
    out.Sample(With(With(base, "topic", partition.partition.topic), "partition",
                    std::to_string(partition.partition.partition)),
               *value);
  }
}

}  // namespace

std::string FreshnessExposition(std::span<const freshness::PipelineReport> reports,
                                const FreshnessExpositionOptions& options) {
  TextExposition out(options.format);
  const auto write = [&](FamilyGroup group, auto write_one) {
    for (const Family& family : FamiliesOf(group)) {
      out.Begin(family);
      for (const PipelineReport& report : reports) write_one(out, family, report);
    }
  };
  write(FamilyGroup::kPipeline, WritePipelineFamily);
  if (options.with_partitions) write(FamilyGroup::kPartition, WritePartitionFamily);
  if (options.with_compatibility) write(FamilyGroup::kCompatibility, WriteCompatibilityFamily);
  return std::move(out).Finish();
}

}  // namespace tidemark::metrics
