// Records that were not read, and whose stamps are estimated (docs/freshness.md, "Without READ").
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "freshness/judge.h"
#include "support/freshness_facts.h"

namespace tidemark::freshness {
namespace {

using kafka::TimestampType;
using support::Seen;
using support::World;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

Seen Waiting() {
  return Seen(0, 50).Log(0, 100);
}

TEST(EstimateTest, AnExactOneIsAnAge) {
  World world({Waiting().EstimatedAt(20min)});
  world.Retention(1h);
  const PipelineReport report = world.Judge();
  EXPECT_EQ(report.status, PipelineStatus::kFresh);
  EXPECT_EQ(report.lag, 20min);
  EXPECT_FALSE(report.lag_is_lower_bound);
  EXPECT_EQ(report.partitions[0].verdict, Verdict::kLagging);
  EXPECT_EQ(report.partitions[0].reason, "estimated");
  EXPECT_EQ(report.retention_margin, 40min);
  EXPECT_EQ(report.uncommitted_records, 50);
  EXPECT_THAT(report.message, HasSubstr("records were not read"));
}

TEST(EstimateTest, AnotherOneIsALowerBoundWhichJudgesAgainstTheSla) {
  const struct {
    Milliseconds age;
    PipelineStatus status;
  } cases[] = {
      {20min, PipelineStatus::kFresh},         {45min, PipelineStatus::kWarning},
      {60min - 1ms, PipelineStatus::kWarning}, {60min, PipelineStatus::kBreach},
      {3h, PipelineStatus::kBreach},
  };
  for (const auto& c : cases) {
    World world({Waiting().EstimatedAtLeast(c.age)});
    world.Retention(1h);
    const PipelineReport report = world.Judge();
    EXPECT_EQ(report.status, c.status) << c.age.count();
    EXPECT_EQ(report.reason, Reason::kOk);
    EXPECT_EQ(report.lag, c.age);
    EXPECT_TRUE(report.lag_is_lower_bound);
    EXPECT_THAT(report.message, HasSubstr("at least"));
    // The record may be older, and then gone earlier.
    EXPECT_EQ(report.retention_margin, std::nullopt);
  }
}

TEST(EstimateTest, TheArrivalBoundHoldsForItToo) {
  const PipelineReport report = World({Waiting().EstimatedAtLeast(3h)}).SawEnd(40, 10min).Judge();
  EXPECT_EQ(report.lag, 10min);
  EXPECT_FALSE(report.lag_is_lower_bound);
  EXPECT_EQ(report.status, PipelineStatus::kFresh);
}

TEST(EstimateTest, AStampOfTheFutureGivesNoAge) {
  const PipelineReport report = World({Waiting().EstimatedAtLeast(-10min)}).Judge();
  EXPECT_EQ(report.status, PipelineStatus::kUnknown);
  EXPECT_EQ(report.reason, Reason::kNoTimestamp);
  EXPECT_EQ(report.partitions[0].reason, "future_timestamp");
  EXPECT_EQ(report.lag, std::nullopt);
}

TEST(EstimateTest, WhatIsLeftOfALostLogBoundsWhatIsLost) {
  const PipelineReport report = World({Seen(0, 10).Log(30, 100).EstimatedAt(2h)}).Judge();
  EXPECT_EQ(report.partitions[0].verdict, Verdict::kLost);
  EXPECT_EQ(report.lag, 2h);
  EXPECT_TRUE(report.lag_is_lower_bound);
}

TEST(EstimateTest, WhatEndsAtTheCheckpointIsFreshWhateverWasEstimated) {
  const PipelineReport report = World({Seen(0, 100).Log(0, 100).EstimatedAt(2h)}).Judge();
  EXPECT_EQ(report.status, PipelineStatus::kFresh);
  EXPECT_EQ(report.lag, 0ms);
}

TEST(EstimateTest, TheTypeIsThatOfTheTopicNow) {
  World world({Waiting().EstimatedAt(20min)});
  EXPECT_EQ(world.Judge().partitions[0].timestamp_type, TimestampType::kCreate);
  world.topic().stamped_by = TimestampType::kAppend;
  EXPECT_EQ(world.Judge().partitions[0].timestamp_type, TimestampType::kAppend);
}

}  // namespace
}  // namespace tidemark::freshness
