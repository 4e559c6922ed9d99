// Cases of docs/freshness.md whose report is more than one verdict.
#include <gmock/gmock.h>
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
using testing::HasSubstr;

OldestRecord OldestOf(const PipelineReport& report) {
  return report.oldest.value_or(OldestRecord{});
}

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

World One(const Seen& seen) {
  return World({seen});
}

Seen Stamped(int64_t timestamp_ms, TimestampType type = TimestampType::kCreate) {
  return Seen(0, 50).Log(0, 100).Stamped(50, timestamp_ms, type);
}
Seen Aged(Milliseconds age, TimestampType type = TimestampType::kCreate) {
  return Seen(0, 50).Log(0, 100).Record(50, age, type);
}
World Added(const Seen& added) {
  return World({added, Seen(1, 10).Log(0, 10)});
}

TEST(FreshnessPipelineCaseTest, Case01LossIsCountedAsAnUpperBound) {
  const PipelineReport report =
      World({Seen(0, 50).Log(100, 200).Record(100, 10min), Seen(1, 5).Log(0, 5)}).Judge();
  EXPECT_EQ(report.lost_records, 50);
  EXPECT_TRUE(report.lag_is_lower_bound);
  EXPECT_EQ(report.retention_margin_records, 0);
  EXPECT_EQ(report.counts.lost, 1);
  EXPECT_EQ(report.counts.fresh, 1);
  EXPECT_THAT(report.message, HasSubstr("Up to 50 records of orders partition 0 expired"));
}

TEST(FreshnessPipelineCaseTest, Case01MessageCountsTheOtherPartitionsThatLost) {
  const Seen first = Seen(0, 50).Log(100, 200);
  const Seen second = Seen(1, 70).Log(100, 200);
  EXPECT_THAT(World({first, second}).Judge().message,
              HasSubstr("Up to 80 records of orders partition 0 and 1 more partition expired"));
  EXPECT_THAT(World({first, second, Seen(2, 99).Log(100, 200)}).Judge().message,
              HasSubstr("Up to 81 records of orders partition 0 and 2 more partitions expired"));
}

TEST(FreshnessPipelineCaseTest, Case01LossOutranksALongerLagElsewhere) {
  const PipelineReport report =
      World({Seen(0, 50).Log(100, 200).Record(100, 10min), Seen(1, 5).Log(0, 9).Record(5, 5h)})
          .Judge();
  EXPECT_EQ(report.reason, Reason::kDataLost);
  EXPECT_EQ(report.lag, 5h);
  EXPECT_TRUE(report.lag_is_lower_bound);
}

TEST(FreshnessPipelineCaseTest, Case01RememberedStampMakesTheLagExact) {
  const PipelineReport report =
      One(Seen(0, 50).Log(100, 200).Record(100, 10min)).SawStamp(50, 7h).Judge();
  EXPECT_FALSE(report.lag_is_lower_bound);
  EXPECT_EQ(OldestOf(report).offset, 50);
}

TEST(FreshnessPipelineCaseTest, Case02MarginIsGivenInRecordsAndTime) {
  World world(
      {Seen(0, 101).Log(100, 200).Record(101, 50min), Seen(1, 60).Log(0, 100).Record(60, 5min)});
  const PipelineReport report = world.Retention(1h).Judge();
  EXPECT_EQ(report.retention_margin_records, 1);
  EXPECT_EQ(report.retention_margin, 10min);
}

TEST(FreshnessPipelineCaseTest, Case02MarginIsZeroWhenTheRecordMayBeDeletedAnyMoment) {
  const PipelineReport report = One(Seen(0, 50).Log(0, 100).Record(50, 2h)).Retention(1h).Judge();
  EXPECT_EQ(report.retention_margin, 0ms);
}

TEST(FreshnessPipelineCaseTest, Case02UnknownRetentionHasNoTimeMargin) {
  const PipelineReport report = One(Seen(0, 50).Log(0, 100).Record(50, 2h)).Judge();
  EXPECT_EQ(report.retention_margin, std::nullopt);
  EXPECT_EQ(report.retention_margin_records, 50);
}

TEST(FreshnessPipelineCaseTest, Case02CompactedTopicHasATimeMarginOnlyWhenItDeletesToo) {
  World world = One(Seen(0, 50).Log(0, 100).Record(50, 10min)).Retention(1h);
  world.topic().is_compacted = true;
  EXPECT_EQ(world.Judge().retention_margin, std::nullopt);
  world.topic().is_also_deleted = true;
  EXPECT_EQ(world.Judge().retention_margin, 50min);
}

TEST(FreshnessPipelineCaseTest, Case04ATruncationSaysWhereAndHidesNoLoss) {
  const Seen grown = Seen(0, 500).Log(0, 600).Record(500, 1min).Led(8).Holds(7, 7, 390);
  const PipelineReport ahead = One(grown).SawLeader(7, 500).Judge();
  EXPECT_THAT(ahead.message, HasSubstr("orders partition 0 is offset 500, and the log was cut at "
                                       "390 since"));
  EXPECT_EQ(ahead.lost_records, std::nullopt);
  EXPECT_EQ(ahead.counts.ahead, 1);

  const Seen below = Seen(0, 390).Log(0, 390).Led(8).Holds(7, 7, 390);
  const PipelineReport fresh = One(below).SawLeader(7, 500).Judge();
  EXPECT_EQ(fresh.status, PipelineStatus::kFresh);
  EXPECT_THAT(fresh.message, HasSubstr("the log of orders partition 0 was cut at 390"));
  EXPECT_EQ(fresh.lost_records, std::nullopt);
}

TEST(FreshnessPipelineCaseTest, Case04ATruncationIsToldUntilAnotherCheckpointIsInTheTable) {
  World world = One(Seen(0, 500).Log(0, 600).Record(500, 1min).Led(8));
  world.memory.checkpoint_value = world.commit.checkpoint.value;
  world.memory.cuts[{support::kTopic, 0}] = 390;
  EXPECT_EQ(world.Judge().reason, Reason::kOffsetAhead);
  world.memory.checkpoint_value = "orders,0:480";
  EXPECT_EQ(world.Judge().lag, 1min);
}

TEST(FreshnessPipelineCaseTest, Case04ATruncationIsToldOnceWhenTheTableHasMovedOnMeanwhile) {
  World world = One(Seen(0, 500).Log(0, 600).Record(500, 1min).Led(8).Holds(7, 7, 390));
  world.SawLeader(7, 450).memory.checkpoint_value = "orders,0:450";
  EXPECT_EQ(world.Judge().reason, Reason::kOffsetAhead);
}

TEST(FreshnessPipelineCaseTest, Case04WhatWasSeenBehindTheCutSaysNothingOfWhatIsThereNow) {
  // The record at 390 was seen to wait for three hours, and is not the one that is there now.
  World world = One(Seen(0, 390).Log(0, 600).Record(390, 1min).Led(8).Holds(7, 7, 390));
  world.SawEnd(380, 4h).SawEnd(500, 3h).SawLeader(7, 500);
  EXPECT_EQ(world.Judge().lag, 1min);
}

TEST(FreshnessPipelineCaseTest, Case04WhatLiesBelowTheCutHasWaitedAsLongAsBefore) {
  // A stamp of the future says nothing; only that ends behind it were seen does.
  World world =
      One(Seen(0, 100).Log(0, 390).Stamped(100, MillisOf(kNow + 1min)).Led(8).Holds(7, 7, 390));
  world.SawEnd(90, 4h).SawEnd(500, 3h).SawEnd(510, 2h).SawLeader(7, 510);
  EXPECT_EQ(world.Judge().lag, 3h);
}

TEST(FreshnessPipelineCaseTest, Case04ACutWithoutAPlaceSaysSo) {
  World world = One(Seen(0, 20).Log(0, 600).Record(20, 1min).Led(8).Holds(7, 6, 500));
  EXPECT_THAT(world.SawLeader(7, 500, 390, 5).Judge().message,
              HasSubstr("the log was cut at an offset that cannot be told since"));
}

TEST(FreshnessPipelineCaseTest, Case05WhatWasSeenOfTheOldTopicSaysNothingOnceTheTableHasMovedOn) {
  // The first look at a checkpoint of the new topic: the old one had gone on for an hour.
  World world = One(Aged(1min)).SawEnd(10, 3h).SawEnd(500, 2h).KnewTopicAs("id-0");
  world.memory.checkpoint_value = "orders,0:480";
  const PipelineReport report = world.Sla(10min).Judge();
  EXPECT_EQ(report.status, PipelineStatus::kFresh);
  EXPECT_EQ(report.lag, 1min);
  // But that it began after they were seen: old records have not waited for longer.
  World backfill = One(Aged(25h)).SawEnd(10, 3h).SawEnd(500, 5min).KnewTopicAs("id-0");
  backfill.memory.checkpoint_value = "orders,0:480";
  EXPECT_EQ(backfill.Judge().lag, 5min);
  // Of the same topic it does.
  world.memory.topic_ids[support::kTopic] = "id-1";
  EXPECT_EQ(world.Judge().lag, 2h);
}

TEST(FreshnessPipelineCaseTest, Case14ARecordThatWasSeenToWaitForTheSlaIsABreachWithoutAnyStamp) {
  World world = One(Stamped(-1)).SawEnd(60, 40min);
  const PipelineReport late = world.Sla(40min).Judge();
  EXPECT_EQ(late.status, PipelineStatus::kBreach);
  EXPECT_EQ(late.lag, 40min);
  EXPECT_TRUE(late.lag_is_lower_bound);
  EXPECT_EQ(late.partitions[0].reason, "no_timestamp");
  // Below it proves nothing.
  const PipelineReport doubtful = world.Sla(41min).Judge();
  EXPECT_EQ(doubtful.status, PipelineStatus::kUnknown);
  EXPECT_EQ(doubtful.reason, Reason::kNoTimestamp);
  EXPECT_EQ(doubtful.lag, std::nullopt);
  EXPECT_THAT(doubtful.message, HasSubstr("for 2400 s at least"));
}

/// A record that waits since a minute: the log was seen without it 61 s ago and with it 59 s ago.
/// Our clock has been set by `step` since, the producer's is right.
World WaitsAMinute(Milliseconds step) {
  return One(Aged(1min + step)).SawEnd(50, 61s + step).SawEnd(60, 59s + step);
}

TEST(FreshnessPipelineCaseTest, Case19ClockSetBackMakesNothingYounger) {
  for (const Milliseconds step : {-7s, -59s, -3600s}) {
    // What was seen before the step moves along with it.
    World world = One(Aged(1min + step)).SawEnd(50, 61s + step).SawEnd(60, 59s + step);
    const PipelineReport report = world.SetClock(step).Sla(50s).Judge();
    EXPECT_EQ(report.status, PipelineStatus::kBreach) << step.count();
    ASSERT_TRUE(report.lag) << step.count();
    EXPECT_GE(*report.lag, 59s) << step.count();
    EXPECT_LE(*report.lag, 61s) << step.count();
  }
}

TEST(FreshnessPipelineCaseTest, Case19ClockSetForwardProvesNoBreach) {
  const PipelineReport report = WaitsAMinute(1h).SetClock(1h).Sla(10min).Judge();
  EXPECT_EQ(report.status, PipelineStatus::kUnknown);
  EXPECT_EQ(report.reason, Reason::kNoTimestamp);
  EXPECT_EQ(report.lag, std::nullopt);
  EXPECT_EQ(report.partitions[0].reason, "clock_set");
  EXPECT_THAT(report.message, HasSubstr("it has waited for 60 to 3660 s"));
}

TEST(FreshnessPipelineCaseTest, Case19ClockSetForwardLeavesWhatItCannotChange) {
  // Fresh and late either way.
  const PipelineReport fresh = WaitsAMinute(7s).SetClock(7s).Sla(10min).Judge();
  EXPECT_EQ(fresh.status, PipelineStatus::kFresh);
  EXPECT_EQ(fresh.lag, 1min);
  EXPECT_TRUE(fresh.lag_is_lower_bound);
  const PipelineReport late = WaitsAMinute(1h).SetClock(1h).Sla(50s).Judge();
  EXPECT_EQ(late.status, PipelineStatus::kBreach);
  EXPECT_EQ(late.lag, 1min);
  EXPECT_TRUE(late.lag_is_lower_bound);
}

TEST(FreshnessPipelineCaseTest, Case19RecordsThatCameAfterTheStepAreBoundedByWhatWasSeenSince) {
  World world = One(Aged(1h + 10s));
  world.SawEnd(40, 2h).SetClock(1h).SawEnd(50, 11s);
  const PipelineReport report = world.Sla(10min).Judge();
  EXPECT_EQ(report.status, PipelineStatus::kFresh);
  EXPECT_EQ(report.lag, 11s);
  EXPECT_FALSE(report.lag_is_lower_bound);
}

TEST(FreshnessPipelineCaseTest, Case20OfAnUnseenPartitionTheNextRecordToBeDeletedIsLost) {
  World world({Seen(0, 100).Log(40, 200).Record(100, 5min), Seen(1).Log(0, 20).Record(0, 5min)});
  const PipelineReport report = world.Judge();
  EXPECT_EQ(report.partitions[1].retention_margin_records, 0);
  EXPECT_EQ(report.retention_margin_records, 0);
}

TEST(FreshnessPipelineCaseTest, Case02NothingWaitingHasNoMargin) {
  const PipelineReport report = One(Seen(0, 100).Log(100, 100)).Retention(1h).Judge();
  EXPECT_EQ(report.retention_margin_records, std::nullopt);
  EXPECT_EQ(report.retention_margin, std::nullopt);
}

TEST(FreshnessPipelineCaseTest, Case02HugeRetentionDoesNotOverflow) {
  const PipelineReport report =
      One(Seen(0, 50).Log(0, 100).Record(50, 10min)).Retention(Milliseconds(kMax)).Judge();
  EXPECT_GT(report.retention_margin, 24h * 365 * 1000);
}

TEST(FreshnessPipelineCaseTest, Case05NewCheckpointEndsTheSuppression) {
  World world = One(Seen(0, 50).Log(0, 100).Record(50, 1min)).KnewTopicAs("id-0");
  world.memory.checkpoint_value = "orders,0:40";
  EXPECT_EQ(world.Judge().lag, 1min);
  world.memory.checkpoint_value = world.commit.checkpoint.value;
  EXPECT_EQ(world.Judge().reason, Reason::kTopicRecreated);
}

TEST(FreshnessPipelineCaseTest, Case09AgeOfTheHeldBackRecordIsReportedBesideTheLag) {
  const PipelineReport report =
      One(Seen(0, 90).Log(0, 100).Stable(90).HeldBack(90, 3h)).ReadCommitted().Judge();
  EXPECT_EQ(report.partitions[0].blocked_age, 3h);
  EXPECT_EQ(report.partitions[0].first_uncommitted, 90);
  EXPECT_EQ(report.counts.blocked, 1);
  EXPECT_EQ(report.oldest, std::nullopt);
  EXPECT_THAT(report.message, HasSubstr("open transaction holds back 1 partition for 3 h"));
}

TEST(FreshnessPipelineCaseTest, Case13StampTypeIsExported) {
  const PipelineReport report = One(Aged(5min, TimestampType::kAppend)).Judge();
  EXPECT_EQ(OldestOf(report).timestamp_type, TimestampType::kAppend);
  EXPECT_EQ(OldestOf(report).timestamp_ms, MillisOf(kNow - 5min));
}

TEST(FreshnessPipelineCaseTest, Case14WhatHasWaitedAtLeastIsNotSaidToHaveWaitedAtMost) {
  const PipelineReport report =
      One(Stamped(-1, TimestampType::kNone)).Sla(1min).SawEnd(60, 4min).Judge();
  ASSERT_EQ(report.status, PipelineStatus::kBreach);
  ASSERT_TRUE(report.lag_is_lower_bound);
  EXPECT_THAT(report.message, HasSubstr("at least 4 min"));
}

TEST(FreshnessPipelineCaseTest, Case14ArrivalBoundIsMarkedAsSuch) {
  const PipelineReport report = One(Stamped(-1, TimestampType::kNone)).SawEnd(50, 4min).Judge();
  EXPECT_TRUE(OldestOf(report).is_arrival_bound);
  EXPECT_EQ(OldestOf(report).timestamp_ms, -1);
  EXPECT_THAT(report.message, HasSubstr("at most 4 min"));
}

TEST(FreshnessPipelineCaseTest, Case16SkewIsExportedWhetherToleratedOrNot) {
  EXPECT_EQ(One(Aged(-2min)).Judge().clock_skew, 2min);
  EXPECT_EQ(One(Aged(-10h)).Judge().clock_skew, 10h);
  EXPECT_EQ(One(Aged(2min)).Judge().clock_skew, 0ms);
  EXPECT_GT(One(Stamped(kMax)).Judge().clock_skew, 24h * 365 * 1000);
}

TEST(FreshnessPipelineCaseTest, Case19SkewOfTheBrokerIsNamed) {
  EXPECT_THAT(One(Aged(-10min, TimestampType::kAppend)).Judge().message,
              HasSubstr("the broker's clock and this machine's disagree"));
}

TEST(FreshnessPipelineCaseTest, Case20PartitionTheProbeDidNotReportIsNotSkipped) {
  World world = One(Seen(0, 10).Log(0, 10));
  world.topic().partition_count = 3;
  const PipelineReport report = world.Judge();
  EXPECT_EQ(report.counts.total, 3);
  EXPECT_EQ(report.counts.unknown, 2);
  EXPECT_EQ(report.status, PipelineStatus::kUnknown);
}

TEST(FreshnessPipelineCaseTest, Case20KafkaConnectStartsUnseenPartitionsWhereverItLikes) {
  World world = Added(Seen(0).Log(7, 20).Record(7, 5min));
  world.spec.topic = support::kTopic;
  world.commit.checkpoint.kind = lake::CheckpointKind::kKafkaConnect;
  world.commit.checkpoint.topics[0].topic.clear();
  const PipelineReport report = world.Judge();
  EXPECT_EQ(report.partitions[0].verdict, Verdict::kLagging);
  EXPECT_EQ(report.partitions[0].reason, "not_in_checkpoint");
  EXPECT_EQ(report.partitions[0].committed, std::nullopt);
  EXPECT_EQ(report.lost_records, 0);
}

TEST(FreshnessPipelineCaseTest, Case21TheOtherPartitionsAreJudged) {
  World world({Seen(0, 10).Log(0, 10), Seen(1, 10).Log(0, 10)});
  world.topic().partition_count = 1;
  world.probe.partitions.pop_back();
  const PipelineReport report = world.Judge();
  EXPECT_EQ(report.counts.fresh, 1);
  ASSERT_EQ(report.counts.unknown, 1);
  EXPECT_EQ(report.partitions[1].reason, "partition_missing");
}

TEST(FreshnessPipelineCaseTest, Case22MessageSaysThatEveryPartitionStartsOver) {
  EXPECT_THAT(One(Seen(0, 50).Log(100, 200).Record(100, 10min)).Judge().message,
              HasSubstr("starts every partition of the topic again"));
}

TEST(FreshnessPipelineCaseTest, Case23OtherTopicThanConfiguredIsNotAskedFor) {
  World world = One(Seen(0, 10).Log(0, 10));
  world.spec.topic = "orders-v2";
  EXPECT_TRUE(TopicsToProbe(world.spec, world.Search()).empty());
  const PipelineReport report = world.Judge();
  EXPECT_EQ(report.status, PipelineStatus::kUnknown);
  EXPECT_EQ(report.reason, Reason::kTopicMismatch);
  EXPECT_EQ(report.lag, std::nullopt);
  EXPECT_THAT(report.message, HasSubstr("is of topic orders, the configuration says orders-v2"));
}

TEST(FreshnessPipelineCaseTest, Case24TimestampCheckpointIsNoPosition) {
  World world = One(Seen(0, 10).Log(0, 10));
  world.commit.checkpoint = {.key = "deltastreamer.checkpoint.reset_key",
                             .value = "1700000000000",
                             .kind = lake::CheckpointKind::kEpochMillis,
                             .topics = {}};
  EXPECT_TRUE(TopicsToProbe(world.spec, world.Search()).empty());
  EXPECT_EQ(world.Judge().reason, Reason::kCheckpointNotKafka);
}

TEST(FreshnessPipelineCaseTest, Case24SingleOffsetIsPartitionZeroOnly) {
  const PipelineReport report = One(Seen(0, 50).Log(0, 100).Record(50, 5min)).Judge();
  EXPECT_EQ(report.counts.total, 1);
  EXPECT_EQ(report.lag, 5min);
}

TEST(FreshnessPipelineCaseTest, Case25AnyKeyIsTakenAndShown) {
  for (const char* key :
       {"deltastreamer.checkpoint.key", "streamer.checkpoint.key.v2",
        "deltastreamer.checkpoint.reset_key", "streamer.checkpoint.reset.key.v2"}) {
    World world = One(Seen(0, 50).Log(0, 100).Record(50, 5min));
    world.commit.checkpoint.key = key;
    EXPECT_EQ(world.Judge().lag, 5min) << key;
    EXPECT_EQ(world.Judge().commit.value_or(lake::CommitPoint{}).checkpoint.key, key);
  }
}

TEST(FreshnessPipelineCaseTest, Case26EmptyCheckpointsArePassedOverWithTheirDepth) {
  World world = One(Seen(0, 50).Log(0, 100).Record(50, 5min));
  world.commit.commit_depth = 4;
  EXPECT_EQ(world.Judge().commit.value_or(lake::CommitPoint{}).commit_depth, 4);
  world.has_commit = false;
  world.search.commits_examined = 100;
  world.search.is_depth_exhausted = true;
  const PipelineReport report = world.Judge();
  EXPECT_EQ(report.status, PipelineStatus::kUnknown);
  EXPECT_EQ(report.reason, Reason::kNoCheckpoint);
  EXPECT_THAT(report.message, HasSubstr("newest 100 completed commits"));
}

TEST(FreshnessPipelineCaseTest, Case27CopiedCheckpointIsAsOldAsItsOffsets) {
  World world = One(Seen(0, 50).Log(0, 100).Record(50, 3h));
  lake::CommitPoint& change = world.last_change.emplace(world.commit);
  change.committed_at = kNow - 4h;

  const PipelineReport report = world.Judge();
  EXPECT_EQ(report.lag, 3h);
  EXPECT_EQ(report.commit_age, 60s);
  EXPECT_EQ(report.last_change_age, 4h);
  EXPECT_THAT(report.message, HasSubstr("its offsets last moved 4 h ago"));
}

TEST(FreshnessPipelineCaseTest, Case28EveryTopicOfTheCheckpointCounts) {
  const PipelineReport report =
      World({Seen(0, 10).Log(0, 10), Seen(0, 5).In("returns").Log(0, 9).Record(5, 2h)}).Judge();
  EXPECT_EQ(report.counts.total, 2);
  EXPECT_EQ(report.lag, 2h);
  EXPECT_EQ(OldestOf(report).partition.topic, "returns");
}

TEST(FreshnessPipelineCaseTest, Case29TwoWritersOfOnePartitionCountByTheLowerOffset) {
  World world = One(Seen(0, 50).Log(0, 100).Record(50, 5min));
  lake::SourceCheckpoint& checkpoint = world.commit.checkpoint;
  checkpoint.topics.push_back({.topic = "orders", .offsets = {{0, 80}, {1, 7}}, .writer = "b"});
  const auto topics = TopicsToProbe(world.spec, world.Search());
  ASSERT_EQ(topics.size(), 1U);
  EXPECT_EQ(topics[0].committed, (kafka::PartitionOffsets{{0, 50}, {1, 7}}));
}

TEST(FreshnessPipelineCaseTest, Case29PipelineThatNamesItsTopicIsJudgedByThatTopicOnly) {
  World world({Seen(0, 10).Log(0, 10), Seen(0, 5).In("returns").Log(0, 9).Record(5, 2h)});
  world.spec.topic = "orders";
  EXPECT_EQ(world.Judge().counts.total, 1);
  EXPECT_EQ(world.Judge().status, PipelineStatus::kFresh);
}

TEST(FreshnessPipelineCaseTest, Case32MessageNamesTheRightThatIsMissing) {
  const PipelineReport report =
      One(Seen(0, 50).Fault(ProbeFault::kTopicDenied, "Broker: Topic authorization failed"))
          .Judge();
  EXPECT_THAT(report.message, HasSubstr("Broker: Topic authorization failed"));
  EXPECT_THAT(report.message, HasSubstr("grant this user DESCRIBE and READ"));
}

TEST(FreshnessPipelineCaseTest, Case33OneBrokerDownLeavesTheRestDecided) {
  const PipelineReport report =
      World({Seen(0, 10).Log(0, 10), Seen(1, 10).Fault(ProbeFault::kBrokerUnreachable)}).Judge();
  EXPECT_EQ(report.counts.fresh, 1);
  EXPECT_EQ(report.counts.unknown, 1);
  EXPECT_EQ(report.status, PipelineStatus::kUnknown);
  EXPECT_EQ(report.reason, Reason::kPartitionsUnknown);
  EXPECT_EQ(report.lag, std::nullopt);
}

TEST(FreshnessPipelineCaseTest, Case33WhatIsKnownProvesABreach) {
  const PipelineReport report =
      World({Seen(0, 10).Log(0, 20).Record(10, 2h), Seen(1, 10).Fault(ProbeFault::kNoLeader)})
          .Judge();
  EXPECT_EQ(report.status, PipelineStatus::kBreach);
  EXPECT_EQ(report.reason, Reason::kPartitionsUnknown);
  EXPECT_EQ(report.lag, 2h);
  EXPECT_TRUE(report.lag_is_lower_bound);
  EXPECT_THAT(report.message, HasSubstr("1 of 2 partitions could not be judged"));
}

TEST(FreshnessPipelineCaseTest, Case33WhatIsKnownProvesNeitherHealthNorAWarning) {
  const PipelineReport report =
      World({Seen(0, 10).Log(0, 20).Record(10, 59min), Seen(1, 10).Fault(ProbeFault::kNoLeader)})
          .Judge();
  EXPECT_EQ(report.status, PipelineStatus::kUnknown);
  EXPECT_EQ(report.lag, std::nullopt);
  EXPECT_EQ(report.oldest, std::nullopt);
  EXPECT_EQ(report.uncommitted_records, std::nullopt);
}

TEST(FreshnessPipelineCaseTest, Case34ClusterThatIsDownIsThisPipelinesTroubleOnly) {
  World down = One(Seen(0, 10).Log(0, 10));
  down.cluster_error = Error{ErrorKind::kUnavailable, "no broker answered"};
  const std::vector<PipelineReport> reports = {down.Judge(), One(Seen(0, 10).Log(0, 10)).Judge()};
  EXPECT_EQ(reports[0].reason, Reason::kClusterUnreachable);
  EXPECT_EQ(reports[1].status, PipelineStatus::kFresh);
  EXPECT_EQ(ExitCodeOf(reports), 3);
}

TEST(FreshnessPipelineCaseTest, Case39AgesAreTakenWhenTheEndsWereTaken) {
  const World world = One(Seen(0, 50).Log(0, 100).Record(50, 5min));
  const PipelineReport report =
      JudgePipeline(world.spec, world.Table(), world.Cluster(), world.memory, kNow + 9s);
  EXPECT_EQ(report.lag, 5min);
  EXPECT_EQ(report.observed_at, kNow);
}

TEST(FreshnessPipelineCaseTest, Case44DisabledPipelineIsAStateNotSilence) {
  World world;
  world.spec.is_disabled = true;
  const PipelineReport report = world.Judge();
  EXPECT_EQ(report.status, PipelineStatus::kDisabled);
  EXPECT_EQ(report.reason, Reason::kOk);
  EXPECT_EQ(ExitCodeOf({&report, 1}), 0);
}

TEST(FreshnessPipelineCaseTest, Case44MaintenanceKeepsTheNumbersAndRaisesNoAlarm) {
  World world = One(Seen(0, 50).Log(0, 100).Record(50, 2h));
  world.spec.is_in_maintenance = true;
  const PipelineReport report = world.Judge();
  EXPECT_EQ(report.status, PipelineStatus::kDisabled);
  EXPECT_EQ(report.reason, Reason::kMaintenance);
  EXPECT_EQ(report.lag, 2h);
  EXPECT_EQ(ExitCodeOf({&report, 1}), 0);
}

TEST(FreshnessPipelineCaseTest, Case45CapIsInTheCappedRatioOnly) {
  const PipelineReport report =
      One(Seen(0, 50).Log(0, 100).Record(50, 20 * 24h)).Sla(14 * 24h).Judge();
  EXPECT_EQ(report.lag, 20 * 24h);
  EXPECT_DOUBLE_EQ(report.sla_ratio.value_or(-1), 20.0 / 14);
  EXPECT_DOUBLE_EQ(report.sla_ratio_capped.value_or(-1), 0.5);
  EXPECT_EQ(report.status, PipelineStatus::kBreach);
}

TEST(FreshnessPipelineCaseTest, Case45CappedRatioEndsAtOne) {
  const PipelineReport report = One(Seen(0, 50).Log(0, 100).Record(50, 90min)).Judge();
  EXPECT_DOUBLE_EQ(report.sla_ratio.value_or(-1), 1.5);
  EXPECT_DOUBLE_EQ(report.sla_ratio_capped.value_or(-1), 1.0);
}

TEST(FreshnessPipelineCaseTest, Case46DefaultsAreExplicitAndNeverZero) {
  EXPECT_EQ(PipelineSpec{}.sla, 60min);
  EXPECT_EQ(kStreamingSlaDefault, 60min);
  EXPECT_EQ(kBatchSlaDefault, 1440min);
}

TEST(FreshnessPipelineCaseDeathTest, Case46SlaOfZeroIsTheConfigurationsMistake) {
  const World world = One(Seen(0, 50).Log(0, 100).Record(50, 2h)).Sla(0ms);
  EXPECT_DEATH((void)world.Judge(), "sla=0");
}

}  // namespace
}  // namespace tidemark::freshness
