#include "base/budget.h"

#include <gtest/gtest.h>

#include <thread>

namespace tidemark {
namespace {

using namespace std::chrono_literals;

TEST(BudgetTest, WithoutDeadlineIsNeverOver) {
  const Budget budget;
  EXPECT_FALSE(budget.is_over());
  EXPECT_TRUE(budget.Check().has_value());
  EXPECT_GT(budget.Remaining(), std::chrono::hours(24));
}

TEST(BudgetTest, ZeroIsOverAtOnce) {
  const Budget budget = Budget::For(0s);
  EXPECT_TRUE(budget.is_over());
  EXPECT_EQ(budget.Check().error().kind, ErrorKind::kUnavailable);
}

TEST(BudgetTest, NegativeIsOverAtOnce) {
  EXPECT_TRUE(Budget::For(-1h).is_over());
}

TEST(BudgetTest, ForeverDoesNotOverflow) {
  EXPECT_FALSE(Budget::For(std::chrono::nanoseconds::max()).is_over());
}

TEST(BudgetTest, WithinNeverLengthens) {
  const Budget budget = Budget::For(50ms).Within(1h);
  EXPECT_LE(budget.Remaining(), 50ms);
}

TEST(BudgetTest, StopComesBeforeTheDeadline) {
  std::stop_source source;
  const Budget budget = Budget::For(0s, source.get_token());
  source.request_stop();
  EXPECT_EQ(budget.Check().error().kind, ErrorKind::kCancelled);
}

TEST(BudgetTest, NoWaitForATryThatIsOneTooMany) {
  Budget budget;
  budget.tries_max = 2;
  budget.retry_delay = 1ms;
  EXPECT_TRUE(budget.WaitForTry(2));
  EXPECT_FALSE(budget.WaitForTry(3));
}

TEST(BudgetTest, NoWaitForATryThatCannotFit) {
  Budget budget = Budget::For(5ms);
  budget.retry_delay = 10s;
  EXPECT_FALSE(budget.WaitForTry(2));
}

TEST(BudgetTest, AWaitEndsWithItsTimeOrWithAStop) {
  EXPECT_TRUE(WaitUnlessStopped(1ms, {}));
  std::stop_source source;
  EXPECT_TRUE(WaitUnlessStopped(1ms, source.get_token()));
  const std::jthread later([&source] { source.request_stop(); });
  EXPECT_FALSE(WaitUnlessStopped(1h, source.get_token()));
  EXPECT_FALSE(WaitUnlessStopped(0ms, source.get_token()));
}

TEST(BudgetTest, AServerMayAskForALongerWait) {
  Budget budget = Budget::For(1s);
  budget.retry_delay = 1ms;
  EXPECT_FALSE(budget.WaitForTry(2, 1h));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(budget.WaitForTry(2, 30ms));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 30ms);
}

TEST(BudgetTest, StopEndsTheWait) {
  std::stop_source source;
  Budget budget = Budget::For(1h, source.get_token());
  budget.retry_delay = 10min;
  source.request_stop();
  EXPECT_FALSE(budget.WaitForTry(2));
}

}  // namespace
}  // namespace tidemark
