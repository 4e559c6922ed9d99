#include "contract/partition_probe_contract.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "support/result_matchers.h"

namespace tidemark::kafka {

using support::IsError;
using support::IsOk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Search = PartitionFacts::Search;

void PrintTo(const PartitionFacts& facts, std::ostream* out) {
  const auto number = [](std::optional<Offset> offset) {
    return offset ? fmt::format("{}", *offset) : std::string("?");
  };
  const auto record = [](const std::optional<FirstRecord>& first) {
    return first ? fmt::format("{} at {} ms", first->offset, first->timestamp_ms)
                 : std::string("none");
  };
  const std::string estimate =
      !facts.estimate ? std::string("none")
                      : fmt::format("{} {} ms", facts.estimate->is_exact ? "at" : "up to",
                                    facts.estimate->timestamp_ms);
  *out << fmt::format(
      "{}[{}] committed {} log {} to {} stable {} search {} first {} estimate {} blocked {} fault "
      "{} {}",
      facts.partition.topic, facts.partition.partition, number(facts.committed),
      number(facts.log_start), number(facts.high_watermark), number(facts.last_stable),
      static_cast<int>(facts.search), record(facts.first), estimate, record(facts.blocked_first),
      ProbeFaultName(facts.fault), facts.fault_message);
}

void ProbeFixture::SetUp() {
  cluster_ = GetParam().cluster();
  ASSERT_NE(cluster_, nullptr) << "the cluster did not start";
  ASSERT_OK_ASSIGN(probe_, GetParam().open(cluster_->options()));
}

std::string ProbeFixture::NewTopic(int32_t partition_count,
                                   const ClusterUnderTest::Configs& configs) {
  static int serial = 0;
  std::string name = fmt::format(
      "{}-{}", ::testing::UnitTest::GetInstance()->current_test_info()->name(), ++serial);
  std::ranges::replace(name, '/', '-');
  EXPECT_THAT(cluster_->CreateTopic(name, partition_count, configs), IsOk());
  return name;
}

void ProbeFixture::Append(const TopicPartition& partition, int count, int64_t first_ms,
                          size_t size) {
  std::mt19937 random(1);
  std::vector<client::Record> records;
  for (int i = 0; i < count; ++i) {
    std::string value(size, '\0');
    std::ranges::generate(value, [&] { return static_cast<char>(random()); });
    records.push_back({.key = fmt::format("key {}", i),
                       .value = std::move(value),
                       .timestamp_ms = first_ms + i * 1000});
  }
  ASSERT_THAT(cluster_->Append(partition, records), IsOk());
}

Result<ProbeResult> ProbeFixture::TryProbe(const ProbeRequest& request,
                                           std::chrono::milliseconds limit) {
  return probe_->Probe(request, Budget::For(limit));
}

ProbeResult ProbeFixture::Probe(const std::string& topic, const PartitionOffsets& committed,
                                IsolationLevel isolation) {
  auto result =
      TryProbe({.topics = {{.name = topic, .committed = committed}}, .isolation = isolation});
  EXPECT_THAT(result, IsOk());
  return result ? *std::move(result) : ProbeResult{};
}

TEST_P(PartitionProbeContract, FirstUncommittedRecordIsFound) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 5, kMs);
  const ProbeResult result = Probe(topic, {{0, 2}});
  ASSERT_EQ(result.partitions.size(), 1u);
  const PartitionFacts& facts = result.partitions[0];
  EXPECT_EQ(facts.partition, (TopicPartition{topic, 0}));
  EXPECT_EQ(facts.committed, 2);
  EXPECT_THAT(facts, HasLog(0, 5));
  EXPECT_THAT(facts, IsRecordAt(2, kMs + 2000));
  EXPECT_EQ(facts.first->timestamp_type, TimestampType::kCreate);
}

TEST_P(PartitionProbeContract, FirstRecordIsTheSameInBothIsolationsWithoutTransactions) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 5, kMs);
  const PartitionFacts facts = Probe(topic, {{0, 3}}, IsolationLevel::kReadCommitted).partitions[0];
  EXPECT_THAT(facts, AllOf(HasLog(0, 5), IsRecordAt(3, kMs + 3000)));
  EXPECT_EQ(facts.last_stable, 5);
}

TEST_P(PartitionProbeContract, LastStableIsOnlyAskedForReadCommitted) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 1, kMs);
  EXPECT_EQ(Probe(topic, {{0, 0}}).partitions[0].last_stable, std::nullopt);
}

TEST_P(PartitionProbeContract, LastRecordOfTheLogIsFound) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 3, kMs);
  Append({topic, 0}, 1, kMs + 60'000);
  EXPECT_THAT(Probe(topic, {{0, 3}}).partitions, ElementsAre(IsRecordAt(3, kMs + 60'000)));
}

TEST_P(PartitionProbeContract, CaughtUpPartitionIsNotSearched) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 5, kMs);
  const ProbeResult result = Probe(topic, {{0, 5}});
  EXPECT_THAT(result.partitions, ElementsAre(AllOf(HasLog(0, 5), IsNotSearched())));
  EXPECT_EQ(result.partitions[0].fault, ProbeFault::kNone);
}

TEST_P(PartitionProbeContract, EmptyPartitionIsNotSearched) {
  const std::string topic = NewTopic(1);
  EXPECT_THAT(Probe(topic, {{0, 0}}).partitions, ElementsAre(AllOf(HasLog(0, 0), IsNotSearched())));
}

TEST_P(PartitionProbeContract, OffsetBeyondTheEndIsNotSearched) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 5, kMs);
  const PartitionFacts facts = Probe(topic, {{0, 50}}).partitions[0];
  EXPECT_THAT(facts, AllOf(HasLog(0, 5), IsNotSearched()));
  EXPECT_EQ(facts.fault, ProbeFault::kNone);
}

TEST_P(PartitionProbeContract, PartitionsOutsideTheCheckpointAreReadFromTheirStart) {
  const std::string topic = NewTopic(3);
  for (int p = 0; p < 3; ++p) Append({topic, p}, 4, kMs + p);
  const ProbeResult result = Probe(topic, {{1, 4}});
  ASSERT_EQ(result.partitions.size(), 3u);
  EXPECT_EQ(result.partitions[0].committed, std::nullopt);
  EXPECT_THAT(result.partitions,
              ElementsAre(IsRecordAt(0, kMs), IsNotSearched(), IsRecordAt(0, kMs + 2)));
}

TEST_P(PartitionProbeContract, SearchBeginsAtTheLogStartWhenRecordsAreGone) {
  const std::string topic = NewTopic(2);
  for (int p = 0; p < 2; ++p) {
    Append({topic, p}, 5, kMs);
    Append({topic, p}, 5, kMs + 60'000);
    ASSERT_THAT(cluster_->DeleteRecordsBefore({topic, p}, 5), IsOk());
  }
  const ProbeResult result = Probe(topic, {{0, 2}});
  EXPECT_THAT(result.partitions, ElementsAre(AllOf(HasLog(5, 10), IsRecordAt(5, kMs + 60'000)),
                                             AllOf(HasLog(5, 10), IsRecordAt(5, kMs + 60'000))));
}

TEST_P(PartitionProbeContract, LogDeletedToItsEndIsNotSearched) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 5, kMs);
  ASSERT_THAT(cluster_->DeleteRecordsBefore({topic, 0}, 5), IsOk());
  EXPECT_THAT(Probe(topic, {{0, 2}}).partitions, ElementsAre(AllOf(HasLog(5, 5), IsNotSearched())));
}

TEST_P(PartitionProbeContract, TombstoneIsARecord) {
  const std::string topic = NewTopic(1);
  const client::Record tombstone{.key = "key", .value = std::nullopt, .timestamp_ms = kMs};
  ASSERT_THAT(cluster_->Append({topic, 0}, {&tombstone, 1}), IsOk());
  EXPECT_THAT(Probe(topic, {{0, 0}}).partitions, ElementsAre(IsRecordAt(0, kMs)));
}

TEST_P(PartitionProbeContract, StampsAreGivenAsTheyAre) {
  const std::string topic = NewTopic(3);
  // Seconds instead of milliseconds, the first millisecond of 1970, a minute in the future.
  const int64_t soon =
      MillisOf(std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now())) +
      60'000;
  Append({topic, 0}, 1, 1'700'000'000);
  Append({topic, 1}, 1, 1);
  Append({topic, 2}, 1, soon);
  EXPECT_THAT(Probe(topic, {}).partitions,
              ElementsAre(IsRecordAt(0, 1'700'000'000), IsRecordAt(0, 1), IsRecordAt(0, soon)));
}

TEST_P(PartitionProbeContract, MissingTopicIsAFaultOfItsOwn) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 1, kMs);
  ASSERT_OK_ASSIGN(const ProbeResult result,
                   TryProbe({.topics = {{.name = "nowhere", .committed = {{0, 7}, {3, 9}}},
                                        {.name = topic, .committed = {}}}}));
  ASSERT_EQ(result.topics.size(), 2u);
  EXPECT_FALSE(result.topics[0].exists);
  EXPECT_THAT(result.topics[0], HasFault(ProbeFault::kTopicMissing));
  EXPECT_TRUE(result.topics[1].exists);
  EXPECT_THAT(result.partitions,
              ElementsAre(HasFault(ProbeFault::kTopicMissing), HasFault(ProbeFault::kTopicMissing),
                          IsRecordAt(0, kMs)));
}

TEST_P(PartitionProbeContract, NameThatNoTopicCanHaveIsAMissingTopic) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 1, kMs);
  ASSERT_OK_ASSIGN(const ProbeResult result,
                   TryProbe({.topics = {{.name = "no/topic\xff", .committed = {{0, 1}}},
                                        {.name = "", .committed = {{0, 1}}},
                                        {.name = std::string(300, 'x'), .committed = {{0, 1}}},
                                        {.name = topic, .committed = {}}}}));
  EXPECT_THAT(result.partitions,
              ElementsAre(HasFault(ProbeFault::kTopicMissing), HasFault(ProbeFault::kTopicMissing),
                          HasFault(ProbeFault::kTopicMissing), IsRecordAt(0, kMs)));
}

TEST_P(PartitionProbeContract, MissingPartitionIsAFaultOfItsOwn) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 1, kMs);
  EXPECT_THAT(Probe(topic, {{0, 0}, {7, 12}, {-1, 3}}).partitions,
              ElementsAre(HasFault(ProbeFault::kPartitionMissing), IsRecordAt(0, kMs),
                          HasFault(ProbeFault::kPartitionMissing)));
}

TEST_P(PartitionProbeContract, TopicFactsNameTheTopicAndItsIdentity) {
  const std::string topic = NewTopic(2);
  const ProbeResult before = Probe(topic, {});
  ASSERT_EQ(before.topics.size(), 1u);
  EXPECT_EQ(before.topics[0].topic, topic);
  EXPECT_EQ(before.topics[0].partition_count, 2);
  EXPECT_NE(before.topics[0].topic_id, "");
  EXPECT_NE(before.cluster_id, "");
  EXPECT_EQ(Probe(topic, {}).topics[0].topic_id, before.topics[0].topic_id);
}

TEST_P(PartitionProbeContract, TopicCreatedAnewHasAnotherIdentity) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 5, kMs);
  const ProbeResult before = Probe(topic, {{0, 5}});
  ASSERT_THAT(cluster_->DeleteTopic(topic), IsOk());
  ASSERT_THAT(cluster_->CreateTopic(topic, 1, {}), IsOk());
  Append({topic, 0}, 2, kMs);
  const ProbeResult after = Probe(topic, {{0, 5}});
  EXPECT_NE(after.topics[0].topic_id, before.topics[0].topic_id);
  EXPECT_THAT(after.partitions, ElementsAre(AllOf(HasLog(0, 2), IsNotSearched())));
}

TEST_P(PartitionProbeContract, AnswersComeInTheOrderAskedByPartition) {
  const std::string first = NewTopic(2);
  const std::string second = NewTopic(2);
  ASSERT_OK_ASSIGN(const ProbeResult result,
                   TryProbe({.topics = {{.name = second, .committed = {{5, 1}}},
                                        {.name = first, .committed = {}}}}));
  std::vector<TopicPartition> order;
  for (const PartitionFacts& facts : result.partitions) order.push_back(facts.partition);
  EXPECT_THAT(order, ElementsAre(TopicPartition{second, 0}, TopicPartition{second, 1},
                                 TopicPartition{second, 5}, TopicPartition{first, 0},
                                 TopicPartition{first, 1}));
}

TEST_P(PartitionProbeContract, TopicAskedForTwiceIsRefused) {
  EXPECT_THAT(
      TryProbe({.topics = {{.name = "a", .committed = {}}, {.name = "a", .committed = {}}}}),
      IsError(ErrorKind::kInvalidArgument, HasSubstr("topic=a")));
}

TEST_P(PartitionProbeContract, NoTopicsIsAnEmptyAnswer) {
  ASSERT_OK_ASSIGN(const ProbeResult result, TryProbe({}));
  EXPECT_TRUE(result.partitions.empty());
}

TEST_P(PartitionProbeContract, ProbeMayBeRepeatedWhileTheLogGrows) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 2, kMs);
  EXPECT_THAT(Probe(topic, {{0, 2}}).partitions, ElementsAre(IsNotSearched()));
  Append({topic, 0}, 2, kMs + 60'000);
  EXPECT_THAT(Probe(topic, {{0, 2}}).partitions,
              ElementsAre(AllOf(HasLog(0, 4), IsRecordAt(2, kMs + 60'000))));
  EXPECT_THAT(Probe(topic, {{0, 3}}).partitions, ElementsAre(IsRecordAt(3, kMs + 61'000)));
  EXPECT_THAT(Probe(topic, {{0, 1}}).partitions, ElementsAre(IsRecordAt(1, kMs + 1000)));
}

TEST_P(PartitionProbeContract, HundredsOfPartitionsAreAllDecided) {
  constexpr int kPartitions = 150;
  const std::string one = NewTopic(kPartitions);
  const std::string two = NewTopic(kPartitions);
  PartitionOffsets committed;
  for (int p = 0; p < kPartitions; ++p) {
    Append({one, p}, 3, kMs + p);
    Append({two, p}, 3, kMs + p);
    committed[p] = p % 4;  // the fourth is caught up
  }
  ASSERT_OK_ASSIGN(const ProbeResult result,
                   TryProbe({.topics = {{.name = one, .committed = committed},
                                        {.name = two, .committed = committed}}}));
  ASSERT_EQ(result.partitions.size(), 2u * kPartitions);
  for (const PartitionFacts& facts : result.partitions) {
    const int p = facts.partition.partition;
    if (p % 4 == 3) {
      EXPECT_THAT(facts, IsNotSearched());
    } else {
      EXPECT_THAT(facts, IsRecordAt(p % 4, kMs + p + (p % 4) * 1000)) << p;
    }
  }
}

TEST_P(PartitionProbeContract, BatchesOfAnySizeAreDecided) {
  constexpr int kEach = 20;
  const std::string topic = NewTopic(3 * kEach);
  for (int p = 0; p < kEach; ++p) {
    Append({topic, p}, 2, kMs + p, 100);
    Append({topic, kEach + p}, 2, kMs + p, 10'000);
    Append({topic, 2 * kEach + p}, 2, kMs + p, 200'000);
  }
  const ProbeResult result = Probe(topic, {});
  ASSERT_EQ(result.partitions.size(), 3u * kEach);
  for (const PartitionFacts& facts : result.partitions) {
    EXPECT_THAT(facts, IsRecordAt(0, kMs + facts.partition.partition % kEach));
  }
  EXPECT_GT(result.bytes_fetched, kEach * (2u * 200'000 + 2u * 10'000));
}

TEST_P(PartitionProbeContract, EndsAreDatedByOurClock) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 1, kMs);
  const auto before = std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
  const ProbeResult result = Probe(topic, {});
  EXPECT_GE(result.observed_at, before);
  EXPECT_LE(result.observed_at, std::chrono::system_clock::now());
}

TEST_P(PartitionProbeContract, NobodyListeningIsUnavailableAndSaysWhere) {
  ASSERT_OK_ASSIGN(const auto probe,
                   GetParam().open({.bootstrap_servers = "127.0.0.1:1", .properties = {}}));
  EXPECT_THAT(probe->Probe({.topics = {{.name = "orders", .committed = {}}}},
                           Budget::For(std::chrono::seconds(10))),
              IsError(ErrorKind::kUnavailable,
                      AllOf(HasSubstr("127.0.0.1:1"), HasSubstr("Connection refused"))));
}

TEST_P(PartitionProbeContract, UnknownHostIsUnavailableAndNamed) {
  ASSERT_OK_ASSIGN(const auto probe, GetParam().open({.bootstrap_servers = "nowhere.invalid:9092",
                                                      .properties = {}}));
  EXPECT_THAT(probe->Probe({.topics = {{.name = "orders", .committed = {}}}},
                           Budget::For(std::chrono::seconds(2))),
              IsError(ErrorKind::kUnavailable, HasSubstr("nowhere.invalid")));
}

TEST_P(PartitionProbeContract, StoppedProbeIsCancelled) {
  const std::string topic = NewTopic(1);
  std::stop_source source;
  source.request_stop();
  EXPECT_THAT(probe_->Probe({.topics = {{.name = topic, .committed = {}}}},
                            Budget::For(std::chrono::seconds(10), source.get_token())),
              IsError(ErrorKind::kCancelled, HasSubstr("stopped")));
}

TEST_P(PartitionProbeContract, UnusablePropertyIsNamed) {
  EXPECT_THAT(GetParam().open({.bootstrap_servers = cluster_->options().bootstrap_servers,
                               .properties = {{"group.id", "mine"}}}),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("group.id")));
}

}  // namespace tidemark::kafka
