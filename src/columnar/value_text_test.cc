#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "columnar/value_text_internal.h"
#include "columnar/wide_decimal_internal.h"

namespace tidemark::columnar {
namespace {

template <class Append>
std::string Text(Append append) {
  std::string text;
  append(text);
  return text;
}

TEST(ValueTextTest, AFloatAsPrintedHasItsDigits) {
  EXPECT_EQ(AsPrinted(1.1F), 1.1);
  EXPECT_EQ(AsPrinted(3.3e38F), 3.3e38);
  EXPECT_EQ(AsPrinted(16777218.0F), 16777218.0);
  EXPECT_EQ(AsPrinted(-0.1F), -0.1);
  EXPECT_TRUE(std::signbit(AsPrinted(-0.0F)));
  EXPECT_TRUE(std::isnan(AsPrinted(NAN)));
  EXPECT_TRUE(std::isinf(AsPrinted(-INFINITY)));
}

TEST(ValueTextTest, DatesOutsideOfFourDigitsHaveASign) {
  const std::pair<int64_t, const char*> cases[] = {
      {0, "1970-01-01"},
      {-1, "1969-12-31"},
      {11016, "2000-02-29"},
      {-719528, "0000-01-01"},
      {-719529, "-0001-12-31"},
      {2932896, "9999-12-31"},
      {2932897, "+10000-01-01"},
      {INT32_MAX, "+5881580-07-11"},
      {INT32_MIN, "-5877641-06-23"},
  };
  for (const auto& [days, text] : cases) {
    EXPECT_EQ(Text([&](auto& out) { AppendDate(days, out); }), text);
  }
}

TEST(ValueTextTest, TimesHaveTheDigitsOfTheirUnit) {
  const auto stamp = [](int64_t value, TimeUnit unit, bool is_local) {
    return Text([&](auto& out) { AppendTimestamp(value, unit, is_local, out); });
  };
  EXPECT_EQ(stamp(-1, TimeUnit::kMillis, false), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(stamp(86399999999, TimeUnit::kMicros, true), "1970-01-01T23:59:59.999999");
  EXPECT_EQ(stamp(INT64_MAX, TimeUnit::kNanos, false), "2262-04-11T23:47:16.854775807Z");
  EXPECT_EQ(stamp(INT64_MIN, TimeUnit::kNanos, false), "1677-09-21T00:12:43.145224192Z");
  EXPECT_EQ(stamp(INT64_MAX, TimeUnit::kMillis, true), "+292278994-08-17T07:12:55.807");
  EXPECT_EQ(stamp(INT64_MIN, TimeUnit::kMillis, true), "-292275055-05-16T16:47:04.192");
  const auto time = [](int64_t value, TimeUnit unit) {
    return Text([&](auto& out) { AppendTime(value, unit, out); });
  };
  EXPECT_EQ(time(0, TimeUnit::kMillis), "00:00:00.000");
  EXPECT_EQ(time(86399999999, TimeUnit::kMicros), "23:59:59.999999");
  EXPECT_EQ(time(90000000, TimeUnit::kMillis), "25:00:00.000");
  EXPECT_EQ(time(-1000, TimeUnit::kMillis), "-00:00:01.000");
}

TEST(ValueTextTest, NumbersAreThoseOfJava) {
  const std::pair<double, const char*> cases[] = {
      {0, "0.0"},       {-0.0, "-0.0"},       {1, "1.0"},
      {0.001, "0.001"}, {0.0009, "9.0E-4"},   {9999999, "9999999.0"},
      {1e7, "1.0E7"},   {1.25e10, "1.25E10"}, {2e-308, "2.0E-308"},
      {0.1, "0.1"},     {-1234.5, "-1234.5"}, {std::numeric_limits<double>::infinity(), "Infinity"},
  };
  for (const auto& [value, text] : cases) {
    EXPECT_EQ(Text([&](auto& out) { AppendJavaDouble(value, out); }), text);
  }
  EXPECT_EQ(Text([](auto& out) { AppendJavaFloat(0.1F, out); }), "0.1");
  EXPECT_EQ(Text([](auto& out) { AppendJavaFloat(3.4028235e38F, out); }), "3.4028235E38");
}

TEST(ValueTextTest, BytesAreBase64) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(Text([&](auto& out) { AppendBase64(bytes, out); }), text);
  }
}

std::string DecimalOf(std::string_view bytes, int digits, int scale) {
  auto value = WideDecimal::FromBigEndian(bytes);
  if (!value || !value->Rescale(digits)) return "lost";
  return Text([&](auto& out) { value->AppendText(scale, out); });
}

TEST(WideDecimalTest, BigEndianBytesOfAnyLengthHaveTheirText) {
  EXPECT_EQ(DecimalOf("", 0, 0), "0");
  EXPECT_EQ(DecimalOf("", 0, 2), "0.00");
  EXPECT_EQ(DecimalOf("\x7f", 0, 2), "1.27");
  EXPECT_EQ(DecimalOf("\x80", 0, 3), "-0.128");
  EXPECT_EQ(DecimalOf(std::string(40, '\xff'), 0, 0), "-1");
  EXPECT_EQ(DecimalOf("\x7f" + std::string(31, '\xff'), 0, 0),
            "57896044618658097711785492504343953926634992332820282019728792003956564819967");
  EXPECT_EQ(DecimalOf("\x80" + std::string(31, '\0'), 0, 1),
            "-5789604461865809771178549250434395392663499233282028201972879200395656481996.8");
  EXPECT_EQ(DecimalOf("\x01" + std::string(32, '\0'), 0, 0), "lost");
}

TEST(WideDecimalTest, RescalingLosesNothingOrSaysSo) {
  EXPECT_EQ(DecimalOf("\x0a", -1, 0), "1");
  EXPECT_EQ(DecimalOf("\x0b", -1, 0), "lost");
  EXPECT_EQ(DecimalOf("\xf6", 25, 25), "-10.0000000000000000000000000");
  EXPECT_EQ(DecimalOf("\x01", 77, 0), "lost");
  EXPECT_FALSE(WideDecimal::FromBigEndian("\x01" + std::string(16, '\0'))->FitsIn(16));
  EXPECT_TRUE(WideDecimal::FromBigEndian("\x7f" + std::string(15, '\xff'))->FitsIn(16));
  EXPECT_FALSE(
      WideDecimal::FromBigEndian(std::string("\0\x80", 2) + std::string(15, '\0'))->FitsIn(16));
}

}  // namespace
}  // namespace tidemark::columnar
