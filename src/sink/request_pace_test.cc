#include "sink/request_pace.h"

#include <gtest/gtest.h>

namespace tidemark::sink {
namespace {

using std::chrono::seconds;

constexpr MonoTime kStart{std::chrono::hours(1)};
constexpr RequestRate kRate{.most = 10, .least = 1, .burst = 3};

TEST(RequestPaceTest, ABurstIsFreeAndThenTheRateHolds) {
  RequestPace pace(kRate, kStart);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pace.Take(kStart), Milliseconds(0));
  EXPECT_EQ(pace.Take(kStart), Milliseconds(100));
  EXPECT_EQ(pace.Take(kStart), Milliseconds(200));
  EXPECT_EQ(pace.Take(kStart + seconds(1)), Milliseconds(0));
}

TEST(RequestPaceTest, IdleTimeIsSavedUpToTheBurst) {
  RequestPace pace(kRate, kStart);
  const MonoTime later = kStart + std::chrono::hours(5);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pace.Take(later), Milliseconds(0));
  EXPECT_GT(pace.Take(later), Milliseconds(0));
}

TEST(RequestPaceTest, RefusalsHalveTheRateDownToTheLeastAndSuccessesRaiseIt) {
  RequestPace pace(kRate, kStart);
  pace.NoteRefusal();
  EXPECT_DOUBLE_EQ(pace.per_second(), 5);
  EXPECT_EQ(pace.Take(kStart), Milliseconds(200));
  for (int i = 0; i < 10; ++i) pace.NoteRefusal();
  EXPECT_DOUBLE_EQ(pace.per_second(), 1);
  for (int i = 0; i < 1000; ++i) pace.NoteSuccess();
  EXPECT_DOUBLE_EQ(pace.per_second(), 10);
}

TEST(RequestPaceTest, AClockThatGoesBackTakesNothing) {
  RequestPace pace(kRate, kStart);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pace.Take(kStart - seconds(5)), Milliseconds(0));
}

TEST(NextWaitTest, LiesBetweenTheFirstAndThreeTimesTheLast) {
  constexpr Milliseconds kFirst{100};
  constexpr Milliseconds kMost{2000};
  EXPECT_EQ(NextWait(Milliseconds(0), kFirst, kMost, 0.9), kFirst);
  EXPECT_EQ(NextWait(Milliseconds(100), kFirst, kMost, 0.0), kFirst);
  EXPECT_EQ(NextWait(Milliseconds(100), kFirst, kMost, 0.5), Milliseconds(200));
  EXPECT_EQ(NextWait(Milliseconds(100), kFirst, kMost, 1.0), Milliseconds(300));
  EXPECT_EQ(NextWait(Milliseconds(5000), kFirst, kMost, 1.0), kMost);
}

}  // namespace
}  // namespace tidemark::sink
