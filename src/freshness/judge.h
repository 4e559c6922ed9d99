/// The judgement: facts about a table and its topics, and the time now, give a report. Pure
/// functions: no clock, no socket, no thread. Rules: docs/freshness.md (the verdicts, and the 46
/// cases each rule answers).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "freshness/memory.h"
#include "freshness/report.h"
#include "kafka/partition_probe.h"
#include "lake/commit_point.h"

namespace tidemark::freshness {

inline constexpr Milliseconds kStreamingSlaDefault = std::chrono::minutes(60);
inline constexpr Milliseconds kBatchSlaDefault = std::chrono::minutes(1440);
inline constexpr Milliseconds kLagCapDefault = std::chrono::hours(24 * 7);
/// Share of the SLA from which a pipeline is a warning, and from which it is a breach.
inline constexpr double kWarningRatio = 0.7;
inline constexpr double kBreachRatio = 1.0;
/// A record stamped further in the future than this says nothing about its age.
inline constexpr Milliseconds kFutureStampTolerance = std::chrono::minutes(5);
/// A stamp older than this says nothing either: nothing waits in Kafka since before Kafka was
/// published (2011). Zero, and seconds taken for milliseconds, lie in January 1970.
inline constexpr WallTime kOldestPlausibleStamp =
    std::chrono::sys_days(std::chrono::year(2011) / 1 / 1);

/// What the user asked for. Checked when the configuration is read: sla > 0.
struct PipelineSpec {
  std::string name;
  std::string table;  ///< URI as configured
  std::string cluster;
  std::optional<std::string> topic;  ///< checked against the checkpoint when given
  Mode mode = Mode::kStreaming;
  Milliseconds sla = kStreamingSlaDefault;
  Milliseconds lag_cap = kLagCapDefault;
  kafka::IsolationLevel isolation = kafka::IsolationLevel::kReadUncommitted;
  std::map<std::string, std::string> labels;
  bool is_disabled = false;
  bool is_in_maintenance = false;

  friend bool operator==(const PipelineSpec&, const PipelineSpec&) = default;
};

/// What is known about the table. Exactly one of `error` and `search` is set.
struct TableFacts {
  std::optional<Error> error;
  std::optional<lake::CheckpointSearch> search;
};

/// What is known about the cluster. Exactly one of `error` and `result` is set when the cluster was
/// asked; neither when there was nothing to ask (no checkpoint, a foreign kind, a disabled
/// pipeline).
struct ClusterFacts {
  std::optional<Error> error;
  std::optional<kafka::ProbeResult> result;
};

/// Topics and committed offsets the probe has to be asked for, from the checkpoint; empty when the
/// checkpoint names no Kafka offsets or contradicts the configured topic. When several writers of
/// one table read the same partition, the lowest offset counts. A kafka_connect checkpoint names no
/// topic: the configured one is taken, and without one there is nothing to ask.
std::vector<kafka::ProbeRequest::Topic> TopicsToProbe(const PipelineSpec& spec,
                                                      const lake::CheckpointSearch& search);

/// One partition, by the table of verdicts in docs/freshness.md.
PartitionVerdict JudgePartition(const kafka::PartitionFacts& facts, const kafka::TopicFacts& topic,
                                kafka::IsolationLevel isolation, const PipelineMemory& memory,
                                WallTime now);

/// The pipeline: lag is the greatest of the decided partitions. Partial data may prove a breach,
/// never health: with any partition unknown or ahead a number is given only when it already proves
/// a breach.
PipelineReport JudgePipeline(const PipelineSpec& spec, const TableFacts& table,
                             const ClusterFacts& cluster, const PipelineMemory& memory,
                             WallTime now);

/// A pipeline that nothing was heard of for `silent_for`, or nothing yet when that is nullopt:
/// unknown, and without a number, whatever was said before.
PipelineReport SilentReport(const PipelineSpec& spec, std::optional<Milliseconds> silent_for,
                            WallTime now);

/// The process exit code for several pipelines: 0 healthy, 1 warning, 2 breach, 3 unknown; breach
/// outranks unknown outranks warning outranks healthy. Disabled pipelines count as healthy; no
/// pipeline at all is 0.
int ExitCodeOf(std::span<const PipelineReport> reports);

}  // namespace tidemark::freshness
