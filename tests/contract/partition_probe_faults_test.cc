#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "contract/partition_probe_contract.h"
#include "kafka/client/mock_cluster.h"
#include "kafka/client/rdkafka_probe.h"
#include "support/result_matchers.h"

namespace tidemark::kafka {
namespace {

using client::MockCluster;
using client::MockError;
using client::MockRequest;
using client::Record;
using std::chrono::milliseconds;
using std::chrono::seconds;
using support::IsError;
using support::IsOk;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using Search = PartitionFacts::Search;

MATCHER_P(IsStampedRecordAt, offset, "") {
  *result_listener << "fault " << ProbeFaultName(arg.fault) << " " << arg.fault_message;
  return arg.search == Search::kRecord && arg.first && arg.first->offset == offset &&
         arg.first->timestamp_ms == kMs + offset;
}

/// Three brokers and topic "orders" with six partitions of ten records; broker b leads the
/// partitions `Led(b)`.
class PartitionProbeFaults : public ::testing::TestWithParam<ProbeUnderTest> {
 protected:
  static constexpr int kPartitions = 6;

  void SetUp() override {
    ASSERT_OK_ASSIGN(mock_, MockCluster::Open(3));
    ASSERT_THAT(mock_->CreateTopic("orders", kPartitions), IsOk());
    std::vector<Record> records;
    for (int i = 0; i < 10; ++i) {
      records.push_back({.key = std::nullopt, .value = "v", .timestamp_ms = kMs + i});
    }
    for (int p = 0; p < kPartitions; ++p) {
      ASSERT_THAT(mock_->SetLeader({"orders", p}, 1 + p % 3), IsOk());
      ASSERT_THAT(mock_->Append({"orders", p}, records), IsOk());
    }
    ASSERT_OK_ASSIGN(probe_, GetParam().open(mock_->options()));
  }

  Result<ProbeResult> TryProbe(const Budget& budget) {
    ProbeRequest::Topic topic{.name = "orders", .committed = {}};
    for (int p = 0; p < kPartitions; ++p) topic.committed[p] = 4;
    return probe_->Probe({.topics = {topic}}, budget);
  }

  std::vector<PartitionFacts> Probe(milliseconds limit) {
    const MonoTime begin = std::chrono::steady_clock::now();
    auto result = TryProbe(Budget::For(limit));
    took_ = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
    EXPECT_THAT(result, IsOk());
    return result ? result->partitions : std::vector<PartitionFacts>(kPartitions);
  }

  std::unique_ptr<MockCluster> mock_;
  std::unique_ptr<PartitionProbe> probe_;
  milliseconds took_{0};
};

TEST_P(PartitionProbeFaults, OnlyRequestsThatReadAreSent) {
  mock_->TrackRequests();
  Probe(seconds(10));
  // Fetch, list offsets, metadata, API versions: no group (10-16), no commit (8), no creation (19).
  EXPECT_EQ(mock_->RequestKinds(), (std::set<int>{1, 2, 3, 18}));
}

TEST_P(PartitionProbeFaults, PartitionWithoutLeaderLeavesTheRestDecided) {
  ASSERT_THAT(mock_->SetLeader({"orders", 2}, -1), IsOk());
  const auto facts = Probe(milliseconds(1500));
  for (int p = 0; p < kPartitions; ++p) {
    if (p == 2) {
      EXPECT_THAT(facts[2], HasFault(ProbeFault::kNoLeader));
      EXPECT_EQ(facts[2].search, Search::kNotSearched);
    } else {
      EXPECT_THAT(facts[p], IsStampedRecordAt(4)) << p;
    }
  }
}

TEST_P(PartitionProbeFaults, PartitionThatGetsALeaderInTimeIsDecided) {
  ASSERT_THAT(mock_->SetLeader({"orders", 2}, -1), IsOk());
  std::jthread election([&] {
    EXPECT_TRUE(Budget::For(seconds(10)).WaitForTry(2));
    EXPECT_THAT(mock_->SetLeader({"orders", 2}, 1), IsOk());
  });
  EXPECT_THAT(Probe(seconds(10)), Each(IsStampedRecordAt(4)));
}

TEST_P(PartitionProbeFaults, StoppedBrokerLeavesTheRestDecided) {
  ASSERT_THAT(mock_->StopBroker(3), IsOk());
  const auto facts = Probe(milliseconds(2000));
  for (int p = 0; p < kPartitions; ++p) {
    if (p % 3 == 2) {
      EXPECT_THAT(facts[p], HasFault(ProbeFault::kBrokerUnreachable)) << p;
      EXPECT_EQ(facts[p].high_watermark, std::nullopt);
    } else {
      EXPECT_THAT(facts[p], IsStampedRecordAt(4)) << p;
    }
  }
}

TEST_P(PartitionProbeFaults, BrokerThatStopsBetweenProbesLeavesTheRestDecided) {
  EXPECT_THAT(Probe(seconds(10)), Each(IsStampedRecordAt(4)));
  ASSERT_THAT(mock_->StopBroker(1), IsOk());
  const auto facts = Probe(milliseconds(2000));
  EXPECT_THAT(facts[0], HasFault(ProbeFault::kBrokerUnreachable));
  EXPECT_THAT(facts[1], IsStampedRecordAt(4));
  EXPECT_THAT(facts[2], IsStampedRecordAt(4));
}

TEST_P(PartitionProbeFaults, LeadershipMovedFromAStoppedBrokerIsFollowed) {
  EXPECT_THAT(Probe(seconds(10)), Each(IsStampedRecordAt(4)));
  ASSERT_THAT(mock_->StopBroker(1), IsOk());
  for (const int p : {0, 3}) ASSERT_THAT(mock_->SetLeader({"orders", p}, 2), IsOk());
  EXPECT_THAT(Probe(seconds(10)), Each(IsStampedRecordAt(4)));
}

TEST_P(PartitionProbeFaults, AllBrokersStoppedBetweenProbesIsUnavailable) {
  EXPECT_THAT(Probe(seconds(10)), Each(IsStampedRecordAt(4)));
  ASSERT_THAT(mock_->StopBroker(-1), IsOk());
  EXPECT_THAT(TryProbe(Budget::For(seconds(1))),
              IsError(ErrorKind::kUnavailable, HasSubstr("127.0.0.1")));
  ASSERT_THAT(mock_->StartBroker(-1), IsOk());
  EXPECT_THAT(Probe(seconds(10)), Each(IsStampedRecordAt(4)));
}

TEST_P(PartitionProbeFaults, FaultsThatPassAreAskedAgain) {
  for (const MockError error :
       {MockError::kNotLeader, MockError::kLeaderNotAvailable, MockError::kOffsetNotAvailable,
        MockError::kUnknownTopicOrPartition}) {
    SCOPED_TRACE(static_cast<int>(error));
    mock_->FailNext(MockRequest::kListOffsets, {error, error});
    EXPECT_THAT(Probe(seconds(10)), Each(IsStampedRecordAt(4)));
    EXPECT_LT(took_, seconds(3));
    ASSERT_THAT(mock_->FailNextFetch({"orders", 1}, {error, error}), IsOk());
    EXPECT_THAT(Probe(seconds(10)), Each(IsStampedRecordAt(4)));
    EXPECT_LT(took_, seconds(3));
  }
}

TEST_P(PartitionProbeFaults, LostConnectionsAreMadeAgain) {
  for (const MockRequest request :
       {MockRequest::kMetadata, MockRequest::kListOffsets, MockRequest::kFetch}) {
    SCOPED_TRACE(static_cast<int>(request));
    mock_->FailNext(request, {MockError::kDisconnect, MockError::kDisconnect});
    EXPECT_THAT(Probe(seconds(10)), Each(IsStampedRecordAt(4)));
  }
}

TEST_P(PartitionProbeFaults, PartitionsDeniedToDescribeLeaveTheRestDecided) {
  // One request of one leader, and so two partitions.
  mock_->FailNext(MockRequest::kListOffsets, {MockError::kTopicDenied});
  const auto facts = Probe(seconds(10));
  EXPECT_EQ(std::ranges::count(facts, ProbeFault::kTopicDenied, &PartitionFacts::fault), 2);
  EXPECT_EQ(std::ranges::count(facts, Search::kRecord, &PartitionFacts::search), kPartitions - 2);
  EXPECT_LT(took_, seconds(3));
}

TEST_P(PartitionProbeFaults, PartitionDeniedToReadKeepsItsWatermarks) {
  ASSERT_THAT(mock_->FailNextFetch({"orders", 1}, {MockError::kTopicDenied}), IsOk());
  const auto facts = Probe(seconds(10));
  EXPECT_THAT(facts[1], HasFault(ProbeFault::kTopicDenied));
  EXPECT_EQ(facts[1].search, Search::kUndecided);
  EXPECT_EQ(facts[1].high_watermark, 10);
  EXPECT_THAT(facts[0], IsStampedRecordAt(4));
  EXPECT_LT(took_, seconds(3));
}

TEST_P(PartitionProbeFaults, CorruptBatchIsUndecodable) {
  ASSERT_THAT(mock_->FailNextFetch({"orders", 1}, {MockError::kCorruptMessage}), IsOk());
  const auto facts = Probe(seconds(10));
  EXPECT_THAT(facts[1], HasFault(ProbeFault::kUndecodable));
  EXPECT_THAT(facts[0], IsStampedRecordAt(4));
}

TEST_P(PartitionProbeFaults, LogThatMovesUnderTheSearchIsAskedForAgain) {
  ASSERT_THAT(mock_->FailNextFetch({"orders", 1}, {MockError::kOffsetOutOfRange}), IsOk());
  EXPECT_THAT(Probe(seconds(10)), Each(IsStampedRecordAt(4)));
}

TEST_P(PartitionProbeFaults, LogThatKeepsMovingIsUndecided) {
  const std::initializer_list<MockError> errors = {
      MockError::kOffsetOutOfRange, MockError::kOffsetOutOfRange, MockError::kOffsetOutOfRange,
      MockError::kOffsetOutOfRange};
  ASSERT_THAT(mock_->FailNextFetch({"orders", 1}, errors), IsOk());
  const auto facts = Probe(seconds(10));
  EXPECT_THAT(facts[1], HasFault(ProbeFault::kOther));
  EXPECT_EQ(facts[1].search, Search::kUndecided);
}

TEST_P(PartitionProbeFaults, SlowBrokersAreWaitedFor) {
  ASSERT_THAT(mock_->SetLatency(-1, milliseconds(100)), IsOk());
  EXPECT_THAT(Probe(seconds(20)), Each(IsStampedRecordAt(4)));
}

TEST_P(PartitionProbeFaults, ConnectionThatFallsSilentDoesNotHideTheOthers) {
  // Broker 1 lets the client in, and then says nothing.
  ASSERT_THAT(mock_->HoldNext(MockRequest::kMetadata, 1, seconds(30)), IsOk());
  ClusterOptions options = mock_->options();
  options.bootstrap_servers.resize(options.bootstrap_servers.find(','));
  ASSERT_OK_ASSIGN(probe_, GetParam().open(options));
  EXPECT_THAT(Probe(seconds(5)), Each(IsStampedRecordAt(4)));
  EXPECT_LT(took_, seconds(3));
  EXPECT_THAT(Probe(seconds(5)), Each(IsStampedRecordAt(4)));
}

TEST_P(PartitionProbeFaults, SilenceIsNotEmptiness) {
  EXPECT_THAT(Probe(seconds(10)), Each(IsStampedRecordAt(4)));
  ASSERT_THAT(mock_->SetLatency(2, seconds(30)), IsOk());
  const auto facts = Probe(milliseconds(1500));
  EXPECT_THAT(facts[1], HasFault(ProbeFault::kTimeout));
  EXPECT_THAT(facts[0], IsStampedRecordAt(4));
  EXPECT_LT(took_, seconds(3));
}

class PartitionProbeBudgets : public ::testing::TestWithParam<ProbeUnderTest> {};

TEST_P(PartitionProbeBudgets, DeadClusterTakesTheTimeGivenAndNoMore) {
  for (const milliseconds limit : {milliseconds(600), milliseconds(1200), milliseconds(2600)}) {
    ASSERT_OK_ASSIGN(const auto probe,
                     GetParam().open({.bootstrap_servers = "127.0.0.1:1", .properties = {}}));
    const MonoTime begin = std::chrono::steady_clock::now();
    EXPECT_THAT(probe->Probe({.topics = {{.name = "orders", .committed = {}}}}, Budget::For(limit)),
                IsError(ErrorKind::kUnavailable, HasSubstr("127.0.0.1:1")));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, limit + milliseconds(150));
  }
}

TEST_P(PartitionProbeBudgets, DeadClusterIsGivenUpAfterThreeSeconds) {
  ASSERT_OK_ASSIGN(const auto probe,
                   GetParam().open({.bootstrap_servers = "127.0.0.1:1", .properties = {}}));
  const MonoTime begin = std::chrono::steady_clock::now();
  EXPECT_THAT(
      probe->Probe({.topics = {{.name = "orders", .committed = {}}}}, Budget::For(seconds(20))),
      IsError(ErrorKind::kUnavailable, HasSubstr("Connection refused")));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(3400));
}

TEST_P(PartitionProbeFaults, StopEndsTheWait) {
  ASSERT_THAT(mock_->SetLatency(-1, seconds(30)), IsOk());
  std::stop_source source;
  std::jthread stopper([&] {
    EXPECT_TRUE(Budget::For(seconds(10)).WaitForTry(2));
    source.request_stop();
  });
  EXPECT_THAT(TryProbe(Budget::For(seconds(20), source.get_token())),
              IsError(ErrorKind::kCancelled, HasSubstr("stopped")));
}

TEST_P(PartitionProbeFaults, UsedUpBudgetIsUnavailable) {
  EXPECT_THAT(TryProbe(Budget::For(milliseconds(0))),
              IsError(ErrorKind::kUnavailable, ::testing::_));
}

const auto kImplementations = ::testing::Values(
    ProbeUnderTest{.name = "rdkafka", .open = client::RdKafkaProbe::Open, .cluster = {}});
INSTANTIATE_TEST_SUITE_P(OnMock, PartitionProbeFaults, kImplementations, NameOfProbe);
INSTANTIATE_TEST_SUITE_P(OnMock, PartitionProbeBudgets, kImplementations, NameOfProbe);

}  // namespace
}  // namespace tidemark::kafka
