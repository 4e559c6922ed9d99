/// Words to describe a table, a topic and what was seen of it, for tests of the judgement and of
/// what shows it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "freshness/judge.h"

namespace tidemark::support {

/// 2026-11-30T03:00:00Z, the time of every judgement in tests.
inline constexpr WallTime kNow =
    std::chrono::sys_days(std::chrono::year(2026) / 11 / 30) + std::chrono::hours(3);

inline constexpr const char* kTopic = "orders";

/// What a probe saw of one partition of kTopic.
class Seen {
 public:
  explicit Seen(kafka::PartitionId partition, std::optional<kafka::Offset> committed = {}) {
    facts_.partition = {kTopic, partition};
    facts_.committed = committed;
  }
  Seen& In(std::string topic) {
    facts_.partition.topic = std::move(topic);
    return *this;
  }
  /// The log holds offsets [start, end).
  Seen& Log(std::optional<kafka::Offset> start, std::optional<kafka::Offset> end) {
    facts_.log_start = start;
    facts_.high_watermark = end;
    return *this;
  }
  Seen& Stable(kafka::Offset last_stable) {
    facts_.last_stable = last_stable;
    return *this;
  }
  /// The first readable record, stamped by its producer `age` ago.
  Seen& Record(kafka::Offset offset, Milliseconds age,
               kafka::TimestampType type = kafka::TimestampType::kCreate) {
    return Stamped(offset, MillisOf(kNow - age), type);
  }
  Seen& Stamped(kafka::Offset offset, int64_t timestamp_ms,
                kafka::TimestampType type = kafka::TimestampType::kCreate) {
    facts_.search = kafka::PartitionFacts::Search::kRecord;
    facts_.first = kafka::FirstRecord{offset, timestamp_ms, type};
    return *this;
  }
  /// The end was reached and no record was handed out.
  Seen& NoRecord() {
    facts_.search = kafka::PartitionFacts::Search::kEndOfPartition;
    return *this;
  }
  Seen& HeldBack(kafka::Offset offset, Milliseconds age) {
    facts_.blocked_first =
        kafka::FirstRecord{offset, MillisOf(kNow - age), kafka::TimestampType::kCreate};
    return *this;
  }
  Seen& Fault(kafka::ProbeFault fault, std::string words = "") {
    facts_.search = kafka::PartitionFacts::Search::kUndecided;
    facts_.fault = fault;
    facts_.fault_message = std::move(words);
    return *this;
  }
  const kafka::PartitionFacts& facts() const { return facts_; }

 private:
  kafka::PartitionFacts facts_;
};

/// One pipeline "orders" on a table whose checkpoint holds what its partitions say is committed.
struct World {
  freshness::PipelineSpec spec{
      .name = "orders", .table = "s3://lake/orders", .cluster = "main", .topic = {}, .labels = {}};
  freshness::TableFacts table;
  freshness::ClusterFacts cluster;
  freshness::PipelineMemory memory;

  World() = default;
  explicit World(const std::vector<Seen>& seen) {
    cluster.result.emplace();
    cluster.result->cluster_id = "cluster-a";
    cluster.result->observed_at = kNow;
    std::map<std::string, lake::TopicOffsets> topics;
    for (const Seen& partition : seen) {
      const kafka::PartitionFacts& facts = partition.facts();
      cluster.result->partitions.push_back(facts);
      lake::TopicOffsets& offsets = topics[facts.partition.topic];
      offsets.topic = facts.partition.topic;
      if (facts.committed) offsets.offsets[facts.partition.partition] = *facts.committed;
      auto& topic = TopicNamed(facts.partition.topic);
      topic.partition_count = std::max(topic.partition_count, facts.partition.partition + 1);
    }
    lake::SourceCheckpoint checkpoint{.key = "streamer.checkpoint.key.v2",
                                      .value = "",
                                      .kind = lake::CheckpointKind::kKafka,
                                      .topics = {}};
    for (const auto& [name, offsets] : topics) {
      checkpoint.value += checkpoint.value.empty() ? name : ";" + name;
      for (const auto& [partition, offset] : offsets.offsets)
        checkpoint.value += "," + std::to_string(partition) + ":" + std::to_string(offset);
      checkpoint.topics.push_back(offsets);
    }
    Commit(std::move(checkpoint));
  }

  /// The facts about a topic, made when missing.
  kafka::TopicFacts& TopicNamed(const std::string& name) {
    for (kafka::TopicFacts& topic : cluster.result->topics)
      if (topic.topic == name) return topic;
    kafka::TopicFacts topic;
    topic.topic = name;
    topic.exists = true;
    topic.topic_id = "id-1";
    cluster.result->topics.push_back(topic);
    return cluster.result->topics.back();
  }
  kafka::TopicFacts& topic() { return TopicNamed(kTopic); }

  void Commit(lake::SourceCheckpoint checkpoint) {
    table.search.emplace();
    table.search->commits_examined = 1;
    table.search->found = lake::CommitPoint{.instant = "20261130025900000",
                                            .action = "deltacommit",
                                            .completion = {},
                                            .committed_at = kNow - std::chrono::seconds(60),
                                            .committed_at_source = lake::CommitTimeSource::kInstant,
                                            .checkpoint = std::move(checkpoint)};
  }
  lake::CommitPoint& commit() { return *table.search->found; }

  World& ReadCommitted() {
    spec.isolation = kafka::IsolationLevel::kReadCommitted;
    return *this;
  }
  World& Sla(Milliseconds sla) {
    spec.sla = sla;
    return *this;
  }
  World& Retention(Milliseconds retention) {
    topic().retention = retention;
    return *this;
  }
  /// An earlier run, `ago`, saw partition 0 end at `end`.
  World& SawEnd(kafka::Offset end, Milliseconds ago) {
    memory.arrivals[{kTopic, 0}].push_back({.end = end, .seen_at = kNow - ago});
    return *this;
  }
  /// An earlier run read the stamp at `offset` of partition 0.
  World& SawStamp(kafka::Offset offset, Milliseconds age) {
    memory.stamps[{kTopic, 0}] = {.offset = offset,
                                  .timestamp_ms = MillisOf(kNow - age),
                                  .timestamp_type = kafka::TimestampType::kCreate};
    return *this;
  }
  World& KnewTopicAs(std::string id) {
    memory.topic_ids[kTopic] = std::move(id);
    return *this;
  }

  freshness::PipelineReport Judge() const {
    return freshness::JudgePipeline(spec, table, cluster, memory, kNow);
  }
};

}  // namespace tidemark::support
