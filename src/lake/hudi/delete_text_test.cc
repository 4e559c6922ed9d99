#include "lake/hudi/delete_text.h"

#include <gtest/gtest.h>

#include <string>

namespace tidemark::lake::hudi {
namespace {

std::string Decimal(std::string_view unscaled, int32_t scale) {
  DeleteOrdering ordering;
  ordering.branch = DeleteBranch::kDecimal;
  ordering.bytes = unscaled;
  ordering.scale = scale;
  return OrderingText(ordering);
}

TEST(DeleteTextTest, DecimalsAreWrittenOut) {
  using namespace std::string_view_literals;
  // 2.25 at scale 15, as Flink stored it.
  EXPECT_EQ(Decimal("\x07\xfe\x5c\xf2\xbe\xa0\x00"sv, 15), "2.250000000000000");
  // What Java wrote for -99999999999999.999999.
  EXPECT_EQ(Decimal("\xfa\x94\x38\xa1\xd2\x9c\xf0\x00\x01"sv, 6), "-99999999999999.999999");
  EXPECT_EQ(Decimal("\x00"sv, 0), "0");
  EXPECT_EQ(Decimal("\x00"sv, 2), "0.00");
  EXPECT_EQ(Decimal("\xff"sv, 0), "-1");
  EXPECT_EQ(Decimal("\xff"sv, 3), "-0.001");
  EXPECT_EQ(Decimal("\x80"sv, 0), "-128");
  EXPECT_EQ(Decimal("\x7f"sv, 1), "12.7");
  EXPECT_EQ(Decimal("\x05"sv, -3), "5000");
  EXPECT_EQ(Decimal("\x01\x00\x00\x00\x00\x00\x00\x00\x00"sv, 0), "18446744073709551616");
}

TEST(DeleteTextTest, DecimalsThatNobodyCanReadAreHex) {
  EXPECT_EQ(Decimal("", 0), "0xe0");
  EXPECT_EQ(Decimal("\x01", 2'000'000'000), "0x01e-2000000000");
  EXPECT_TRUE(Decimal(std::string(200, '\x01'), 0).starts_with("0x0101"));
}

TEST(DeleteTextTest, EveryBranchHasItsText) {
  const auto text = [](DeleteBranch branch, int64_t integer, double real = 0) {
    DeleteOrdering ordering;
    ordering.branch = branch;
    ordering.integer = integer;
    ordering.real = real;
    return OrderingText(ordering) + " " + OrderingTypeText(ordering);
  };
  EXPECT_EQ(text(DeleteBranch::kNull, 0), "null null");
  EXPECT_EQ(text(DeleteBranch::kBoolean, 1), "true BooleanWrapper");
  EXPECT_EQ(text(DeleteBranch::kInt, 0), "0 IntWrapper");
  EXPECT_EQ(text(DeleteBranch::kLong, -5), "-5 LongWrapper");
  EXPECT_EQ(text(DeleteBranch::kFloat, 0, 1.5), "1.5 FloatWrapper");
  EXPECT_EQ(text(DeleteBranch::kDouble, 0, -2.25), "-2.25 DoubleWrapper");
  EXPECT_EQ(text(DeleteBranch::kDate, 20362), "2025-10-01 DateWrapper");
  EXPECT_EQ(text(DeleteBranch::kDate, -1), "1969-12-31 DateWrapper");
  EXPECT_EQ(text(DeleteBranch::kDate, 1LL << 40), "1099511627776 DateWrapper");
  EXPECT_EQ(text(DeleteBranch::kLocalDate, 0), "1970-01-01 LocalDateWrapper");
  EXPECT_EQ(text(DeleteBranch::kTimeMicros, 3), "3 TimeMicrosWrapper");
  EXPECT_EQ(text(DeleteBranch::kTimestampMicros, 7), "7 TimestampMicrosWrapper");
}

TEST(DeleteTextTest, BytesTextAndSeveralFields) {
  DeleteOrdering bytes;
  bytes.branch = DeleteBranch::kBytes;
  bytes.bytes = "\x80\x01";
  EXPECT_EQ(OrderingText(bytes), "0x8001");
  DeleteOrdering items[2];
  items[0].branch = DeleteBranch::kLong;
  items[0].integer = 1;
  items[1].branch = DeleteBranch::kString;
  items[1].bytes = "z";
  DeleteOrdering array;
  array.branch = DeleteBranch::kArray;
  array.items = items;
  EXPECT_EQ(OrderingText(array), "[1, z]");
  EXPECT_EQ(OrderingTypeText(array), "ArrayWrapper[LongWrapper, StringWrapper]");
}

TEST(DeleteTextTest, OldBlocksNameTheClassOrStoreNothing) {
  DeleteOrdering ordering;
  ordering.branch = DeleteBranch::kInt;
  ordering.java_class = "java.lang.Integer";
  EXPECT_EQ(OrderingTypeText(ordering), "java.lang.Integer");
  ordering.is_stored = false;
  EXPECT_EQ(OrderingTypeText(ordering), "none");
}

}  // namespace
}  // namespace tidemark::lake::hudi
