// The pipeline rule, its reasons and its messages, beyond the cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "freshness/judge.h"
#include "support/freshness_facts.h"

namespace tidemark::freshness {
namespace {

using kafka::ProbeFault;
using support::kNow;
using support::Seen;
using support::World;
using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;

OldestRecord OldestOf(const PipelineReport& report) {
  return report.oldest.value_or(OldestRecord{});
}

World LaggingBy(Milliseconds lag) {
  return World({Seen(0, 50).Log(0, 100).Record(50, lag)});
}

TEST(PipelineStatusTest, SevenTenthsOfTheSlaIsAWarningAndAllOfItABreach) {
  const std::vector<std::pair<Milliseconds, PipelineStatus>> rows = {
      {0ms, PipelineStatus::kFresh},
      {42min - 1ms, PipelineStatus::kFresh},
      {42min, PipelineStatus::kWarning},
      {60min - 1ms, PipelineStatus::kWarning},
      {60min, PipelineStatus::kBreach},
      {60min + 1ms, PipelineStatus::kBreach},
      {10 * 365 * 24h, PipelineStatus::kBreach},
  };
  for (const auto& [lag, status] : rows) {
    const PipelineReport report = LaggingBy(lag).Judge();
    EXPECT_EQ(PipelineStatusName(report.status), PipelineStatusName(status)) << lag.count();
    EXPECT_EQ(report.reason, Reason::kOk);
  }
}

TEST(PipelineStatusTest, LagIsTheGreatestAndTheFirstOfEqualsIsNamed) {
  const PipelineReport report =
      World({Seen(0, 5).Log(0, 9).Record(5, 1min), Seen(1, 5).Log(0, 9).Record(5, 9min),
             Seen(2, 5).Log(0, 9).Record(5, 9min)})
          .Judge();
  EXPECT_EQ(report.lag, 9min);
  EXPECT_EQ(OldestOf(report).partition.partition, 1);
  EXPECT_EQ(report.uncommitted_records, 12);
  EXPECT_FALSE(report.lag_is_lower_bound);
}

TEST(PipelineStatusTest, ATopicWithoutPartitionsProvesNothing) {
  World world({Seen(0, 10).Log(0, 10)});
  world.probe.partitions.clear();
  world.topic().partition_count = 0;
  const PipelineReport report = world.Judge();
  EXPECT_EQ(report.status, PipelineStatus::kUnknown);
  EXPECT_EQ(report.lag, std::nullopt);
}

TEST(PipelineStatusTest, AMissingTopicIsUnknownForEveryCommittedPartition) {
  World world({Seen(0, 10), Seen(1, 10)});
  world.probe.partitions.clear();
  world.topic() = {.topic = support::kTopic, .topic_id = {}, .retention = {}, .fault_message = {}};
  const PipelineReport report = world.Judge();
  EXPECT_EQ(report.reason, Reason::kTopicMissing);
  EXPECT_EQ(report.counts.unknown, 2);
  EXPECT_THAT(report.message, HasSubstr("does not know topic orders"));
}

TEST(PipelineStatusTest, FactsAboutAnotherCommittedOffsetAreNoGround) {
  World world({Seen(0, 10).Log(0, 10)});
  world.probe.partitions[0].committed = 9;
  EXPECT_EQ(world.Judge().partitions[0].reason, "inconsistent_offsets");
  EXPECT_EQ(world.Judge().status, PipelineStatus::kUnknown);
}

TEST(PipelineStatusTest, ImpossibleOffsetsAreNoGround) {
  const std::vector<Seen> rows = {Seen(0, 10).Log(-1, 10), Seen(0, 10).Log(0, -1001),
                                  Seen(0, 10).Log(0, 10).Stable(11),
                                  Seen(0, 10).Log(0, 20).Record(9, 1min)};
  for (const Seen& seen : rows) {
    const PipelineReport report = World({seen}).Judge();
    EXPECT_EQ(report.partitions[0].reason, "inconsistent_offsets");
    EXPECT_EQ(report.lag, std::nullopt);
  }
}

TEST(PipelineStatusTest, NewerUnreadableCommitLeavesOnlyHealthProved) {
  World late = LaggingBy(2h);
  late.search.commits_unreadable = 1;
  const PipelineReport report = late.Judge();
  EXPECT_EQ(report.status, PipelineStatus::kUnknown);
  EXPECT_EQ(report.reason, Reason::kCheckpointUnreadable);
  EXPECT_EQ(report.lag, std::nullopt);
  EXPECT_EQ(report.lost_records, std::nullopt);

  World lost({Seen(0, 50).Log(100, 200).Record(100, 10min)});
  lost.search.commits_unreadable = 1;
  EXPECT_EQ(lost.Judge().reason, Reason::kCheckpointUnreadable);

  World fresh({Seen(0, 10).Log(0, 10)});
  fresh.search.commits_unreadable = 1;
  EXPECT_EQ(fresh.Judge().status, PipelineStatus::kFresh);
}

TEST(PipelineReasonTest, EveryObstacleBeforeThePartitionsHasItsReason) {
  const auto kafka = World({Seen(0, 10).Log(0, 10)});
  const auto with = [&](auto change) {
    World world = kafka;
    change(world);
    return world.Judge();
  };
  const std::vector<std::pair<PipelineReport, Reason>> rows = {
      {with([](World& w) { w.table_error = Error{ErrorKind::kNotFound, "no table"}; }),
       Reason::kTableUnreadable},
      {with([](World& w) { w.table_error = Error{ErrorKind::kDenied, "denied"}; }),
       Reason::kTableUnreadable},
      {with([](World& w) { w.has_commit = false; }), Reason::kNoCheckpoint},
      {with([](World& w) {
         w.has_commit = false;
         w.search.commits_unreadable = 2;
       }),
       Reason::kCheckpointUnreadable},
      {with([](World& w) { w.commit.checkpoint.kind = lake::CheckpointKind::kSparkBatch; }),
       Reason::kCheckpointNotKafka},
      {with([](World& w) {
         w.commit.checkpoint.kind = lake::CheckpointKind::kOther;
         w.commit.checkpoint.defect = "offset is over 9223372036854775807";
       }),
       Reason::kCheckpointUnreadable},
      {with([](World& w) { w.commit.checkpoint.topics.clear(); }), Reason::kCheckpointUnreadable},
      {with([](World& w) { w.commit.checkpoint.topics[0].offsets[0] = -1; }),
       Reason::kCheckpointUnreadable},
      {with([](World& w) { w.commit.checkpoint.topics[0].topic.clear(); }),
       Reason::kCheckpointUnreadable},
      {with([](World& w) { w.commit.checkpoint.kind = lake::CheckpointKind::kKafkaConnect; }),
       Reason::kCheckpointUnreadable},
      {with([](World& w) { w.spec.topic = "returns"; }), Reason::kTopicMismatch},
      {with([](World& w) { w.cluster_error = Error{ErrorKind::kDenied, "wrong password"}; }),
       Reason::kAuth},
      {with([](World& w) { w.cluster_error = Error{ErrorKind::kUnavailable, "nobody"}; }),
       Reason::kClusterUnreachable},
      {with([](World& w) { w.cluster_error = Error{ErrorKind::kCancelled, "stopped"}; }),
       Reason::kTimeout},
      {with([](World& w) { w.is_asked = false; }), Reason::kTimeout},
  };
  for (const auto& [report, reason] : rows) {
    EXPECT_EQ(ReasonName(report.reason), ReasonName(reason)) << report.message;
    EXPECT_EQ(report.status, PipelineStatus::kUnknown);
    EXPECT_EQ(report.lag, std::nullopt);
    EXPECT_EQ(report.lost_records, std::nullopt);
    EXPECT_EQ(report.clock_skew, std::nullopt);
    EXPECT_THAT(report.message, EndsWith("."));
  }
}

TEST(PipelineReasonTest, KafkaConnectTakesTheConfiguredTopic) {
  World world({Seen(0, 10).Log(0, 10)});
  world.commit.checkpoint.kind = lake::CheckpointKind::kKafkaConnect;
  world.commit.checkpoint.topics[0].topic.clear();
  EXPECT_TRUE(TopicsToProbe(world.spec, world.Search()).empty());
  world.spec.topic = support::kTopic;
  ASSERT_EQ(TopicsToProbe(world.spec, world.Search()).size(), 1U);
  EXPECT_EQ(world.Judge().status, PipelineStatus::kFresh);
}

// What needs a person's hand comes first; what may pass by itself only when it is all there is.
TEST(PipelineReasonTest, PermanentObstaclesOutrankPassingOnes) {
  const Seen timeout = Seen(1, 10).Fault(ProbeFault::kTimeout);
  const std::vector<std::pair<Seen, Reason>> rows = {
      {Seen(0, 10).Log(0, 9), Reason::kOffsetAhead},
      {Seen(0, 10).Fault(ProbeFault::kTopicMissing), Reason::kTopicMissing},
      {Seen(0, 10).Fault(ProbeFault::kTopicDenied), Reason::kAuth},
      {Seen(0, 10).Fault(ProbeFault::kTimeout), Reason::kTimeout},
      {Seen(0, 10).Log(0, 20).Stamped(10, 0), Reason::kPartitionsUnknown},
      {Seen(0, 10).Fault(ProbeFault::kNoLeader), Reason::kPartitionsUnknown},
      {Seen(0, 10).Fault(ProbeFault::kBrokerUnreachable), Reason::kPartitionsUnknown},
  };
  for (const auto& [seen, reason] : rows)
    EXPECT_EQ(ReasonName(World({seen, timeout}).Judge().reason), ReasonName(reason));
}

TEST(PipelineMessageTest, HealthyAndLateMessagesNameRecordAgeAndAllowance) {
  EXPECT_EQ(World({Seen(0, 10).Log(0, 10), Seen(1, 3).Log(0, 3)}).Judge().message,
            "Nothing is waiting: the table has all of its 2 partitions.");
  EXPECT_EQ(LaggingBy(5min).Judge().message,
            "The oldest record not in the table (orders partition 0, offset 50) has waited "
            "5 min of the 1 h allowed.");
  EXPECT_EQ(LaggingBy(45min).Judge().message,
            "The oldest record not in the table (orders partition 0, offset 50) has waited "
            "45 min of the 1 h allowed: see that the table's writer keeps up; its last "
            "commit with offsets is 1 min old.");
  EXPECT_EQ(LaggingBy(90min).Judge().message,
            "The oldest record not in the table (orders partition 0, offset 50) has waited "
            "1 h 30 min, 1 h are allowed: check the job that writes the table; its last "
            "commit with offsets is 1 min old.");
}

TEST(PipelineMessageTest, OffsetAheadNamesBothOffsets) {
  EXPECT_THAT(World({Seen(0, 500).Log(0, 100)}).Judge().message,
              HasSubstr("orders partition 0 is offset 500, beyond the end of the log at 100"));
}

TEST(PipelineMessageTest, LongForeignCheckpointsAreCutBetweenCharacters) {
  World world({Seen(0, 10).Log(0, 10)});
  world.commit.checkpoint.kind = lake::CheckpointKind::kOther;
  world.commit.checkpoint.value = std::string(79, 'x') + "é" + std::string(1000, 'y');
  EXPECT_THAT(world.Judge().message, HasSubstr("'" + std::string(79, 'x') + "…'"));
}

PipelineReport WithStatus(PipelineStatus status) {
  PipelineReport report;
  report.status = status;
  return report;
}

TEST(ExitCodeTest, BreachOutranksUnknownOutranksWarningOutranksHealthy) {
  const PipelineReport fresh = WithStatus(PipelineStatus::kFresh);
  const PipelineReport warning = WithStatus(PipelineStatus::kWarning);
  const PipelineReport breach = WithStatus(PipelineStatus::kBreach);
  const PipelineReport unknown = WithStatus(PipelineStatus::kUnknown);
  const PipelineReport disabled = WithStatus(PipelineStatus::kDisabled);
  const auto code = [](std::vector<PipelineReport> reports) { return ExitCodeOf(reports); };
  EXPECT_EQ(code({}), 0);
  EXPECT_EQ(code({disabled}), 0);
  EXPECT_EQ(code({fresh, disabled}), 0);
  EXPECT_EQ(code({fresh, warning}), 1);
  EXPECT_EQ(code({warning, unknown}), 3);
  EXPECT_EQ(code({unknown, breach, warning, fresh}), 2);
}

TEST(NamesTest, AreTheContractsWords) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Reason::kMaintenance); ++i)
    names.insert(ReasonName(static_cast<Reason>(i)));
  EXPECT_EQ(names, (std::set<std::string_view>{
                       "ok", "no_checkpoint", "checkpoint_not_kafka", "checkpoint_unreadable",
                       "topic_mismatch", "topic_missing", "topic_recreated", "offset_ahead",
                       "partitions_unknown", "data_lost", "table_unreadable", "cluster_unreachable",
                       "auth", "timeout", "no_timestamp", "maintenance"}));
  EXPECT_EQ(VerdictName(Verdict::kBlocked), "BLOCKED");
  EXPECT_EQ(PipelineStatusName(PipelineStatus::kDisabled), "disabled");
  EXPECT_EQ(ModeName(Mode::kBatch), "batch");
}

}  // namespace
}  // namespace tidemark::freshness
