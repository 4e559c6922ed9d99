#include <fmt/core.h>

#include "contract/partition_probe_contract.h"
#include "support/result_matchers.h"

namespace tidemark::kafka {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::IsError;
using support::IsOk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Search = PartitionFacts::Search;

constexpr auto kUncommitted = IsolationLevel::kReadUncommitted;
constexpr auto kCommitted = IsolationLevel::kReadCommitted;

MATCHER(HasEmptyTail, "") {
  return arg.search == Search::kEndOfPartition && !arg.first && arg.fault == ProbeFault::kNone;
}

void PartitionProbeBrokerContract::Transaction(const TopicPartition& partition, int count,
                                               int64_t first_ms, End end) {
  const Budget budget = Budget::For(seconds(60));
  ClusterOptions options = cluster_->options();
  static int serial = 0;
  options.properties.emplace_back("transactional.id", fmt::format("writer-{}", ++serial));
  ASSERT_OK_ASSIGN(auto producer, client::Producer::Open(options));
  std::vector<client::Record> records;
  for (int i = 0; i < count; ++i) {
    records.push_back({.key = fmt::format("key {}", i),
                       .value = "in a transaction",
                       .timestamp_ms = first_ms + i * 1000});
  }
  ASSERT_OK_ASSIGN(const Offset begin, broker().EndOf(partition));
  ASSERT_THAT(producer->BeginTransaction(budget), IsOk());
  ASSERT_THAT(producer->Append(partition, records, budget), IsOk());
  switch (end) {
    case End::kCommit: ASSERT_THAT(producer->CommitTransaction(budget), IsOk()); break;
    case End::kAbort: ASSERT_THAT(producer->AbortTransaction(budget), IsOk()); break;
    case End::kOpen: open_.push_back(std::move(producer)); return;
  }
  // The broker writes the marker after it has answered.
  ASSERT_THAT(broker().AwaitStableEnd(partition, begin + count + 1), IsOk());
}

PartitionFacts PartitionProbeBrokerContract::AwaitFirst(const std::string& topic, Offset committed,
                                                        std::optional<Offset> offset,
                                                        IsolationLevel isolation,
                                                        const std::function<void()>& push) {
  Budget budget = Budget::For(seconds(60));
  budget.tries_max = 1000;
  budget.retry_delay = milliseconds(10);
  PartitionFacts facts;
  for (int next_try = 2;; ++next_try) {
    facts = Probe(topic, {{0, committed}}, isolation).partitions.at(0);
    const bool is_there = offset ? facts.first && facts.first->offset == *offset
                                 : facts.search == Search::kEndOfPartition;
    if (is_there || !budget.WaitForTry(next_try)) return facts;
    push();
  }
}

TEST_P(PartitionProbeBrokerContract, AppendTimeIsTheBrokers) {
  const std::string topic = NewTopic(1, {{"message.timestamp.type", "LogAppendTime"}});
  const auto before =
      MillisOf(std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now()));
  Append({topic, 0}, 1, kMs);
  const PartitionFacts facts = Probe(topic, {}).partitions.at(0);
  ASSERT_TRUE(facts.first);
  EXPECT_EQ(facts.first->timestamp_type, TimestampType::kAppend);
  EXPECT_GE(facts.first->timestamp_ms, before);
  EXPECT_LT(facts.first->timestamp_ms, before + 60'000);
}

TEST_P(PartitionProbeBrokerContract, EveryCodecIsRead) {
  for (const char* codec : {"gzip", "snappy", "lz4", "zstd"}) {
    SCOPED_TRACE(codec);
    const std::string topic = NewTopic(1, {{"compression.type", codec}});
    Append({topic, 0}, 10, kMs, 300);
    EXPECT_THAT(Probe(topic, {{0, 6}}).partitions, ElementsAre(IsRecordAt(6, kMs + 6000)));
  }
}

TEST_P(PartitionProbeBrokerContract, AbortedRecordsAreSkippedWhenReadingCommitted) {
  const std::string topic = NewTopic(1);
  Transaction({topic, 0}, 3, kMs, End::kCommit);            // 0-2, marker 3
  Transaction({topic, 0}, 2, kMs + 100'000, End::kAbort);   // 4-5, marker 6
  Transaction({topic, 0}, 2, kMs + 200'000, End::kCommit);  // 7-8, marker 9
  EXPECT_THAT(Probe(topic, {{0, 3}}, kCommitted).partitions,
              ElementsAre(AllOf(HasLog(0, 10), IsRecordAt(7, kMs + 200'000))));
  EXPECT_THAT(Probe(topic, {{0, 3}}, kUncommitted).partitions,
              ElementsAre(IsRecordAt(4, kMs + 100'000)));
}

TEST_P(PartitionProbeBrokerContract, ControlRecordsAtTheEndAreAnEmptyTail) {
  const std::string topic = NewTopic(1);
  Transaction({topic, 0}, 3, kMs, End::kCommit);  // 0-2, marker 3
  for (const IsolationLevel isolation : {kCommitted, kUncommitted}) {
    EXPECT_THAT(Probe(topic, {{0, 3}}, isolation).partitions,
                ElementsAre(AllOf(HasLog(0, 4), HasEmptyTail())));
  }
}

TEST_P(PartitionProbeBrokerContract, AbortedRecordsOnlyAreAnEmptyTailWhenReadingCommitted) {
  const std::string topic = NewTopic(1);
  Transaction({topic, 0}, 3, kMs, End::kAbort);
  EXPECT_THAT(Probe(topic, {{0, 0}}, kCommitted).partitions,
              ElementsAre(AllOf(HasLog(0, 4), HasEmptyTail())));
  EXPECT_THAT(Probe(topic, {{0, 0}}, kUncommitted).partitions, ElementsAre(IsRecordAt(0, kMs)));
}

TEST_P(PartitionProbeBrokerContract, OpenTransactionHoldsBackWhatFollows) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 2, kMs);                             // 0-1
  Transaction({topic, 0}, 3, kMs + 100'000, End::kOpen);  // 2-4
  Append({topic, 0}, 1, kMs + 200'000);                   // 5
  const PartitionFacts facts = Probe(topic, {{0, 2}}, kCommitted).partitions.at(0);
  EXPECT_THAT(facts, AllOf(HasLog(0, 6), IsNotSearched()));
  EXPECT_EQ(facts.last_stable, 2);
  ASSERT_TRUE(facts.blocked_first);
  EXPECT_EQ(facts.blocked_first->offset, 2);
  EXPECT_EQ(facts.blocked_first->timestamp_ms, kMs + 100'000);
}

TEST_P(PartitionProbeBrokerContract, RecordsBelowAnOpenTransactionAreFound) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 2, kMs);
  Transaction({topic, 0}, 3, kMs + 100'000, End::kOpen);
  const PartitionFacts facts = Probe(topic, {{0, 1}}, kCommitted).partitions.at(0);
  EXPECT_THAT(facts, IsRecordAt(1, kMs + 1000));
  EXPECT_EQ(facts.last_stable, 2);
  EXPECT_EQ(facts.blocked_first, std::nullopt);
}

TEST_P(PartitionProbeBrokerContract, OpenTransactionIsReadWhenReadingUncommitted) {
  const std::string topic = NewTopic(1);
  Transaction({topic, 0}, 3, kMs, End::kOpen);
  EXPECT_THAT(Probe(topic, {{0, 1}}, kUncommitted).partitions,
              ElementsAre(AllOf(HasLog(0, 3), IsRecordAt(1, kMs + 1000))));
}

TEST_P(PartitionProbeBrokerContract, OffsetBeyondAnOpenTransactionIsDecidedAtOnce) {
  const std::string topic = NewTopic(1);
  Transaction({topic, 0}, 3, kMs, End::kOpen);
  Append({topic, 0}, 2, kMs + 100'000);
  const MonoTime begin = std::chrono::steady_clock::now();
  const PartitionFacts facts = Probe(topic, {{0, 4}}, kCommitted).partitions.at(0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(5));
  EXPECT_THAT(facts, IsNotSearched());
  EXPECT_EQ(facts.last_stable, 0);
  ASSERT_TRUE(facts.blocked_first);
  EXPECT_EQ(facts.blocked_first->offset, 4);
}

const ClusterUnderTest::Configs kCompacted = {{"cleanup.policy", "compact"},
                                              {"segment.ms", "100"},
                                              {"min.cleanable.dirty.ratio", "0.01"},
                                              {"min.compaction.lag.ms", "0"},
                                              {"delete.retention.ms", "0"}};

TEST_P(PartitionProbeBrokerContract, HoleOfACompactedTopicIsSteppedOver) {
  const std::string topic = NewTopic(1, kCompacted);
  // Twice the same keys; what follows later closes their segment, so that the first ones go.
  Append({topic, 0}, 3, kMs);
  Append({topic, 0}, 3, kMs + 100'000);
  Append({topic, 0}, 1, kMs + 200'000);
  EXPECT_THAT(AwaitFirst(topic, 1, 3, kUncommitted),
              AllOf(HasLog(0, 7), IsRecordAt(3, kMs + 100'000)));
}

TEST_P(PartitionProbeBrokerContract, TailThatIsCompactedAwayIsEmpty) {
  const std::string topic = NewTopic(1, kCompacted);
  const std::vector<client::Record> tombstones = {
      {.key = "key 0", .value = std::nullopt, .timestamp_ms = kMs},
      {.key = "key 1", .value = std::nullopt, .timestamp_ms = kMs}};
  Append({topic, 0}, 2, kMs);
  ASSERT_THAT(cluster_->Append({topic, 0}, tombstones), IsOk());
  // Markers close the segment, are no records themselves, and give the cleaner something to do: a
  // tombstone goes with the second cleaning.
  const auto push = [&] { Transaction({topic, 0}, 1, kMs, End::kAbort); };
  push();
  EXPECT_THAT(AwaitFirst(topic, 0, std::nullopt, kCommitted, push), HasEmptyTail());
}

TEST_P(PartitionProbeBrokerContract, RetentionAndCleanUpPolicyAreToldWhenAskedFor) {
  const std::string short_lived = NewTopic(1, {{"retention.ms", "3600000"}});
  const std::string endless = NewTopic(1, {{"retention.ms", "-1"}});
  const std::string compacted = NewTopic(1, {{"cleanup.policy", "compact,delete"}});
  ProbeRequest request;
  for (const std::string& name : {short_lived, endless, compacted}) {
    request.topics.push_back({.name = name, .committed = {}, .wants_config = true});
  }
  ASSERT_OK_ASSIGN(ProbeResult result, TryProbe(request));
  EXPECT_EQ(result.topics[0].retention, Milliseconds(3'600'000));
  EXPECT_EQ(result.topics[1].retention, std::nullopt);
  EXPECT_FALSE(result.topics[1].is_compacted);
  EXPECT_TRUE(result.topics[2].is_compacted);
  request.topics[0].wants_config = false;
  ASSERT_OK_ASSIGN(result, TryProbe(request));
  EXPECT_EQ(result.topics[0].retention, std::nullopt);
}

TEST_P(PartitionProbeBrokerContract, NothingIsLeftBehind) {
  const std::string topic = NewTopic(2);
  Append({topic, 0}, 5, kMs);
  const auto topics = broker().ListTopics();
  const auto groups = broker().ListGroups();
  for (const IsolationLevel isolation : {kUncommitted, kCommitted}) {
    ASSERT_OK_ASSIGN(
        const ProbeResult result,
        TryProbe(
            {.topics = {{.name = topic, .committed = {{0, 2}, {9, 1}}, .wants_config = true},
                        {.name = "never-created", .committed = {{0, 1}}, .wants_config = true}},
             .isolation = isolation}));
    EXPECT_THAT(result.topics[1], HasFault(ProbeFault::kTopicMissing));
  }
  // The broker creates any topic that a client with the default settings names, and the topic of
  // group offsets when a client looks for a group.
  EXPECT_EQ(broker().ListTopics(), topics);
  EXPECT_EQ(broker().ListGroups(), groups);
}

TEST_P(PartitionProbeBrokerContract, EveryMechanismLogsIn) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 5, kMs);
  ASSERT_THAT(broker().Allow(topic, BrokerUnderTest::Right::kRead), IsOk());
  for (const char* mechanism : {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"}) {
    SCOPED_TRACE(mechanism);
    ASSERT_OK_ASSIGN(probe_, GetParam().open(broker().LoginOptions(mechanism, "")));
    EXPECT_THAT(Probe(topic, {{0, 2}}).partitions, ElementsAre(IsRecordAt(2, kMs + 2000)));
  }
}

TEST_P(PartitionProbeBrokerContract, WrongPasswordIsDeniedEarlyAndNotShown) {
  for (const char* mechanism : {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}) {
    SCOPED_TRACE(mechanism);
    ASSERT_OK_ASSIGN(probe_, GetParam().open(broker().LoginOptions(mechanism, "hunter2")));
    const MonoTime begin = std::chrono::steady_clock::now();
    EXPECT_THAT(TryProbe({.topics = {{.name = "orders", .committed = {}}}}),
                IsError(ErrorKind::kDenied, AllOf(HasSubstr("sasl.password"), HasSubstr(mechanism),
                                                  Not(HasSubstr("hunter2")))));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(5));
  }
}

TEST_P(PartitionProbeBrokerContract, TlsWithTheRightAuthorityIsRead) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 5, kMs);
  ASSERT_OK_ASSIGN(probe_, GetParam().open(broker().TlsOptions()));
  EXPECT_THAT(Probe(topic, {{0, 2}}).partitions, ElementsAre(IsRecordAt(2, kMs + 2000)));
}

TEST_P(PartitionProbeBrokerContract, UnknownAuthorityIsDeniedEarly) {
  ASSERT_OK_ASSIGN(probe_, GetParam().open(broker().TlsOptionsWithForeignAuthority()));
  const MonoTime begin = std::chrono::steady_clock::now();
  EXPECT_THAT(TryProbe({.topics = {{.name = "orders", .committed = {}}}}),
              IsError(ErrorKind::kDenied, HasSubstr("ssl.ca.location")));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(5));
}

TEST_P(PartitionProbeBrokerContract, PlaintextToATlsListenerHintsAtTheProtocol) {
  ClusterOptions options = broker().TlsOptions();
  options.properties.clear();
  ASSERT_OK_ASSIGN(probe_, GetParam().open(options));
  EXPECT_THAT(TryProbe({.topics = {{.name = "orders", .committed = {}}}}, seconds(5)),
              IsError(ErrorKind::kUnavailable, HasSubstr("security.protocol")));
}

TEST_P(PartitionProbeBrokerContract, LoginAtAPlainListenerIsNotMistakenForEmptiness) {
  ClusterOptions options = broker().LoginOptions("PLAIN", "");
  options.bootstrap_servers = broker().options().bootstrap_servers;
  ASSERT_OK_ASSIGN(probe_, GetParam().open(options));
  EXPECT_THAT(TryProbe({.topics = {{.name = "orders", .committed = {}}}}, seconds(5)), Not(IsOk()));
}

TEST_P(PartitionProbeBrokerContract, TopicWithoutRightsIsDeniedAndTheRestDecided) {
  const std::string hidden = NewTopic(1);
  const std::string shown = NewTopic(1);
  Append({hidden, 0}, 5, kMs);
  Append({shown, 0}, 5, kMs);
  ASSERT_THAT(broker().Allow(shown, BrokerUnderTest::Right::kRead), IsOk());
  ASSERT_OK_ASSIGN(probe_, GetParam().open(broker().LoginOptions("PLAIN", "")));
  ASSERT_OK_ASSIGN(const ProbeResult result,
                   TryProbe({.topics = {{.name = hidden, .committed = {{0, 2}}},
                                        {.name = shown, .committed = {{0, 2}}}}}));
  EXPECT_THAT(result.topics[0], HasFault(ProbeFault::kTopicDenied));
  EXPECT_THAT(result.partitions,
              ElementsAre(HasFault(ProbeFault::kTopicDenied), IsRecordAt(2, kMs + 2000)));
}

TEST_P(PartitionProbeBrokerContract, TopicThatMayBeDescribedButNotReadKeepsItsWatermarks) {
  const std::string topic = NewTopic(2);
  Append({topic, 0}, 5, kMs);
  ASSERT_THAT(broker().Allow(topic, BrokerUnderTest::Right::kDescribe), IsOk());
  ClusterOptions options = broker().LoginOptions("PLAIN", "");
  options.record_access = RecordAccess::kFetch;
  ASSERT_OK_ASSIGN(probe_, GetParam().open(options));
  const MonoTime begin = std::chrono::steady_clock::now();
  const ProbeResult result = Probe(topic, {{0, 2}, {1, 0}});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(5));
  EXPECT_THAT(result.partitions[0], AllOf(HasLog(0, 5), HasFault(ProbeFault::kTopicDenied)));
  EXPECT_EQ(result.partitions[0].search, Search::kUndecided);
  EXPECT_THAT(result.partitions[1], AllOf(HasLog(0, 0), IsNotSearched()));
}

TEST_P(PartitionProbeBrokerContract, WithoutTheRightToReadStampsAreEstimated) {
  const std::string topic = NewTopic(4, {{"retention.ms", "-1"}});
  Append({topic, 0}, 5, kMs);
  for (const int64_t stamp : {kMs, kMs + 10'000, kMs + 2'000}) Append({topic, 1}, 1, stamp);
  Append({topic, 2}, 5, kMs);
  ASSERT_THAT(cluster_->DeleteRecordsBefore({topic, 2}, 3), IsOk());
  ASSERT_THAT(broker().Allow(topic, BrokerUnderTest::Right::kDescribe), IsOk());
  ASSERT_OK_ASSIGN(probe_, GetParam().open(broker().LoginOptions("PLAIN", "")));
  const ProbeResult result = Probe(topic, {{0, 2}, {1, 2}, {2, 1}, {3, 0}});
  EXPECT_THAT(result.partitions,
              ElementsAre(AllOf(HasLog(0, 5), IsStampedAt(kMs + 2'000)),
                          AllOf(HasLog(0, 3), IsStampedUpTo(kMs + 10'000)),
                          AllOf(HasLog(3, 5), IsStampedAt(kMs + 3'000)), IsNotSearched()));
}

// What was read is the witness of what was estimated.
TEST_P(PartitionProbeBrokerContract, EstimatesHoldForEveryRecordAndFetchNothing) {
  constexpr Offset kRecords = 12;
  const std::string topic = NewTopic(3, {{"retention.ms", "-1"}});
  const int64_t now_ms =
      MillisOf(std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now()));
  for (int batch = 0; batch < 4; ++batch) {
    Append({topic, 0}, 3, now_ms - 86'400'000 + batch * 3'600'000);
    Append({topic, 1}, 3, now_ms - (batch % 2 == 0 ? 5'000'000 : 9'000'000));
    Append({topic, 2}, 3, kMs + batch);
  }
  ClusterOptions options = cluster_->options();
  options.record_access = RecordAccess::kDescribe;
  ASSERT_OK_ASSIGN(const auto describing, GetParam().open(options));
  for (Offset committed = 0; committed < kRecords; ++committed) {
    SCOPED_TRACE(committed);
    const PartitionOffsets all = {{0, committed}, {1, committed}, {2, committed}};
    const ProbeRequest request{.topics = {{.name = topic, .committed = all, .wants_config = true}}};
    const ProbeResult read = Probe(topic, all);
    ASSERT_OK_ASSIGN(const ProbeResult estimated,
                     describing->Probe(request, Budget::For(seconds(20))));
    EXPECT_EQ(estimated.bytes_fetched, 0U);
    EXPECT_EQ(estimated.topics[0].stamped_by, TimestampType::kCreate);
    for (size_t i = 0; i < read.partitions.size(); ++i) {
      const auto& estimate = estimated.partitions[i].estimate;
      ASSERT_TRUE(estimate) << i;
      EXPECT_EQ(estimated.partitions[i].fault, ProbeFault::kNone);
      const int64_t own_ms = read.partitions[i].first->timestamp_ms;
      EXPECT_GE(estimate->timestamp_ms, own_ms) << i;
      EXPECT_TRUE(estimate->is_exact || i > 0);
      if (!estimate->is_exact) continue;
      EXPECT_EQ(estimate->timestamp_ms, own_ms) << i;
    }
  }
}

TEST_P(PartitionProbeBrokerContract, WhereTheBrokerStampsEstimatesAreExact) {
  const std::string topic = NewTopic(1, {{"message.timestamp.type", "LogAppendTime"}});
  for (int batch = 0; batch < 3; ++batch) Append({topic, 0}, 4, kMs);
  ClusterOptions options = cluster_->options();
  options.record_access = RecordAccess::kDescribe;
  ASSERT_OK_ASSIGN(const auto describing, GetParam().open(options));
  for (Offset committed = 0; committed < 12; ++committed) {
    const ProbeRequest request{
        .topics = {{.name = topic, .committed = {{0, committed}}, .wants_config = true}}};
    ASSERT_OK_ASSIGN(const ProbeResult estimated,
                     describing->Probe(request, Budget::For(seconds(20))));
    EXPECT_EQ(estimated.topics[0].stamped_by, TimestampType::kAppend);
    const auto read = Probe(topic, {{0, committed}}).partitions[0].first;
    ASSERT_TRUE(read);
    EXPECT_THAT(estimated.partitions, ElementsAre(IsStampedAt(read->timestamp_ms)));
  }
}

TEST_P(PartitionProbeBrokerContract, WhereOffsetsMayHoldNoRecordNothingIsEstimated) {
  const std::string compacted = NewTopic(1, {{"cleanup.policy", "compact"}});
  const std::string plain = NewTopic(1, {{"retention.ms", "-1"}});
  for (const std::string& topic : {compacted, plain}) Append({topic, 0}, 3, kMs);
  ClusterOptions options = cluster_->options();
  options.record_access = RecordAccess::kDescribe;
  ASSERT_OK_ASSIGN(probe_, GetParam().open(options));
  const auto ask = [&](const std::string& topic, IsolationLevel isolation) {
    return TryProbe({.topics = {{.name = topic, .committed = {{0, 1}}, .wants_config = true}},
                     .isolation = isolation});
  };
  ASSERT_OK_ASSIGN(const auto holes, ask(compacted, IsolationLevel::kReadUncommitted));
  ASSERT_OK_ASSIGN(const auto markers, ask(plain, IsolationLevel::kReadCommitted));
  for (const ProbeResult& result : {holes, markers}) {
    EXPECT_THAT(result.partitions, ElementsAre(HasFault(ProbeFault::kTopicDenied)));
    EXPECT_EQ(result.partitions[0].search, Search::kUndecided);
    EXPECT_FALSE(result.partitions[0].estimate);
  }
}

TEST_P(PartitionProbeBrokerContract, AFirstRecordIsFetchedAgainWhereItsLeaderIsNotKnown) {
  const std::string topic = NewTopic(1);
  Append({topic, 0}, 10, kMs);
  ProbeRequest request{.topics = {{.name = topic, .committed = {{0, 3}}}}};
  ASSERT_OK_ASSIGN(const ProbeResult first, TryProbe(request));
  ASSERT_FALSE(first.topics[0].topic_id.empty());
  request.topics[0].known_topic_id = first.topics[0].topic_id;
  request.topics[0].known_firsts[0] = {
      .after = 3,
      .record = {.offset = 3, .timestamp_ms = 42, .timestamp_type = TimestampType::kCreate}};
  ASSERT_OK_ASSIGN(const ProbeResult again, TryProbe(request));
  EXPECT_THAT(again.partitions[0], IsRecordAt(3, kMs + 3'000));
}

}  // namespace tidemark::kafka
