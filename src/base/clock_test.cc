#include "base/clock.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

using namespace std::chrono_literals;

/// Both clocks go on by `call_takes` with each question, and by `stall` after the `stalls_after`th.
class StallingClock final : public Clock {
 public:
  WallTime Now() const override {
    Pass();
    return WallTime(kAhead) + std::chrono::floor<Milliseconds>(passed_);
  }
  MonoTime Mono() const override {
    Pass();
    return MonoTime(passed_);
  }
  std::string SteadyName() const override { return "a start"; }

  static constexpr Milliseconds kAhead{1'700'000'000'000};
  std::chrono::microseconds call_takes{1};
  Milliseconds stall{0};
  int stalls_after = 0;

 private:
  void Pass() const {
    passed_ += call_takes;
    if (questions_++ == stalls_after) passed_ += stall;
  }

  mutable int questions_ = 0;
  mutable std::chrono::nanoseconds passed_{0};
};

TEST(ClockTest, AReadingTellsHowFarTheWallClockIsAhead) {
  const ClockReading reading = ReadClock(StallingClock());
  EXPECT_EQ(reading.steady, "a start");
  EXPECT_LE(std::chrono::abs(reading.ahead - StallingClock::kAhead), 1ms);
}

TEST(ClockTest, AStallWhileTheClocksAreReadIsNoStepOfTheWallClock) {
  for (int question = 0; question < 4; ++question) {
    StallingClock clock;
    clock.stall = 2s;
    clock.stalls_after = question;
    const Milliseconds off = ReadClock(clock).ahead - StallingClock::kAhead;
    EXPECT_LE(std::chrono::abs(off), 1ms) << "held up after question " << question;
  }
}

TEST(ClockTest, ClocksThatAreAlwaysSlowToTellAreReadAsWellAsTheyCan) {
  StallingClock clock;
  clock.call_takes = 20ms;
  const Milliseconds off = ReadClock(clock).ahead - StallingClock::kAhead;
  EXPECT_LE(std::chrono::abs(off), 21ms);
}

}  // namespace
}  // namespace tidemark
