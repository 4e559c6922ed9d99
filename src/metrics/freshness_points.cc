#include "metrics/freshness_points.h"

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
constexpr std::string_view kLeftOut = "tidemark_freshness_partitions_left_out";
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

/// Points of one family as they come in.
class Adder {
 public:
  Adder(Points& points, const Family& family) : points_(points), family_(family) {}
  void Add(Labels labels, std::string_view value) {
    points_.push_back({&family_, std::move(labels), std::string(value)});
  }

 private:
  Points& points_;
  const Family& family_;
};

/// A report with what its points share.
struct Subject {
  const PipelineReport& report;
  Labels labels;          ///< pipeline, cluster, table and its own
  Labels compatible;      ///< cluster_name, group and its own
  size_t partitions = 0;  ///< the first so many get series of their own
};

Subject SubjectOf(const PipelineReport& report) {
  Labels labels = {
      {"pipeline", report.pipeline}, {"cluster", report.cluster}, {"table", report.table}};
  Labels compatible = {{"cluster_name", report.cluster}, {"group", report.pipeline}};
  for (const auto& own : OwnLabels(report)) {
    labels.push_back(own);
    compatible.push_back(own);
  }
  return {report, std::move(labels), std::move(compatible)};
}

void AddStatus(Adder& out, const Subject& subject) {
  for (const PipelineStatus status :
       {PipelineStatus::kFresh, PipelineStatus::kWarning, PipelineStatus::kBreach,
        PipelineStatus::kUnknown, PipelineStatus::kDisabled})
    out.Add(With(subject.labels, "status", PipelineStatusName(status)),
            BoolText(subject.report.status == status));
}

void AddCounts(Adder& out, const Subject& subject) {
  const freshness::PartitionCounts& counts = subject.report.counts;
  if (counts.total == 0) return;
  const std::pair<std::string_view, int64_t> rows[] = {
      {"fresh", counts.fresh},     {"lagging", counts.lagging}, {"lost", counts.lost},
      {"blocked", counts.blocked}, {"ahead", counts.ahead},     {"unknown", counts.unknown}};
  for (const auto& [verdict, count] : rows)
    out.Add(With(subject.labels, "verdict", verdict), std::to_string(count));
}

void AddPipelineFamily(Points& points, const Family& family, const Subject& subject) {
  Adder out(points, family);
  const std::string_view name = family.name.substr(kPrefix.size());
  if (name == "status") return AddStatus(out, subject);
  if (name == "partitions") return AddCounts(out, subject);
  if (name == "reason")
    return out.Add(With(subject.labels, "reason", ReasonName(subject.report.reason)), kTrue);
  const auto number = std::ranges::find(PipelineNumbers(), name, &PipelineNumber::family);
  CHECK(number != PipelineNumbers().end(), std::string(family.name));
  if (const auto value = number->value(subject.report)) out.Add(subject.labels, *value);
}

/// A loss that is proved, or a proof that there is none.
std::optional<int64_t> LostRecords(const PartitionVerdict& partition) {
  const bool is_decided =
      partition.verdict != Verdict::kUnknown && partition.verdict != Verdict::kAhead;
  if (partition.lost_records > 0 || (is_decided && partition.log_start))
    return partition.lost_records;
  return std::nullopt;
}

Labels OfPartition(const Labels& base, const PartitionVerdict& partition) {
  return With(With(base, "topic", partition.partition.topic), "partition",
              std::to_string(partition.partition.partition));
}

std::span<const PartitionVerdict> ShownPartitions(const Subject& subject) {
  return std::span(subject.report.partitions).first(subject.partitions);
}

void AddPartitionFamily(Points& points, const Family& family, const Subject& subject) {
  Adder out(points, family);
  for (const PartitionVerdict& partition : ShownPartitions(subject)) {
    std::optional<std::string> value;
    if (family.name.ends_with("_lag_seconds")) value = Seconds(partition.lag);
    if (family.name.ends_with("_uncommitted_records"))
      value = Number(partition.uncommitted_records);
    if (family.name.ends_with("_lost_records")) value = Number(LostRecords(partition));
    if (value) out.Add(OfPartition(subject.labels, partition), *value);
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

void AddCompatibilityFamily(Points& points, const Family& family, const Subject& subject) {
  Adder out(points, family);
  const bool is_time = family.name.ends_with("_seconds");
  if (family.name.contains("_max_")) {
    const auto value =
        is_time ? Seconds(subject.report.lag) : Number(MaxUncommitted(subject.report));
    if (value) out.Add(subject.compatible, *value);
    return;
  }
  for (const PartitionVerdict& partition : ShownPartitions(subject)) {
    const auto value = is_time ? Seconds(partition.lag) : Number(partition.uncommitted_records);
    if (value) out.Add(OfPartition(subject.compatible, partition), *value);
  }
}

}  // namespace

Points FreshnessPoints(std::span<const freshness::PipelineReport> reports,
                       const FreshnessPointsOptions& options) {
  std::vector<Subject> subjects;
  size_t room = options.partitions_max;
  size_t left_out = 0;
  for (const PipelineReport& report : reports) {
    Subject& subject = subjects.emplace_back(SubjectOf(report));
    subject.partitions = std::min(room, report.partitions.size());
    room -= subject.partitions;
    left_out += report.partitions.size() - subject.partitions;
  }
  Points points;
  const auto add = [&](FamilyGroup group, auto add_one) {
    for (const Family& family : FamiliesOf(group)) {
      if (family.name == kLeftOut) {
        points.push_back({&family, {}, std::to_string(left_out)});
        continue;
      }
      for (const Subject& subject : subjects) add_one(points, family, subject);
    }
  };
  add(FamilyGroup::kPipeline, AddPipelineFamily);
  if (options.with_partitions) add(FamilyGroup::kPartition, AddPartitionFamily);
  if (options.with_compatibility) add(FamilyGroup::kCompatibility, AddCompatibilityFamily);
  return points;
}

}  // namespace tidemark::metrics
