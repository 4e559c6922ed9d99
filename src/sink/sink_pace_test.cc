#include "sink/sink_pace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tidemark::sink {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr BackOff kBackOff{.first = seconds(1), .most = minutes(1)};
constexpr MonoTime kStart{hours(10)};

SinkOutcome Temporary(Milliseconds retry_after = Milliseconds(0)) {
  return {.kind = OutcomeKind::kTemporary, .reason = "down", .retry_after = retry_after};
}

TEST(SinkPaceTest, ATableOfWhatOutcomesLeadTo) {
  struct Case {
    SinkPace before;
    SinkOutcome outcome;
    SinkMode mode;
    int failures;
    std::optional<SinkStamp> applied;
    std::optional<MonoTime> next_try;
  };
  const SinkPace failing{.mode = SinkMode::kPaused,
                         .failures = 3,
                         .next_try = kStart,
                         .since = kStart - seconds(9),
                         .reason = "down",
                         .applied = SinkStamp{1, 1}};
  const std::vector<Case> cases = {
      {{}, {}, SinkMode::kRunning, 0, SinkStamp{1, 2}, std::nullopt},
      {failing, {}, SinkMode::kRunning, 0, SinkStamp{1, 2}, std::nullopt},
      {{.applied = SinkStamp{1, 1}},
       Temporary(),
       SinkMode::kPaused,
       1,
       SinkStamp{1, 1},
       kStart + seconds(1)},
      {failing, Temporary(), SinkMode::kPaused, 4, SinkStamp{1, 1}, kStart + seconds(8)},
      {failing, Temporary(minutes(5)), SinkMode::kPaused, 4, SinkStamp{1, 1}, kStart + minutes(5)},
      {failing,
       {.kind = OutcomeKind::kPermanent, .reason = "no", .cure = "do"},
       SinkMode::kQuarantined,
       4,
       std::nullopt,
       std::nullopt},
      {failing,
       {.kind = OutcomeKind::kStale, .reason = "old"},
       SinkMode::kRunning,
       0,
       std::nullopt,
       std::nullopt},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const auto& [before, outcome, mode, failures, applied, next_try] = cases[i];
    const SinkPace after = After(before, {1, 2}, outcome, kStart, kBackOff, 1.0);
    EXPECT_EQ(after.mode, mode);
    EXPECT_EQ(after.failures, failures);
    EXPECT_EQ(after.applied, applied);
    EXPECT_EQ(after.next_try, next_try);
  }
}

TEST(SinkPaceTest, APauseDoublesAndLiesBetweenHalfAndAll) {
  SinkPace least;
  SinkPace most;
  for (const auto whole : {1, 2, 4, 8, 16, 32, 60, 60, 60}) {
    least = After(least, {1, 1}, Temporary(), kStart, kBackOff, 0.0);
    most = After(most, {1, 1}, Temporary(), kStart, kBackOff, 0.999999);
    EXPECT_EQ(*least.next_try, kStart + Milliseconds(whole * 500));
    EXPECT_LE(*most.next_try, kStart + seconds(whole));
    EXPECT_GT(*most.next_try, kStart + seconds(whole) - Milliseconds(5));
  }
}

TEST(SinkPaceTest, ThousandsOfFailuresDoNotOverflow) {
  SinkPace pace;
  for (int i = 0; i < 10'000; ++i) pace = After(pace, {1, 1}, Temporary(), kStart, kBackOff, 1.0);
  EXPECT_EQ(*pace.next_try, kStart + minutes(1));
}

TEST(SinkPaceTest, OneDownForAnHourIsTriedEveryMinuteAndTheOtherIsNotHeldUp) {
  SinkPace down;
  SinkPace up;
  int tries = 0;
  int64_t seq = 0;
  for (MonoTime now = kStart; now < kStart + hours(1); now += seconds(1)) {
    ++seq;
    ASSERT_TRUE(IsDue(up, now));
    up = After(up, {1, seq}, {}, now, kBackOff, 0.5);
    if (!IsDue(down, now)) continue;
    ++tries;
    down = After(down, {1, seq}, Temporary(), now, kBackOff, 0.5);
  }
  EXPECT_EQ(up.applied, (SinkStamp{1, 3600}));
  EXPECT_EQ(down.mode, SinkMode::kPaused);
  EXPECT_EQ(*down.since, kStart);
  // Three quarters of a minute between two, once the pauses have grown.
  EXPECT_GT(tries, 60);
  EXPECT_LT(tries, 95);
  const MonoTime back = kStart + hours(1) + minutes(1);
  ASSERT_TRUE(IsDue(down, back));
  down = After(down, {1, seq}, {}, back, kBackOff, 0.5);
  EXPECT_EQ(down, (SinkPace{.applied = SinkStamp{1, 3600}}));
}

TEST(SinkPaceTest, AQuarantineEndsByResumeAloneAndThenEverythingIsCompared) {
  const SinkPace pace =
      After({.applied = SinkStamp{1, 1}}, {1, 2},
            {.kind = OutcomeKind::kPermanent, .reason = "no", .cure = "do"}, kStart, kBackOff, 0.5);
  EXPECT_FALSE(IsDue(pace, kStart + hours(1000)));
  EXPECT_EQ(pace.cure, "do");
  EXPECT_TRUE(IsDue(Resume(pace), kStart));
  EXPECT_FALSE(Resume(pace).applied);
}

}  // namespace
}  // namespace tidemark::sink
