#include "rules/watched.h"

#include <gtest/gtest.h>

namespace tidemark::rules {
namespace {

using namespace std::chrono_literals;

TEST(WatchedTest, ASharePerMillionIsADecimalWithoutNeedlessDigits) {
  EXPECT_EQ(PercentText(990'000), "99");
  EXPECT_EQ(PercentText(999'500), "99.95");
  EXPECT_EQ(PercentText(999'999), "99.9999");
  EXPECT_EQ(PercentText(1), "0.0001");
  EXPECT_EQ(ShareText(10'000), "0.01");
  EXPECT_EQ(ShareText(500), "0.0005");
  EXPECT_EQ(ShareText(999'999), "0.999999");
}

TEST(WatchedTest, TheStepIsTheLongerOfALookAndAScrape) {
  const WatchedPipeline pipeline{.name = "orders", .interval = 60s};
  EXPECT_EQ(StepOf(pipeline, {.scrape_interval = 15s}), 60s);
  EXPECT_EQ(StepOf(pipeline, {.scrape_interval = 60s}), 60s);
  EXPECT_EQ(StepOf(pipeline, {.scrape_interval = 15min}), 15min);
}

}  // namespace
}  // namespace tidemark::rules
