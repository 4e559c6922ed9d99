#include <gtest/gtest.h>

#include <tuple>

#include "contract/partition_probe_contract.h"
#include "kafka/client/rdkafka_probe.h"
#include "kafka/wire/wire_probe.h"
#include "support/kafka_admin.h"
#include "support/kafka_broker.h"
#include "support/result_matchers.h"

namespace tidemark::kafka {
namespace {

class KafkaUnderTest final : public BrokerUnderTest {
 public:
  KafkaUnderTest(std::unique_ptr<support::KafkaBroker> broker,
                 std::unique_ptr<support::KafkaAdmin> admin,
                 std::unique_ptr<client::Producer> producer)
      : broker_(std::move(broker)), admin_(std::move(admin)), producer_(std::move(producer)) {}

  static std::unique_ptr<ClusterUnderTest> Start() {
    auto broker = support::KafkaBroker::Start();
    EXPECT_THAT(broker, support::IsOk());
    if (!broker) return nullptr;
    auto admin = support::KafkaAdmin::Open((*broker)->plain());
    auto producer = client::Producer::Open((*broker)->plain());
    if (!admin || !producer) return nullptr;
    return std::make_unique<KafkaUnderTest>(*std::move(broker), *std::move(admin),
                                            *std::move(producer));
  }

  ClusterOptions options() const override { return broker_->plain(); }
  Status CreateTopic(const std::string& topic, int32_t partition_count,
                     const Configs& configs) override {
    return admin_->CreateTopic(topic, partition_count, configs);
  }
  Status DeleteTopic(const std::string& topic) override { return admin_->DeleteTopic(topic); }
  Status Append(const TopicPartition& partition, std::span<const client::Record> records) override {
    return producer_->Append(partition, records, Budget::For(std::chrono::seconds(60)));
  }
  Status DeleteRecordsBefore(const TopicPartition& partition, Offset offset) override {
    return admin_->DeleteRecordsBefore(partition, offset);
  }

  ClusterOptions LoginOptions(const std::string& mechanism,
                              const std::string& password) const override {
    return broker_->sasl(mechanism, password.empty() ? support::KafkaBroker::kPassword : password);
  }
  Status Allow(const std::string& topic, Right right) override {
    return admin_->Allow(support::KafkaBroker::kUser, topic,
                         right == Right::kRead ? support::KafkaAdmin::Right::kRead
                                               : support::KafkaAdmin::Right::kDescribe);
  }
  ClusterOptions TlsOptions() const override { return broker_->tls(broker_->ca_file()); }
  ClusterOptions TlsOptionsWithForeignAuthority() const override {
    return broker_->tls(broker_->other_ca_file());
  }
  Result<Offset> EndOf(const TopicPartition& partition) override {
    return admin_->End(partition, IsolationLevel::kReadUncommitted);
  }
  Status AwaitStableEnd(const TopicPartition& partition, Offset offset) override {
    TRY(admin_->AwaitEnd(partition, IsolationLevel::kReadUncommitted, offset));
    return admin_->AwaitEnd(partition, IsolationLevel::kReadCommitted, offset);
  }
  std::vector<std::string> ListTopics() override { return ListOf(admin_->ListTopics()); }
  std::vector<std::string> ListGroups() override { return ListOf(admin_->ListGroups()); }

 private:
  static std::vector<std::string> ListOf(const Result<std::set<std::string>>& names) {
    EXPECT_THAT(names, support::IsOk());
    if (!names) return {};
    return {names->begin(), names->end()};
  }

  std::unique_ptr<support::KafkaBroker> broker_;
  std::unique_ptr<support::KafkaAdmin> admin_;
  std::unique_ptr<client::Producer> producer_;
};

ClusterUnderTest* Kafka() {
  static const std::unique_ptr<ClusterUnderTest> kafka = KafkaUnderTest::Start();
  return kafka.get();
}

/// Two implementations of one interface, one of them written by others.
class ProbeTwins : public PartitionProbeBrokerContract {
 protected:
  static constexpr auto kIsolations = {IsolationLevel::kReadUncommitted,
                                       IsolationLevel::kReadCommitted};

  void SetUp() override {
    PartitionProbeBrokerContract::SetUp();
    ASSERT_OK_ASSIGN(other_, wire::WireProbe::Open(cluster_->options()));
  }

  /// Asks both at this offset (nullopt: at none) of every partition, in both isolations.
  void ExpectSame(const std::vector<std::string>& topics, std::optional<Offset> committed) {
    for (const IsolationLevel isolation : kIsolations) {
      SCOPED_TRACE(isolation == IsolationLevel::kReadCommitted ? "committed" : "uncommitted");
      ProbeRequest request{.topics = {}, .isolation = isolation};
      for (const std::string& topic : topics) {
        ProbeRequest::Topic asked{.name = topic, .committed = {}, .wants_config = true};
        if (committed) asked.committed[0] = *committed;
        request.topics.push_back(std::move(asked));
      }
      ASSERT_OK_ASSIGN(const ProbeResult one, TryProbe(request));
      ASSERT_OK_ASSIGN(const ProbeResult two,
                       other_->Probe(request, Budget::For(std::chrono::seconds(20))));
      ExpectSame(one, two);
    }
  }

 private:
  using Stamp = std::optional<std::tuple<Offset, int64_t, TimestampType>>;
  static Stamp StampOf(const std::optional<FirstRecord>& first) {
    if (!first) return std::nullopt;
    return std::tuple(first->offset, first->timestamp_ms, first->timestamp_type);
  }
  static auto FieldsOf(const PartitionFacts& facts) {
    return std::tuple(facts.partition, facts.committed, facts.log_start, facts.high_watermark,
                      facts.last_stable, facts.search, StampOf(facts.first),
                      StampOf(facts.blocked_first), facts.fault);
  }
  static auto FieldsOf(const TopicFacts& facts) {
    return std::tuple(facts.topic, facts.exists, facts.partition_count, facts.topic_id,
                      facts.retention, facts.is_compacted, facts.is_also_deleted, facts.stamped_by,
                      facts.fault);
  }
  static void ExpectSame(const ProbeResult& one, const ProbeResult& two) {
    EXPECT_EQ(one.cluster_id, two.cluster_id);
    ASSERT_EQ(one.topics.size(), two.topics.size());
    for (size_t i = 0; i < one.topics.size(); ++i) {
      EXPECT_TRUE(FieldsOf(one.topics[i]) == FieldsOf(two.topics[i])) << one.topics[i].topic;
    }
    ASSERT_EQ(one.partitions.size(), two.partitions.size());
    for (size_t i = 0; i < one.partitions.size(); ++i) {
      EXPECT_TRUE(FieldsOf(one.partitions[i]) == FieldsOf(two.partitions[i]))
          << ::testing::PrintToString(one.partitions[i]) << "\n"
          << ::testing::PrintToString(two.partitions[i]);
    }
  }

  std::unique_ptr<PartitionProbe> other_;
};

TEST_P(ProbeTwins, EveryFactOfEveryKindOfTopicIsTheSame) {
  std::vector<std::string> topics = {"never-created"};
  const auto add = [&](const ClusterUnderTest::Configs& configs) {
    return topics.emplace_back(NewTopic(2, configs));
  };
  for (const char* codec : {"uncompressed", "gzip", "snappy", "lz4", "zstd"}) {
    for (const char* type : {"CreateTime", "LogAppendTime"}) {
      const std::string topic =
          add({{"compression.type", codec}, {"message.timestamp.type", type}});
      Append({topic, 0}, 9, kMs, 300);
      Append({topic, 0}, 3, kMs + 60'000, 50'000);
      Append({topic, 1}, 1, kMs, 10);
    }
  }
  const std::string mixed = add({});
  Append({mixed, 0}, 2, kMs);                               // 0-1
  Transaction({mixed, 0}, 3, kMs + 100'000, End::kCommit);  // 2-4, marker 5
  Transaction({mixed, 0}, 2, kMs + 200'000, End::kAbort);   // 6-7, marker 8
  Append({mixed, 0}, 1, kMs + 250'000);                     // 9
  Transaction({mixed, 0}, 2, kMs + 300'000, End::kOpen);    // 10-11
  Append({mixed, 0}, 1, kMs + 400'000);                     // 12
  // Long enough that nothing is deleted between two questions.
  const std::string aborted = add({{"retention.ms", "9000000000000"}});
  Transaction({aborted, 0}, 3, kMs, End::kAbort);
  const std::string cut = add({{"cleanup.policy", "compact,delete"}});
  Append({cut, 0}, 5, kMs);
  Append({cut, 0}, 5, kMs + 60'000);
  ASSERT_THAT(cluster_->DeleteRecordsBefore({cut, 0}, 4), support::IsOk());
  add({});
  ExpectSame(topics, std::nullopt);
  for (Offset committed = 0; committed <= 14; ++committed) {
    SCOPED_TRACE(committed);
    ExpectSame(topics, committed);
  }
}

TEST_P(ProbeTwins, EveryFactOfACompactedTopicIsTheSame) {
  const std::string topic = NewTopic(1, {{"cleanup.policy", "compact"},
                                         {"segment.ms", "100"},
                                         {"min.cleanable.dirty.ratio", "0.01"},
                                         {"min.compaction.lag.ms", "0"},
                                         {"compression.type", "zstd"}});
  Append({topic, 0}, 6, kMs);
  Append({topic, 0}, 3, kMs + 100'000);  // the first three keys again
  Append({topic, 0}, 1, kMs + 200'000);
  AwaitFirst(topic, 0, 3, IsolationLevel::kReadUncommitted);
  for (Offset committed = 0; committed <= 10; ++committed) ExpectSame({topic}, committed);
}

/// What our own client adds to the contract: whose log it was that was seen.
class ProbeOfLeaderEpochs : public PartitionProbeBrokerContract {};

TEST_P(ProbeOfLeaderEpochs, AFirstRecordKnownFromBeforeIsNotFetchedAgain) {
  const std::string topic = NewTopic(2);
  for (PartitionId p : {0, 1}) Append({topic, p}, 10, kMs);
  ProbeRequest request{
      .topics = {{.name = topic, .committed = {{0, 3}, {1, 3}}, .wants_config = true}}};
  ASSERT_OK_ASSIGN(const ProbeResult first, TryProbe(request));
  EXPECT_TRUE(first.topics[0].is_config_known);
  ASSERT_FALSE(first.topics[0].topic_id.empty());

  // A stamp that no record has: seen in the answer, it was not fetched.
  constexpr int64_t kOwnMs = 42;
  request.topics[0].known_topic_id = first.topics[0].topic_id;
  for (PartitionId p : {0, 1}) {
    EXPECT_EQ(first.partitions[static_cast<size_t>(p)].leader_epoch, 0);  // nobody led before
    request.topics[0].known_epochs[p] = {.epoch = 0};
    request.topics[0].known_firsts[p] = {
        .after = 3,
        .record = {.offset = 3, .timestamp_ms = kOwnMs, .timestamp_type = TimestampType::kCreate}};
  }
  ASSERT_OK_ASSIGN(const ProbeResult known, TryProbe(request));
  EXPECT_EQ(known.bytes_fetched, 0u);
  for (const PartitionFacts& facts : known.partitions) EXPECT_THAT(facts, IsRecordAt(3, kOwnMs));

  request.topics[0].committed[1] = 5;
  ASSERT_OK_ASSIGN(const ProbeResult moved, TryProbe(request));
  EXPECT_THAT(moved.partitions[0], IsRecordAt(3, kOwnMs));
  EXPECT_THAT(moved.partitions[1], IsRecordAt(5, kMs + 5'000));

  request.topics[0].known_topic_id = "of another topic";
  ASSERT_OK_ASSIGN(const ProbeResult replaced, TryProbe(request));
  EXPECT_THAT(replaced.partitions[0], IsRecordAt(3, kMs + 3'000));
}

TEST_P(ProbeOfLeaderEpochs, WhatIsKnownOfAnotherLeaderIsLookedAtAgain) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 10, kMs);
  ProbeRequest request{.topics = {{.name = topic, .committed = {{0, 3}}}}};
  ASSERT_OK_ASSIGN(const ProbeResult first, TryProbe(request));
  EXPECT_FALSE(first.partitions[0].former_epoch);
  request.topics[0].known_topic_id = first.topics[0].topic_id;
  request.topics[0].known_firsts[0] = {
      .after = 3,
      .record = {.offset = 3, .timestamp_ms = 42, .timestamp_type = TimestampType::kCreate}};

  // Of an epoch that its log does not know, the leader cannot tell.
  request.topics[0].known_epochs[0] = {.epoch = 5};
  ASSERT_OK_ASSIGN(const ProbeResult other, TryProbe(request));
  EXPECT_THAT(other.partitions[0], IsRecordAt(3, kMs + 3'000));
  EXPECT_EQ(other.partitions[0].former_epoch, (EpochEnd{.asked = 5, .held = {}}));

  // Nor is it asked about another topic's.
  request.topics[0].known_topic_id = "of another topic";
  ASSERT_OK_ASSIGN(const ProbeResult replaced, TryProbe(request));
  EXPECT_FALSE(replaced.partitions[0].former_epoch);
}

const auto kImplementations = ::testing::Values(
    ProbeUnderTest{.name = "rdkafka", .open = client::RdKafkaProbe::Open, .cluster = Kafka},
    ProbeUnderTest{.name = "wire", .open = wire::WireProbe::Open, .cluster = Kafka});
INSTANTIATE_TEST_SUITE_P(OnKafka, PartitionProbeContract, kImplementations, NameOfProbe);
INSTANTIATE_TEST_SUITE_P(OnKafka, PartitionProbeBrokerContract, kImplementations, NameOfProbe);
INSTANTIATE_TEST_SUITE_P(OnKafka, ProbeOfLeaderEpochs,
                         ::testing::Values(ProbeUnderTest{
                             .name = "wire", .open = wire::WireProbe::Open, .cluster = Kafka}),
                         NameOfProbe);
INSTANTIATE_TEST_SUITE_P(OnKafka, ProbeTwins,
                         ::testing::Values(ProbeUnderTest{.name = "rdkafka_and_wire",
                                                          .open = client::RdKafkaProbe::Open,
                                                          .cluster = Kafka}),
                         NameOfProbe);

}  // namespace
}  // namespace tidemark::kafka
