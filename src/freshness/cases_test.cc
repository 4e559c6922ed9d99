// The 46 cases of docs/freshness.md, each as facts and the report they must give. The first
// partition is the one a row looks at.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "freshness/judge.h"
#include "support/freshness_facts.h"

namespace tidemark::freshness {
namespace {

using kafka::ProbeFault;
using kafka::TimestampType;
using support::kNow;
using support::Seen;
using support::World;
using namespace std::chrono_literals;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

/// The first partition and the pipeline. Absent: suppressed.
struct Want {
  Verdict verdict;
  std::optional<Milliseconds> lag;
  std::optional<std::string> word;  ///< the partition's reason
  PipelineStatus status;
  Reason reason;
  std::optional<Milliseconds> pipeline_lag;
};

struct Case {
  std::string name;
  World world;
  Want want;
};

void PrintTo(const Case& row, std::ostream* out) {
  *out << row.name;
}

Want Fresh(std::optional<std::string> word = {}) {
  return {Verdict::kFresh, 0ms, std::move(word), PipelineStatus::kFresh, Reason::kOk, 0ms};
}
/// Lagging within the default SLA of an hour.
Want Lagging(Milliseconds lag, std::optional<std::string> word = {}) {
  return {Verdict::kLagging, lag, std::move(word), PipelineStatus::kFresh, Reason::kOk, lag};
}
Want Late(Milliseconds lag, std::optional<std::string> word = {}) {
  return {Verdict::kLagging, lag, std::move(word), PipelineStatus::kBreach, Reason::kOk, lag};
}
Want Lost(std::optional<Milliseconds> lag, std::optional<std::string> word = {}) {
  return {Verdict::kLost, lag, std::move(word), PipelineStatus::kBreach, Reason::kDataLost, lag};
}
Want Blocked() {
  return {Verdict::kBlocked, 0ms, "open_transaction", PipelineStatus::kFresh, Reason::kOk, 0ms};
}
Want Ahead(std::string word, Reason reason) {
  return {Verdict::kAhead, {}, std::move(word), PipelineStatus::kUnknown, reason, {}};
}
Want Unknown(std::string word, Reason reason) {
  return {Verdict::kUnknown, {}, std::move(word), PipelineStatus::kUnknown, reason, {}};
}

World One(const Seen& seen) {
  return World({seen});
}

World MovedToCluster(std::string id, const Seen& seen) {
  World world = One(seen);
  world.memory.cluster_id = std::move(id);
  return world;
}

class FreshnessCaseTest : public testing::TestWithParam<Case> {};

TEST_P(FreshnessCaseTest, GivesTheRightReport) {
  const Case& row = GetParam();
  const PipelineReport report = row.world.Judge();
  ASSERT_FALSE(report.partitions.empty());
  const PartitionVerdict& partition = report.partitions.front();
  EXPECT_EQ(VerdictName(partition.verdict), VerdictName(row.want.verdict));
  EXPECT_EQ(partition.lag, row.want.lag);
  EXPECT_EQ(partition.reason, row.want.word);
  EXPECT_EQ(PipelineStatusName(report.status), PipelineStatusName(row.want.status));
  EXPECT_EQ(ReasonName(report.reason), ReasonName(row.want.reason));
  EXPECT_EQ(report.lag, row.want.pipeline_lag);
  EXPECT_EQ(report.lag.has_value(), report.sla_ratio.has_value());
  EXPECT_EQ(report.lag.has_value(), report.sla_ratio_capped.has_value());
  EXPECT_FALSE(report.message.empty());
}

std::string NameOfCase(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

std::vector<Case> LossAndMovedLogs() {
  return {
      {"Case01RetentionPassedTheCheckpointIsLostNeverZero",
       One(Seen(0, 50).Log(100, 200).Record(100, 10min)), Lost(10min)},
      {"Case01OneRecordShortOfTheLogStartIsLost", One(Seen(0, 99).Log(100, 200).Record(100, 10min)),
       Lost(10min)},
      {"Case01ExactlyAtTheLogStartIsNotLost", One(Seen(0, 100).Log(100, 200).Record(100, 10min)),
       Lagging(10min)},
      {"Case01EverythingExpiredHasNoLagRatherThanZero", One(Seen(0, 50).Log(100, 100).NoRecord()),
       Lost({}, "no_timestamp")},
      {"Case01FirstRecordLeftIsStampedNowAndStillNotZero",
       One(Seen(0, 50).Log(100, 200).Record(100, 0ms)), Lost({}, "no_timestamp")},
      {"Case01RememberedStampOfTheLostRecordBeatsTheBound",
       One(Seen(0, 50).Log(100, 200).Record(100, 10min)).SawStamp(50, 7h), Lost(7h)},
      {"Case01RememberedStampOfAnotherOffsetIsNotUsed",
       One(Seen(0, 50).Log(100, 200).Record(100, 10min)).SawStamp(49, 7h), Lost(10min)},
      {"Case01LossIsProvedEvenWhenTheRecordCannotBeRead",
       One(Seen(0, 50).Log(100, 200).Fault(ProbeFault::kTimeout)), Lost({}, "no_timestamp")},
      {"Case02MarginShrinkingIsStillLagging",
       One(Seen(0, 101).Log(100, 200).Record(101, 50min)).Retention(1h).Sla(2h), Lagging(50min)},
      {"Case03CheckpointBeyondTheEndIsAhead", One(Seen(0, 500).Log(0, 100)),
       Ahead("offset_ahead", Reason::kOffsetAhead)},
      {"Case03TopicIdConfirmsTheReCreation", One(Seen(0, 500).Log(0, 100)).KnewTopicAs("id-0"),
       Ahead("topic_recreated", Reason::kTopicRecreated)},
      {"Case04TruncatedByOneIsAheadWithoutGuessing", One(Seen(0, 101).Log(0, 100)),
       Ahead("offset_ahead", Reason::kOffsetAhead)},
      {"Case04LargestOffsetIsAhead", One(Seen(0, kMax).Log(0, kMax - 1)),
       Ahead("offset_ahead", Reason::kOffsetAhead)},
      {"Case05ReCreatedAndGrownPastTheCheckpointIsSuppressed",
       One(Seen(0, 50).Log(0, 100).Record(50, 1min)).KnewTopicAs("id-0"),
       Unknown("topic_recreated", Reason::kTopicRecreated)},
      {"Case05LooksCaughtUpInTheReCreatedTopicAndIsSuppressed",
       One(Seen(0, 100).Log(0, 100)).KnewTopicAs("id-0"),
       Unknown("topic_recreated", Reason::kTopicRecreated)},
      {"Case05SameTopicIdIsJudged",
       One(Seen(0, 50).Log(0, 100).Record(50, 1min)).KnewTopicAs("id-1"), Lagging(1min)},
  };
}
INSTANTIATE_TEST_SUITE_P(LossAndMovedLogs, FreshnessCaseTest, testing::ValuesIn(LossAndMovedLogs()),
                         NameOfCase);

std::vector<Case> CutLogs() {
  return {
      {"Case04TruncationIsNamedWhereTheLeadersEpochShowsIt",
       One(Seen(0, 500).Log(0, 400).Led(8).Holds(7, 7, 390)).SawLeader(7, 500),
       Ahead("log_truncated", Reason::kOffsetAhead)},
      {"Case04TruncatedAndGrownPastTheCheckpointIsSuppressed",
       One(Seen(0, 500).Log(0, 600).Record(500, 1min).Led(8).Holds(7, 7, 390)).SawLeader(7, 500),
       Ahead("log_truncated", Reason::kOffsetAhead)},
      {"Case04LooksCaughtUpInTheTruncatedLogAndIsSuppressed",
       One(Seen(0, 500).Log(0, 500).Led(8).Holds(7, 7, 499)).SawLeader(7, 500),
       Ahead("log_truncated", Reason::kOffsetAhead)},
      {"Case04WhatWasNotReadYetIsJudgedBelowTheCut",
       One(Seen(0, 390).Log(0, 600).Record(390, 1min).Led(8).Holds(7, 7, 390)).SawLeader(7, 500),
       Lagging(1min, "log_truncated")},
      {"Case04CleanElectionChangesNothing",
       One(Seen(0, 500).Log(0, 600).Record(500, 1min).Led(8).Holds(7, 7, 500)).SawLeader(7, 500),
       Lagging(1min)},
      {"Case04TheSameLeaderNeverTruncates",
       One(Seen(0, 500).Log(0, 600).Record(500, 1min).Led(7).Holds(7, 7, 390)).SawLeader(7, 500),
       Lagging(1min)},
      {"Case04ALeaderThatCannotTellIsNoProof",
       One(Seen(0, 500).Log(0, 600).Record(500, 1min).Led(8).CannotTellOf(7)).SawLeader(7, 500),
       Lagging(1min)},
      {"Case04TheEndOfAnotherEpochIsNoProof",
       One(Seen(0, 500).Log(0, 600).Record(500, 1min).Led(8).Holds(6, 6, 390)).SawLeader(7, 500),
       Lagging(1min)},
      {"Case04RetentionAfterATruncationIsLost",
       One(Seen(0, 500).Log(550, 600).Record(550, 1h).Led(8).Holds(7, 7, 390)).SawLeader(7, 500),
       Lost(1h, "log_truncated")},
      {"Case04OneThatIsMadeLeaderAgainWithoutTheRecordsOfTheLastOneIsSuppressed",
       // Epoch 7 began at 390 behind epoch 5; the log of now goes on with epoch 5 up to 500.
       One(Seen(0, 480).Log(0, 600).Record(480, 1min).Led(8).Holds(7, 5, 500))
           .SawLeader(7, 500, 390, 5),
       Ahead("log_truncated", Reason::kOffsetAhead)},
      {"Case04ALogOfOtherLeadersIsSuppressedWhereverItParts",
       One(Seen(0, 20).Log(0, 600).Record(20, 1min).Led(8).Holds(7, 6, 500))
           .SawLeader(7, 500, 390, 5),
       Ahead("log_truncated", Reason::kOffsetAhead)},
      {"Case04NothingReadFromALogOfOtherLeadersIsJudged",
       One(Seen(0, 0).Log(0, 600).Record(0, 1min).Led(8).Holds(7, 6, 500))
           .SawLeader(7, 500, 390, 5),
       Lagging(1min, "log_truncated")},
      {"Case04ALeaderWhoAppendedNothingIsNotMissed",
       One(Seen(0, 500).Log(0, 600).Record(500, 1min).Led(8).Holds(7, 5, 500))
           .SawLeader(7, 500, 500, 5),
       Lagging(1min)},
      {"Case04WithoutItsBeginningAMissingEpochIsNoProof",
       One(Seen(0, 480).Log(0, 600).Record(480, 1min).Led(8).Holds(7, 5, 500))
           .SawLeader(7, 500, PipelineMemory::Leadership::kUntold),
       Lagging(1min)},
      {"Case04AnEpochThatWentBackIsAnotherLogAlsoWithoutTopicIds",
       One(Seen(0, 50).Log(0, 600).Record(50, 1min).Led(0).CannotTellOf(7)).SawLeader(7, 500),
       Ahead("log_truncated", Reason::kOffsetAhead)},
  };
}
INSTANTIATE_TEST_SUITE_P(CutLogs, FreshnessCaseTest, testing::ValuesIn(CutLogs()), NameOfCase);

std::vector<Case> EndsOfTheLog() {
  return {
      {"Case06CaughtUpIsFreshWithoutReading", One(Seen(0, 100).Log(0, 100)), Fresh()},
      {"Case06EmptyPartitionIsFresh", One(Seen(0, 0).Log(0, 0)), Fresh()},
      {"Case06IdlePartitionWhoseRecordsAllExpiredIsFresh", One(Seen(0, 100).Log(100, 100)),
       Fresh()},
      {"Case06CaughtUpNeedsNoLogStart", One(Seen(0, 100).Log({}, 100)), Fresh()},
      {"Case06OneRecordWaitingIsLagging", One(Seen(0, 99).Log(0, 100).Record(99, 1s)), Lagging(1s)},
      {"Case07OnlyControlRecordsLeftIsFresh", One(Seen(0, 99).Log(0, 100).NoRecord()),
       Fresh("nothing_readable")},
      {"Case07OnlyControlRecordsLeftIsFreshForCommittedReaders",
       One(Seen(0, 99).Log(0, 100).Stable(100).NoRecord()).ReadCommitted(),
       Fresh("nothing_readable")},
      {"Case07RecordThatCameAfterTheEndWasTakenIsNotWaitingYet",
       One(Seen(0, 99).Log(0, 100).Record(100, 2h)), Fresh("nothing_readable")},
      {"Case08AbortedDataIsFreshForCommittedReaders",
       One(Seen(0, 90).Log(0, 100).Stable(100).NoRecord()).ReadCommitted(),
       Fresh("nothing_readable")},
      {"Case08AbortedDataLagsForUncommittedReaders", One(Seen(0, 90).Log(0, 100).Record(90, 5min)),
       Lagging(5min)},
      {"Case09OpenTransactionAtTheCheckpointIsBlocked",
       One(Seen(0, 90).Log(0, 100).Stable(90).HeldBack(90, 3h)).ReadCommitted(), Blocked()},
      {"Case09CheckpointInsideTheOpenTransactionIsBlocked",
       One(Seen(0, 99).Log(0, 100).Stable(90)).ReadCommitted(), Blocked()},
      {"Case09OnlyControlRecordsBeforeTheOpenTransactionIsBlocked",
       One(Seen(0, 89).Log(0, 100).Stable(90).NoRecord()).ReadCommitted(), Blocked()},
      {"Case09ReadableRecordBeforeTheOpenTransactionIsLagging",
       One(Seen(0, 89).Log(0, 100).Stable(90).Record(89, 5min)).ReadCommitted(), Lagging(5min)},
      {"Case09CheckpointAtTheVeryEndIsFresh",
       One(Seen(0, 100).Log(0, 100).Stable(90)).ReadCommitted(), Fresh()},
      {"Case09UncommittedReadersAreNotBlocked",
       One(Seen(0, 90).Log(0, 100).Stable(90).Record(90, 5min)), Lagging(5min)},
      {"Case09WithoutTheStableOffsetNothingIsProved",
       One(Seen(0, 90).Log(0, 100).NoRecord()).ReadCommitted(),
       Unknown("undecided", Reason::kPartitionsUnknown)},
      {"Case10CompactionGapIsRightAndFlagged", One(Seen(0, 50).Log(0, 100).Record(57, 5min)),
       Lagging(5min, "gap")},
      {"Case11CompactedTailIsFresh", One(Seen(0, 50).Log(0, 100).NoRecord()),
       Fresh("nothing_readable")},
      {"Case12TombstoneIsARecordLikeAnyOther", One(Seen(0, 50).Log(0, 51).Record(50, 5min)),
       Lagging(5min)},
  };
}
INSTANTIATE_TEST_SUITE_P(EndsOfTheLog, FreshnessCaseTest, testing::ValuesIn(EndsOfTheLog()),
                         NameOfCase);

Seen Stamped(int64_t timestamp_ms, TimestampType type = TimestampType::kCreate) {
  return Seen(0, 50).Log(0, 100).Stamped(50, timestamp_ms, type);
}
Seen Aged(Milliseconds age, TimestampType type = TimestampType::kCreate) {
  return Seen(0, 50).Log(0, 100).Record(50, age, type);
}

std::vector<Case> Stamps() {
  const int64_t now_ms = MillisOf(kNow);
  return {
      {"Case13StampOfTheProducerCounts", One(Aged(5min)), Lagging(5min)},
      {"Case13StampOfTheBrokerCounts", One(Aged(5min, TimestampType::kAppend)), Lagging(5min)},
      {"Case14NoStampAndNoEarlierRunIsUnknown", One(Stamped(-1, TimestampType::kNone)),
       Unknown("no_timestamp", Reason::kNoTimestamp)},
      {"Case14NoStampTakesTheArrivalBound", One(Stamped(-1, TimestampType::kNone)).SawEnd(50, 4min),
       Lagging(4min, "no_timestamp")},
      {"Case14MostNegativeStampIsNone", One(Stamped(kMin)),
       Unknown("no_timestamp", Reason::kNoTimestamp)},
      {"Case15StampZeroIsNotFiftyYearsOfLag", One(Stamped(0)),
       Unknown("implausible_timestamp", Reason::kNoTimestamp)},
      {"Case15SecondsInsteadOfMillisecondsAreImplausible", One(Stamped(now_ms / 1000)),
       Unknown("implausible_timestamp", Reason::kNoTimestamp)},
      {"Case15ImplausibleStampTakesTheArrivalBound", One(Stamped(0)).SawEnd(50, 4min),
       Lagging(4min, "implausible_timestamp")},
      {"Case15LastImplausibleMillisecond", One(Stamped(MillisOf(kOldestPlausibleStamp) - 1)),
       Unknown("implausible_timestamp", Reason::kNoTimestamp)},
      {"Case15FirstPlausibleMillisecond", One(Stamped(MillisOf(kOldestPlausibleStamp))),
       Late(kNow - kOldestPlausibleStamp)},
      {"Case16FutureWithinToleranceIsNow", One(Aged(-2min)), Lagging(0ms)},
      {"Case16FutureAtTheToleranceIsNow", One(Aged(-kFutureStampTolerance)), Lagging(0ms)},
      {"Case16FutureWithinToleranceIsNoYoungerThanItsFirstSighting",
       One(Aged(-2min)).SawEnd(60, 800ms), Lagging(800ms, "arrival_bound")},
      {"Case16FutureBeyondToleranceIsUnknown", One(Aged(-kFutureStampTolerance - 1ms)),
       Unknown("future_timestamp", Reason::kNoTimestamp)},
      {"Case16FutureBeyondToleranceTakesTheArrivalBound", One(Aged(-10h)).SawEnd(50, 4min),
       Lagging(4min, "future_timestamp")},
      {"Case16LargestStampIsUnknown", One(Stamped(kMax)),
       Unknown("future_timestamp", Reason::kNoTimestamp)},
      {"Case17OutOfOrderStampsAreJudgedByTheFirstRecord",
       One(Seen(0, 50).Log(0, 100).Record(50, 1min)), Lagging(1min)},
      {"Case18BackfillTakesTheArrivalBound", One(Aged(90 * 24h)).SawEnd(50, 3min),
       Lagging(3min, "arrival_bound")},
      {"Case18LatestSightingBelowTheRecordCounts",
       One(Aged(90 * 24h)).SawEnd(40, 9min).SawEnd(50, 3min).SawEnd(51, 1min),
       Lagging(3min, "arrival_bound")},
      {"Case18SightingPastTheRecordIsNoBound", One(Aged(90 * 24h)).SawEnd(51, 3min),
       Late(90 * 24h)},
      {"Case18YoungerStampBeatsTheArrivalBound", One(Aged(2min)).SawEnd(50, 3min), Lagging(2min)},
      {"Case18SightingFromTheFutureIsAnotherClock", One(Aged(2min)).SawEnd(50, -1ms),
       Lagging(2min)},
      {"Case18ARecordSeenLongAgoIsNotYoungerThanThat",
       One(Aged(-2min)).SawEnd(50, 41min).SawEnd(60, 40min), Lagging(40min, "arrival_bound")},
      {"Case18AStampOfASecondAfterTheSightingIsBelieved",
       One(Aged(40min - 1s)).SawEnd(50, 41min).SawEnd(60, 40min), Lagging(40min - 1s)},
      {"Case19BrokerStampedTheFutureSoAClockIsOff", One(Aged(-10min, TimestampType::kAppend)),
       Unknown("clock_skew", Reason::kNoTimestamp)},
      {"Case41OldFormatWithoutStampIsLikeNoStamp", One(Stamped(-1, TimestampType::kCreate)),
       Unknown("no_timestamp", Reason::kNoTimestamp)},
  };
}
INSTANTIATE_TEST_SUITE_P(Stamps, FreshnessCaseTest, testing::ValuesIn(Stamps()), NameOfCase);

World Added(const Seen& added) {
  World world({added, Seen(1, 10).Log(0, 10)});
  return world;
}

std::vector<Case> PartitionsAndFaults() {
  const auto faulty = [](ProbeFault fault) {
    return One(Seen(0, 50).Log(0, 100).Fault(fault, "words of the client"));
  };
  return {
      {"Case20AddedPartitionLagsFromItsFirstRecord", Added(Seen(0).Log(0, 20).Record(0, 5min)),
       Lagging(5min, "not_in_checkpoint")},
      {"Case20AddedEmptyPartitionIsFresh", Added(Seen(0).Log(0, 0)), Fresh("not_in_checkpoint")},
      {"Case20AddedPartitionThatAlreadyExpiredIsLost", Added(Seen(0).Log(7, 20).Record(7, 5min)),
       Lost(5min, "not_in_checkpoint")},
      {"Case20AddedPartitionOfWhichNothingIsKnownIsUnknown",
       Added(Seen(0).Fault(ProbeFault::kNoLeader)),
       Unknown("no_leader", Reason::kPartitionsUnknown)},
      {"Case21PartitionThatIsGoneIsUnknown", faulty(ProbeFault::kPartitionMissing),
       Unknown("partition_missing", Reason::kPartitionsUnknown)},
      {"Case30NoLeaderIsUnknown", faulty(ProbeFault::kNoLeader),
       Unknown("no_leader", Reason::kPartitionsUnknown)},
      {"Case31FactsThatCameAfterARetryCountInFull", One(Seen(0, 50).Log(0, 100).Record(50, 5min)),
       Lagging(5min)},
      {"Case32TopicRightRefusedIsUnknown", faulty(ProbeFault::kTopicDenied),
       Unknown("topic_denied", Reason::kAuth)},
      {"Case32LoginRefusedIsUnknown", faulty(ProbeFault::kAuthentication),
       Unknown("authentication", Reason::kAuth)},
      {"Case32CertificateRefusedIsUnknown", faulty(ProbeFault::kTls),
       Unknown("tls", Reason::kAuth)},
      {"Case33BrokersThatDoNotAnswerAtAll", faulty(ProbeFault::kBrokerUnreachable),
       Unknown("broker_unreachable", Reason::kClusterUnreachable)},
      {"Case35TimeoutIsUnknownNeverEmpty", faulty(ProbeFault::kTimeout),
       Unknown("timeout", Reason::kTimeout)},
      {"Case35TimeoutOfTheEndsIsUnknown", One(Seen(0, 50).Fault(ProbeFault::kTimeout)),
       Unknown("timeout", Reason::kTimeout)},
      {"Case35UndecidedSearchWithoutAFaultIsUnknown", One(Seen(0, 50).Log(0, 100)),
       Unknown("undecided", Reason::kPartitionsUnknown)},
      {"Case36BatchOverTheReceiveLimitIsUnknown", faulty(ProbeFault::kTooLarge),
       Unknown("too_large", Reason::kPartitionsUnknown)},
      {"Case37UndecodableBatchIsUnknown", faulty(ProbeFault::kUndecodable),
       Unknown("undecodable", Reason::kPartitionsUnknown)},
      {"Case38SlowTieredReadThatMissedTheDeadlineIsUnknown", faulty(ProbeFault::kTimeout),
       Unknown("timeout", Reason::kTimeout)},
      {"Case39ThrottledButDecidedIsJudgedAtTheTimeOfTheEnds",
       One(Seen(0, 50).Log(0, 100).Record(50, 5min)), Lagging(5min)},
      {"Case40OutOfRangeAnswerWithinTheLeadersLogIsNotALoss", faulty(ProbeFault::kOther),
       Unknown("other", Reason::kPartitionsUnknown)},
      {"Case42EndNotYetAvailableIsUnknown", One(Seen(0, 50).Log(0, {}).Fault(ProbeFault::kTimeout)),
       Unknown("timeout", Reason::kTimeout)},
      {"Case43OtherClusterThatLooksPlausibleIsUnknown",
       MovedToCluster("cluster-b", Seen(0, 50).Log(0, 100).Record(50, 5min)),
       Unknown("cluster_changed", Reason::kTopicRecreated)},
      {"Case43OtherClusterWithAShorterLogIsAhead",
       MovedToCluster("cluster-b", Seen(0, 500).Log(0, 100)),
       Ahead("offset_ahead", Reason::kOffsetAhead)},
      {"Case43SameClusterIsJudged",
       MovedToCluster("cluster-a", Seen(0, 50).Log(0, 100).Record(50, 5min)), Lagging(5min)},
  };
}
INSTANTIATE_TEST_SUITE_P(PartitionsAndFaults, FreshnessCaseTest,
                         testing::ValuesIn(PartitionsAndFaults()), NameOfCase);

}  // namespace
}  // namespace tidemark::freshness
