// The verdict on a pipeline, from those on its partitions. The rules stand in docs/freshness.md.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/check.h"
#include "freshness/age_internal.h"
#include "freshness/checkpoint_internal.h"
#include "freshness/judge.h"
#include "freshness/message_internal.h"

namespace tidemark::freshness {

namespace {

// The contract's exit codes.
constexpr int kHealthyCode = 0;
constexpr int kWarningCode = 1;
constexpr int kBreachCode = 2;
constexpr int kUnknownCode = 3;

bool IsUndecided(const PartitionVerdict& verdict) {
  return verdict.verdict == Verdict::kUnknown || verdict.verdict == Verdict::kAhead;
}

/// What earlier runs saw that still counts.
PipelineMemory MemoryFor(PipelineMemory memory, const lake::SourceCheckpoint& checkpoint,
                         const kafka::ProbeResult& probe) {
  if (!memory.checkpoint_value.empty() && memory.checkpoint_value != checkpoint.value)
    LeaveCheckpoint(memory, probe);
  for (const kafka::PartitionFacts& facts : probe.partitions) TakeLeader(memory, facts);
  return memory;
}

/// Joins the checkpoint's partitions with what the probe saw, so that none is skipped silently.
class PartitionsJudge {
 public:
  PartitionsJudge(const PipelineSpec& spec, const kafka::ProbeResult& probe,
                  const PipelineMemory& memory, bool is_connect, WallTime now)
      : spec_(spec), probe_(probe), memory_(memory), is_connect_(is_connect), now_(now) {
    for (const kafka::PartitionFacts& facts : probe.partitions)
      facts_.emplace(facts.partition, &facts);
    is_other_cluster_ = !memory.cluster_id.empty() && !probe.cluster_id.empty() &&
                        memory.cluster_id != probe.cluster_id;
  }

  std::vector<PartitionVerdict> Judge(const std::vector<kafka::ProbeRequest::Topic>& topics) {
    std::vector<PartitionVerdict> verdicts;
    for (const kafka::ProbeRequest::Topic& asked : topics) {
      const kafka::TopicFacts topic = FindTopic(asked.name);
      std::map<kafka::PartitionId, std::optional<kafka::Offset>> committed;
      for (const auto& [partition, offset] : asked.committed) committed[partition] = offset;
      for (kafka::PartitionId p = 0; p < topic.partition_count; ++p) committed.try_emplace(p);
      auto reported = facts_.lower_bound({asked.name, 0});
      for (; reported != facts_.end() && reported->first.topic == asked.name; ++reported)
        committed.try_emplace(reported->first.partition);
      for (const auto& [partition, offset] : committed)
        verdicts.push_back(JudgeOne({asked.name, partition}, offset, topic));
    }
    std::ranges::sort(verdicts, {}, &PartitionVerdict::partition);
    return verdicts;
  }

 private:
  kafka::TopicFacts FindTopic(const std::string& name) const {
    const auto found = std::ranges::find(probe_.topics, name, &kafka::TopicFacts::topic);
    if (found != probe_.topics.end()) return *found;
    kafka::TopicFacts missing;
    missing.topic = name;
    missing.fault = kafka::ProbeFault::kOther;
    return missing;
  }

  PartitionVerdict JudgeOne(const kafka::TopicPartition& partition,
                            std::optional<kafka::Offset> committed,
                            const kafka::TopicFacts& topic) const {
    const auto found = facts_.find(partition);
    if (found == facts_.end()) {
      kafka::PartitionFacts nothing;
      nothing.partition = partition;
      nothing.committed = committed;
      if (topic.exists && partition.partition >= topic.partition_count)
        nothing.fault = kafka::ProbeFault::kPartitionMissing;
      return JudgePartition(nothing, topic, spec_.isolation, memory_, now_);
    }
    kafka::PartitionFacts facts = *found->second;
    if (facts.committed != committed) return Undecided(facts, "inconsistent_offsets");
    // Kafka Connect has no rule that starts an unseen partition at offset 0.
    const bool is_from_log_start = is_connect_ && !committed;
    if (is_from_log_start) facts.committed = facts.log_start;
    PartitionVerdict verdict = JudgePartition(facts, topic, spec_.isolation, memory_, now_);
    if (is_from_log_start) {
      verdict.committed.reset();
      if (!verdict.reason) verdict.reason = "not_in_checkpoint";
    }
    if (is_other_cluster_ && verdict.verdict != Verdict::kAhead)
      return Undecided(facts, "cluster_changed");
    return verdict;
  }

  PartitionVerdict Undecided(const kafka::PartitionFacts& facts, std::string_view reason) const {
    PartitionVerdict verdict;
    verdict.partition = facts.partition;
    verdict.committed = facts.committed;
    verdict.log_start = facts.log_start;
    verdict.end = spec_.isolation == kafka::IsolationLevel::kReadCommitted ? facts.last_stable
                                                                           : facts.high_watermark;
    verdict.reason = std::string(reason);
    return verdict;
  }

  const PipelineSpec& spec_;
  const kafka::ProbeResult& probe_;
  const PipelineMemory& memory_;
  bool is_connect_;
  WallTime now_;
  bool is_other_cluster_ = false;
  std::map<kafka::TopicPartition, const kafka::PartitionFacts*> facts_;
};

PartitionCounts Count(const std::vector<PartitionVerdict>& partitions) {
  PartitionCounts counts;
  counts.total = static_cast<int64_t>(partitions.size());
  for (const PartitionVerdict& partition : partitions) {
    switch (partition.verdict) {
      case Verdict::kFresh: ++counts.fresh; break;
      case Verdict::kLagging: ++counts.lagging; break;
      case Verdict::kLost: ++counts.lost; break;
      case Verdict::kBlocked: ++counts.blocked; break;
      case Verdict::kAhead: ++counts.ahead; break;
      case Verdict::kUnknown: ++counts.unknown; break;
    }
  }
  return counts;
}

/// The lesser of two margins; an absent one does not count.
template <class T>
void TakeLeast(std::optional<T>& least, const std::optional<T>& value) {
  if (value && (!least || *value < *least)) least = value;
}

/// Sums and extremes over the partitions. A sum is absent when a part of it is: half a sum looks
/// like a whole one. Losses are given as far as they are proved.
void AddUp(PipelineReport& report) {
  bool is_every_loss_known = true;
  int64_t lost = 0;
  report.uncommitted_records = 0;
  for (const PartitionVerdict& partition : report.partitions) {
    lost = SaturatingAdd(lost, partition.lost_records);
    if (!partition.log_start || IsUndecided(partition) || partition.cut_at)
      is_every_loss_known = false;
    if (!partition.uncommitted_records) report.uncommitted_records.reset();
    if (report.uncommitted_records) {
      report.uncommitted_records =
          SaturatingAdd(*report.uncommitted_records, *partition.uncommitted_records);
    }
    TakeLeast(report.retention_margin_records, partition.retention_margin_records);
    TakeLeast(report.retention_margin, partition.retention_margin);
    // A partition that showed neither a stamp nor that nothing waits says nothing about clocks.
    if (!IsUndecided(partition) || partition.timestamp_ms)
      report.clock_skew =
          std::max(report.clock_skew.value_or(Milliseconds(0)), partition.clock_skew);
  }
  if (lost > 0 || is_every_loss_known) report.lost_records = lost;
}

/// The partition whose record has waited longest; the first one of equals, nullptr when none has an
/// age.
const PartitionVerdict* LongestWait(const std::vector<PartitionVerdict>& partitions) {
  const PartitionVerdict* longest = nullptr;
  for (const PartitionVerdict& partition : partitions) {
    if (IsUndecided(partition) || !partition.lag) continue;
    if (longest == nullptr || partition.lag > longest->lag) longest = &partition;
  }
  return longest;
}

/// Which words of partition reasons stand for which reason of a pipeline.
bool IsTopicReplaced(std::string_view word) {
  return word == "topic_recreated" || word == "cluster_changed";
}
bool IsRefused(std::string_view word) {
  return word == "topic_denied" || word == "authentication" || word == "tls";
}
bool IsStampTrouble(std::string_view word) {
  return word == "no_timestamp" || word == "future_timestamp" || word == "implausible_timestamp" ||
         word == "clock_skew";
}

/// Why a pipeline with undecided partitions has no number: what needs a person's hand first, else
/// what all of them share.
Reason UndecidedReason(const std::vector<PartitionVerdict>& partitions) {
  size_t undecided = 0, ahead = 0, replaced = 0, missing = 0, refused = 0, timeouts = 0, stamps = 0,
         unreachable = 0;
  for (const PartitionVerdict& partition : partitions) {
    if (!IsUndecided(partition)) continue;
    const std::string_view word = partition.reason ? std::string_view(*partition.reason) : "";
    ++undecided;
    ahead += partition.verdict == Verdict::kAhead ? 1 : 0;
    replaced += IsTopicReplaced(word) ? 1 : 0;
    missing += word == "topic_missing" ? 1 : 0;
    refused += IsRefused(word) ? 1 : 0;
    timeouts += word == "timeout" ? 1 : 0;
    stamps += IsStampTrouble(word) ? 1 : 0;
    unreachable += word == "broker_unreachable" ? 1 : 0;
  }
  if (replaced > 0) return Reason::kTopicRecreated;
  if (ahead > 0) return Reason::kOffsetAhead;
  if (missing > 0) return Reason::kTopicMissing;
  if (refused > 0) return Reason::kAuth;
  if (undecided > 0 && timeouts == undecided) return Reason::kTimeout;
  if (undecided > 0 && stamps == undecided) return Reason::kNoTimestamp;
  if (undecided > 0 && unreachable == partitions.size()) return Reason::kClusterUnreachable;
  return Reason::kPartitionsUnknown;
}

void SuppressLag(PipelineReport& report) {
  report.lag.reset();
  report.lag_is_lower_bound = false;
  report.sla_ratio.reset();
  report.sla_ratio_capped.reset();
  report.oldest.reset();
}

void ShowLag(PipelineReport& report, const PartitionVerdict& longest, const PipelineSpec& spec) {
  const auto sla = static_cast<double>(spec.sla.count());
  const Milliseconds lag = longest.lag.value_or(Milliseconds(0));
  report.lag = lag;
  report.sla_ratio = static_cast<double>(lag.count()) / sla;
  const Milliseconds capped = std::min(lag, std::max(spec.lag_cap, Milliseconds(0)));
  report.sla_ratio_capped = std::min(1.0, static_cast<double>(capped.count()) / sla);
  // A record that is held back, or none at all, is not what the lag comes from.
  const bool has_record = longest.verdict == Verdict::kLagging || longest.verdict == Verdict::kLost;
  if (!has_record || !longest.first_uncommitted) return;
  report.oldest = OldestRecord{.partition = longest.partition,
                               .offset = *longest.first_uncommitted,
                               .timestamp_ms = longest.timestamp_ms.value_or(-1),
                               .timestamp_type = longest.timestamp_type,
                               .is_arrival_bound = longest.is_arrival_bound};
}

PipelineStatus StatusOf(Milliseconds lag, Milliseconds sla) {
  const double ratio = static_cast<double>(lag.count()) / static_cast<double>(sla.count());
  if (ratio >= kBreachRatio) return PipelineStatus::kBreach;
  return ratio >= kWarningRatio ? PipelineStatus::kWarning : PipelineStatus::kFresh;
}

/// Whether the partition's lag is in doubt, and the doubt matters.
bool IsDoubtful(const PartitionVerdict& partition, Milliseconds sla) {
  return partition.lag && partition.lag_at_most &&
         StatusOf(*partition.lag, sla) != StatusOf(*partition.lag_at_most, sla);
}

/// Status, reason, lag and ratio from the verdicts.
void Conclude(PipelineReport& report, const PipelineSpec& spec) {
  const bool is_lost = report.counts.lost > 0;
  bool has_unknown_age = report.partitions.empty();
  bool is_doubtful = false;
  for (const PartitionVerdict& partition : report.partitions) {
    if (IsUndecided(partition) || !partition.lag) has_unknown_age = true;
    if (IsDoubtful(partition, spec.sla)) is_doubtful = true;
    if (partition.lag_is_lower_bound) report.lag_is_lower_bound = true;
  }
  if (has_unknown_age) report.lag_is_lower_bound = true;

  const PartitionVerdict* longest = LongestWait(report.partitions);
  if (longest != nullptr) ShowLag(report, *longest, spec);
  const PipelineStatus status = StatusOf(report.lag.value_or(Milliseconds(0)), spec.sla);
  const bool is_breach = status == PipelineStatus::kBreach;
  // Partial data may prove a breach, never health.
  const bool has_undecided = report.counts.unknown + report.counts.ahead > 0 || has_unknown_age;
  const bool is_partial = has_undecided || is_doubtful;
  if (is_partial && !is_breach) SuppressLag(report);

  if (is_lost) {
    report.status = PipelineStatus::kBreach;
    report.reason = Reason::kDataLost;
  } else if (is_partial) {
    report.status = is_breach ? PipelineStatus::kBreach : PipelineStatus::kUnknown;
    report.reason = has_undecided ? UndecidedReason(report.partitions) : Reason::kNoTimestamp;
  } else {
    report.reason = Reason::kOk;
    report.status = status;
  }
}

/// Newer commits that could not be read may have moved the offsets on: what is found can then prove
/// that nothing waits, and nothing else.
void DoubtOldCheckpoint(PipelineReport& report, const lake::CheckpointSearch& search) {
  const bool is_all_fresh = report.counts.fresh == report.counts.total && report.counts.total > 0;
  if (search.commits_unreadable == 0 || is_all_fresh) return;
  SuppressLag(report);
  report.uncommitted_records.reset();
  report.lost_records.reset();
  report.retention_margin_records.reset();
  report.retention_margin.reset();
  report.status = PipelineStatus::kUnknown;
  report.reason = Reason::kCheckpointUnreadable;
}

Reason ReasonOf(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kDenied: return Reason::kAuth;
    case ErrorKind::kCancelled: return Reason::kTimeout;
    default: return Reason::kClusterUnreachable;
  }
}

void JudgeCluster(PipelineReport& report, const PipelineSpec& spec,
                  const lake::CheckpointSearch& search, const ClusterFacts& cluster,
                  const PipelineMemory& memory) {
  const TopicSelection selection = SelectTopics(spec, search);
  report.reason = selection.reason;
  if (selection.reason != Reason::kOk || !search.found) return;
  if (cluster.error) {
    report.reason = ReasonOf(*cluster.error);
    return;
  }
  if (!cluster.result) {
    report.reason = Reason::kTimeout;
    return;
  }
  const lake::SourceCheckpoint& checkpoint = search.found->checkpoint;
  const bool is_connect = checkpoint.kind == lake::CheckpointKind::kKafkaConnect;
  const PipelineMemory known = MemoryFor(memory, checkpoint, *cluster.result);
  report.partitions = PartitionsJudge(spec, *cluster.result, known, is_connect, report.observed_at)
                          .Judge(selection.topics);
  report.counts = Count(report.partitions);
  AddUp(report);
  Conclude(report, spec);
  DoubtOldCheckpoint(report, search);
}

PipelineReport EmptyReport(const PipelineSpec& spec, WallTime observed_at) {
  PipelineReport report;
  report.pipeline = spec.name;
  report.table = spec.table;
  report.cluster = spec.cluster;
  report.mode = spec.mode;
  report.labels = spec.labels;
  report.sla = spec.sla;
  report.observed_at = observed_at;
  return report;
}

std::optional<Milliseconds> AgeOfCommit(const std::optional<lake::CommitPoint>& commit,
                                        WallTime now) {
  if (!commit || !commit->committed_at) return std::nullopt;
  return TimeBetween(*commit->committed_at, now);
}

}  // namespace

PipelineReport JudgePipeline(const PipelineSpec& spec, const TableFacts& table,
                             const ClusterFacts& cluster, const PipelineMemory& memory,
                             WallTime now) {
  CHECK(spec.sla.count() > 0, fmt::format("pipeline={} sla={}", spec.name, spec.sla.count()));
  // The ends were taken then; a probe may take seconds more, and they are not lag.
  const bool is_dated = cluster.result && cluster.result->observed_at != WallTime{};
  PipelineReport report = EmptyReport(spec, is_dated ? cluster.result->observed_at : now);
  if (spec.is_disabled) {
    report.status = PipelineStatus::kDisabled;
    report.message = MessageOf({spec, table, cluster, report});
    return report;
  }
  if (table.search) {
    report.commit = table.search->found;
    report.commit_age = AgeOfCommit(table.search->found, report.observed_at);
    report.last_change_age = AgeOfCommit(table.search->last_change, report.observed_at);
    report.findings = table.search->findings;
    JudgeCluster(report, spec, *table.search, cluster, memory);
  } else {
    report.reason = Reason::kTableUnreadable;
  }
  report.message = MessageOf({spec, table, cluster, report});
  if (spec.is_in_maintenance) {
    report.status = PipelineStatus::kDisabled;
    report.reason = Reason::kMaintenance;
    report.message = "A maintenance window is open and no alarm is raised: " + report.message;
  }
  return report;
}

PipelineReport SilentReport(const PipelineSpec& spec, std::optional<Milliseconds> silent_for,
                            WallTime now) {
  PipelineReport report = EmptyReport(spec, now);
  if (spec.is_disabled) {
    report.status = PipelineStatus::kDisabled;
    report.message = MessageOf({spec, {}, {}, report});
    return report;
  }
  report.reason = Reason::kTimeout;
  report.message = silent_for
                       ? fmt::format(
                             "The last look that gave an answer was {:.0f} s ago, and what it saw "
                             "no longer counts; see the log for what holds the next one up.",
                             SecondsOf(*silent_for))
                       : "The pipeline has not been looked at yet.";
  if (spec.is_in_maintenance) {
    report.status = PipelineStatus::kDisabled;
    report.reason = Reason::kMaintenance;
  }
  return report;
}

int ExitCodeOf(std::span<const PipelineReport> reports) {
  bool has_warning = false, has_breach = false, has_unknown = false;
  for (const PipelineReport& report : reports) {
    has_warning |= report.status == PipelineStatus::kWarning;
    has_breach |= report.status == PipelineStatus::kBreach;
    has_unknown |= report.status == PipelineStatus::kUnknown;
  }
  if (has_breach) return kBreachCode;
  if (has_unknown) return kUnknownCode;
  return has_warning ? kWarningCode : kHealthyCode;
}

}  // namespace tidemark::freshness
