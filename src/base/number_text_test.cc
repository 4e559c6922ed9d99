#include "base/number_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace tidemark {
namespace {

using namespace std::chrono_literals;

TEST(NumberTextTest, SecondsAreExactToTheMillisecond) {
  EXPECT_EQ(SecondsText(0ms), "0.0");
  EXPECT_EQ(SecondsText(41ms), "0.041");
  EXPECT_EQ(SecondsText(2700s), "2700.0");
  EXPECT_EQ(SecondsText(63200ms), "63.2");
  EXPECT_EQ(SecondsText(-1500ms), "-1.5");
  EXPECT_EQ(SecondsText(Milliseconds::max()), "9223372036854775.807");
  EXPECT_EQ(SecondsText(Milliseconds::min()), "-9223372036854775.808");
}

TEST(NumberTextTest, ShortSecondsDropAnEmptyFraction) {
  EXPECT_EQ(ShortSecondsText(1800s), "1800");
  EXPECT_EQ(ShortSecondsText(1800500ms), "1800.5");
  EXPECT_EQ(ShortSecondsText(0ms), "0");
}

TEST(NumberTextTest, DecimalsHaveNoExponent) {
  EXPECT_EQ(DecimalText(0), "0.0");
  EXPECT_EQ(DecimalText(-0.0), "0.0");
  EXPECT_EQ(DecimalText(1.5), "1.5");
  EXPECT_EQ(DecimalText(1.0 / 3), "0.333333333");
  EXPECT_EQ(DecimalText(0.00001), "0.00001");
  EXPECT_EQ(DecimalText(1e-12), "0.0");
  EXPECT_EQ(DecimalText(1e20), "100000000000000000000.0");
}

}  // namespace
}  // namespace tidemark
