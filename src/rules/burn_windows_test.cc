#include "rules/burn_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::rules {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

/// The factors of the pairs that are left.
std::vector<int> Factors(Milliseconds step, int64_t objective_ppm) {
  std::vector<int> factors;
  for (const BurnWindow& window : BurnWindowsFor(step, objective_ppm))
    factors.push_back(window.factor_tenths);
  return factors;
}

// Share of the budget that is spent when the long window is over: the Site Reliability Workbook's
// table 5-8 (2 %, 5 %, 10 %), and Sloth's 10 % in a day.
TEST(BurnWindowsTest, EachPairSpendsTheBooksShareOfTheBudget) {
  std::vector<double> shares;
  for (const BurnWindow& window : AllBurnWindows()) {
    shares.push_back(window.factor_tenths / 10.0 * static_cast<double>(window.long_window.count()) /
                     static_cast<double>(kBudgetPeriod.count()));
    EXPECT_EQ(window.short_window * 12, window.long_window);
  }
  EXPECT_THAT(shares, ElementsAre(testing::DoubleNear(0.02, 1e-9), testing::DoubleNear(0.05, 1e-9),
                                  testing::DoubleNear(0.1, 1e-9), testing::DoubleNear(0.1, 1e-9)));
}

TEST(BurnWindowsTest, AShortWindowThatHoldsTooFewSamplesIsLeftOut) {
  EXPECT_THAT(Factors(15s, 990'000), ElementsAre(144, 60, 30, 10));
  EXPECT_THAT(Factors(100s, 990'000), ElementsAre(144, 60, 30, 10)) << "three samples in 5 min";
  EXPECT_THAT(Factors(101s, 990'000), ElementsAre(60, 30, 10));
  EXPECT_THAT(Factors(10min, 990'000), ElementsAre(60, 30, 10));
  EXPECT_THAT(Factors(15min, 990'000), ElementsAre(30, 10));
  EXPECT_THAT(Factors(40min, 990'000), ElementsAre(30, 10));
  EXPECT_THAT(Factors(2h, 990'000), ElementsAre(10));
  EXPECT_THAT(Factors(2h + 1ms, 990'000), IsEmpty());
}

TEST(BurnWindowsTest, AThresholdThatNoRatioCanPassIsLeftOut) {
  // 14.4 x 7 % is more than everything.
  EXPECT_THAT(Factors(60s, 931'000), ElementsAre(144, 60, 30, 10));
  EXPECT_THAT(Factors(60s, 930'000), ElementsAre(60, 30, 10));
  EXPECT_THAT(Factors(60s, 800'000), ElementsAre(30, 10));
  EXPECT_THAT(Factors(60s, 500'000), ElementsAre(10));
  EXPECT_THAT(Factors(60s, 1), ElementsAre(10));
}

}  // namespace
}  // namespace tidemark::rules
