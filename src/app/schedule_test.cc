#include "app/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace tidemark::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

constexpr MonoTime kBegin{1'000'000s};

Schedule ScheduleOf(const std::vector<std::string>& names, Milliseconds interval = 60s) {
  std::vector<Schedule::Entry> entries;
  for (const std::string& name : names) entries.push_back({name, interval});
  Schedule schedule;
  schedule.Set(entries, kBegin);
  return schedule;
}

TEST(ScheduleTest, NewPipelinesAreDueAtOnce) {
  Schedule schedule = ScheduleOf({"a", "b"});
  EXPECT_EQ(schedule.NextDue(), kBegin);
  EXPECT_THAT(schedule.TakeDue(kBegin), UnorderedElementsAre("a", "b"));
}

TEST(ScheduleTest, ARunningPipelineIsNotTakenAgain) {
  Schedule schedule = ScheduleOf({"a"});
  schedule.TakeDue(kBegin);
  EXPECT_EQ(schedule.NextDue(), std::nullopt);
  EXPECT_THAT(schedule.TakeDue(kBegin + 1h), IsEmpty());
}

TEST(ScheduleTest, APipelineIsDueOnceAnIntervalAtAMomentOfItsOwn) {
  Schedule schedule = ScheduleOf({"a"});
  MonoTime now = kBegin;
  std::vector<MonoTime> begun;
  for (int second = 0; second < 600; ++second, now += 1s) {
    if (schedule.TakeDue(now).empty()) continue;
    begun.push_back(now);
    schedule.Done("a", now + 200ms);
  }
  ASSERT_THAT(begun, SizeIs(11));  // the first at once
  for (size_t i = 2; i < begun.size(); ++i) EXPECT_EQ(begun[i] - begun[i - 1], 60s);
}

TEST(ScheduleTest, ManyPipelinesBeginAtFewMomentsSpreadOverTheInterval) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("pipeline " + std::to_string(i));
  Schedule schedule = ScheduleOf(names);
  for (const std::string& name : schedule.TakeDue(kBegin)) schedule.Done(name, kBegin);
  std::set<MonoTime> moments;
  size_t most = 0;
  while (const auto due = schedule.NextDue()) {
    if (*due > kBegin + 60s) break;
    moments.insert(*due);
    const auto names_due = schedule.TakeDue(*due);
    most = std::max(most, names_due.size());
    for (const std::string& name : names_due) schedule.Done(name, *due);
  }
  EXPECT_THAT(moments, SizeIs(kMomentsPerInterval));
  EXPECT_LT(most, 200u);
}

TEST(ScheduleTest, MomentsThatPassedDuringALongRunAreLeftOut) {
  Schedule schedule = ScheduleOf({"a"});
  schedule.TakeDue(kBegin);
  EXPECT_EQ(schedule.Done("a", kBegin + 10min), 10u);
  ASSERT_TRUE(schedule.NextDue().has_value());
  EXPECT_GT(*schedule.NextDue(), kBegin + 10min);
  EXPECT_LE(*schedule.NextDue(), kBegin + 11min);
}

TEST(ScheduleTest, NothingIsLeftOutByAShortRun) {
  Schedule schedule = ScheduleOf({"a"});
  schedule.TakeDue(kBegin);
  EXPECT_EQ(schedule.Done("a", kBegin), 0u);
  const MonoTime due = *schedule.NextDue();
  schedule.TakeDue(due);
  EXPECT_EQ(schedule.Done("a", due + 59'999ms), 0u);
  schedule.TakeDue(due + 60s);
  EXPECT_EQ(schedule.Done("a", due + 120s), 1u);
  EXPECT_EQ(schedule.Done("b", due + 120s), 0u);
}

TEST(ScheduleTest, AWakeUpMakesDueNow) {
  Schedule schedule = ScheduleOf({"a", "b"});
  for (const std::string& name : schedule.TakeDue(kBegin)) schedule.Done(name, kBegin);
  EXPECT_TRUE(schedule.WakeUp("a", kBegin + 1ms));
  EXPECT_THAT(schedule.TakeDue(kBegin + 1ms), ElementsAre("a"));
}

TEST(ScheduleTest, AWakeUpDuringARunStartsAnotherRightAfter) {
  Schedule schedule = ScheduleOf({"a"});
  schedule.TakeDue(kBegin);
  EXPECT_TRUE(schedule.WakeUp("a", kBegin + 1s));
  EXPECT_THAT(schedule.TakeDue(kBegin + 1s), IsEmpty());
  schedule.Done("a", kBegin + 2s);
  EXPECT_THAT(schedule.TakeDue(kBegin + 2s), ElementsAre("a"));
}

TEST(ScheduleTest, WakingUpWhatIsNotThereSaysSo) {
  EXPECT_FALSE(ScheduleOf({"a"}).WakeUp("b", kBegin));
}

TEST(ScheduleTest, AChangedSetKeepsMomentsAndForgetsWhatIsGone) {
  Schedule schedule = ScheduleOf({"a", "b"});
  for (const std::string& name : schedule.TakeDue(kBegin)) schedule.Done(name, kBegin);
  const auto due = schedule.NextDue();
  schedule.Set({{"a", 60s}, {"b", 60s}}, kBegin + 1ms);
  EXPECT_EQ(schedule.NextDue(), due);
  schedule.Set({{"c", 60s}}, kBegin + 1ms);
  EXPECT_THAT(schedule.TakeDue(kBegin + 1h), ElementsAre("c"));
  schedule.Done("a", kBegin + 1h);
  EXPECT_THAT(schedule.TakeDue(kBegin + 2h), IsEmpty());
}

TEST(ScheduleTest, AShorterIntervalCountsFromNowOn) {
  Schedule schedule = ScheduleOf({"a"}, 1h);
  schedule.TakeDue(kBegin);
  schedule.Done("a", kBegin);
  schedule.Set({{"a", 10s}}, kBegin);
  EXPECT_LE(*schedule.NextDue(), kBegin + 10s);
}

}  // namespace
}  // namespace tidemark::app
