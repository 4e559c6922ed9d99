/// Words to describe a table, a topic and what was seen of it, for tests of the judgement and of
/// what shows it.
#pragma once

#include <algorithm>
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
  /// The first record was not read; it is at least, or exactly, so old.
  Seen& EstimatedAtLeast(Milliseconds age) { return Estimate(age, false); }
  Seen& EstimatedAt(Milliseconds age) { return Estimate(age, true); }
  /// The end was reached and no record was handed out.
  Seen& NoRecord() {
    facts_.search = kafka::PartitionFacts::Search::kEndOfPartition;
    return *this;
  }
  /// Under this leader, whose log holds of the leader `asked` (and those before it) `epoch`, up to
  /// `end`; or cannot tell.
  Seen& Led(int32_t epoch) {
    facts_.leader_epoch = epoch;
    return *this;
  }
  Seen& Holds(int32_t asked, int32_t epoch, kafka::Offset end) {
    facts_.former_epoch = {.asked = asked, .held = kafka::EpochEnd::Held{epoch, end}};
    return *this;
  }
  Seen& CannotTellOf(int32_t asked) {
    facts_.former_epoch = {.asked = asked, .held = std::nullopt};
    return *this;
  }
  /// The leader's own epoch begins at `begin`, behind records of `previous`.
  Seen& Began(kafka::Offset begin, int32_t previous) {
    facts_.epoch_before = {.asked = *facts_.leader_epoch - 1,
                           .held = kafka::EpochEnd::Held{previous, begin}};
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
  Seen& Estimate(Milliseconds age, bool is_exact) {
    facts_.search = kafka::PartitionFacts::Search::kEstimated;
    facts_.estimate =
        kafka::StampEstimate{.timestamp_ms = MillisOf(kNow - age), .is_exact = is_exact};
    return *this;
  }

  kafka::PartitionFacts facts_;
};

/// One pipeline "orders" on a table whose checkpoint holds what its partitions say is committed.
/// A table without a commit, of which nothing was asked, when made from nothing.
struct World {
  freshness::PipelineSpec spec{
      .name = "orders", .table = "s3://lake/orders", .cluster = "main", .topic = {}, .labels = {}};
  std::optional<Error> table_error;
  std::optional<lake::CommitPoint> last_change;
  lake::CheckpointSearch search;  ///< `found` and `last_change` apart
  lake::CommitPoint commit;
  bool has_commit = false;
  std::optional<Error> cluster_error;
  kafka::ProbeResult probe;
  bool is_asked = false;
  freshness::PipelineMemory memory;

  World() = default;
  explicit World(const std::vector<Seen>& seen) : has_commit(true), is_asked(true) {
    probe.cluster_id = "cluster-a";
    probe.observed_at = kNow;
    commit.instant = "20261130025900000";
    commit.action = "deltacommit";
    commit.committed_at = kNow - std::chrono::seconds(60);
    commit.committed_at_source = lake::CommitTimeSource::kInstant;
    commit.checkpoint.key = "streamer.checkpoint.key.v2";
    commit.checkpoint.kind = lake::CheckpointKind::kKafka;
    search.commits_examined = 1;
    for (const Seen& each : seen) Add(each.facts());
  }

  /// The facts about a topic, made when missing.
  kafka::TopicFacts& TopicNamed(const std::string& name) {
    for (kafka::TopicFacts& each : probe.topics)
      if (each.topic == name) return each;
    kafka::TopicFacts& made = probe.topics.emplace_back();
    made.topic = name;
    made.exists = true;
    made.topic_id = "id-1";
    return made;
  }
  kafka::TopicFacts& topic() { return TopicNamed(kTopic); }

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
  /// The clock was set by `step` after the earlier runs above.
  World& SetClock(Milliseconds step) {
    memory = freshness::AfterClockStep(std::move(memory), step);
    return *this;
  }
  /// An earlier run read the stamp at `offset` of partition 0.
  World& SawStamp(kafka::Offset offset, Milliseconds age) {
    memory.stamps[{kTopic, 0}] = {.offset = offset,
                                  .timestamp_ms = MillisOf(kNow - age),
                                  .timestamp_type = kafka::TimestampType::kCreate};
    return *this;
  }
  /// An earlier run saw partition 0 led so, and its log end at `end`; the epoch began at `begin`
  /// behind records of `previous`.
  World& SawLeader(int32_t epoch, kafka::Offset end, std::optional<kafka::Offset> begin = {},
                   int32_t previous = freshness::PipelineMemory::Leadership::kNothing) {
    memory.leaderships[{kTopic, 0}] = {
        .epoch = epoch, .end = end, .begin = begin, .previous = previous};
    return *this;
  }
  World& KnewTopicAs(std::string id) {
    memory.topic_ids[kTopic] = std::move(id);
    return *this;
  }

  lake::CheckpointSearch Search() const {
    lake::CheckpointSearch result = search;
    if (has_commit) result.found = commit;
    result.last_change = last_change;
    return result;
  }
  freshness::TableFacts Table() const {
    if (table_error) return {.error = table_error, .search = {}};
    return {.error = {}, .search = Search()};
  }
  freshness::ClusterFacts Cluster() const {
    if (cluster_error) return {.error = cluster_error, .result = {}};
    if (!is_asked) return {};
    return {.error = {}, .result = probe};
  }
  freshness::PipelineReport Judge() const {
    return freshness::JudgePipeline(spec, Table(), Cluster(), memory, kNow);
  }

 private:
  /// Puts a partition into the probe's answer and, when committed, into the checkpoint.
  void Add(const kafka::PartitionFacts& facts) {
    const std::string& name = facts.partition.topic;
    probe.partitions.push_back(facts);
    kafka::TopicFacts& seen_topic = TopicNamed(name);
    seen_topic.partition_count =
        std::max(seen_topic.partition_count, facts.partition.partition + 1);
    lake::SourceCheckpoint& checkpoint = commit.checkpoint;
    if (checkpoint.topics.empty() || checkpoint.topics.back().topic != name) {
      checkpoint.topics.push_back({.topic = name, .offsets = {}, .writer = {}});
      checkpoint.value += checkpoint.value.empty() ? name : ";" + name;
    }
    if (!facts.committed) return;
    checkpoint.topics.back().offsets[facts.partition.partition] = *facts.committed;
    checkpoint.value +=
        "," + std::to_string(facts.partition.partition) + ":" + std::to_string(*facts.committed);
  }
};

}  // namespace tidemark::support
