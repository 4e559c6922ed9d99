#include "feed/send_retry.h"

#include <gtest/gtest.h>

namespace tidemark::feed {
namespace {

TEST(SendRetryTest, WaitsGrowToFiveSecondsAndStay) {
  const std::pair<int, int> cases[] = {{1, 100}, {2, 500}, {3, 2000}, {4, 5000}, {1000, 5000}};
  for (const auto& [tries, ms] : cases) {
    EXPECT_EQ(RetryDelay(tries, 0).count(), ms);
    EXPECT_LE(RetryDelay(tries, 0.999).count(), ms * 12 / 10);
    EXPECT_GE(RetryDelay(tries, 0.999).count(), ms * 119 / 100);
  }
}

}  // namespace
}  // namespace tidemark::feed
