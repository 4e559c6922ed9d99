#include "merge/ordering_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "merge/decimal.h"
#include "support/result_matchers.h"

namespace tidemark::merge {
namespace {

using support::IsError;
using testing::HasSubstr;

constexpr auto kLess = std::partial_ordering::less;
constexpr auto kEqual = std::partial_ordering::equivalent;
constexpr auto kGreater = std::partial_ordering::greater;
constexpr auto kNone = std::partial_ordering::unordered;

OrderingValue Int(ColumnType type, int64_t value) {
  return OrderingValue::OfInteger({type, 0}, value);
}
OrderingValue Long(int64_t value) {
  return Int(ColumnType::kLong, value);
}
OrderingValue Double(double value) {
  return OrderingValue::OfReal({ColumnType::kDouble, 0}, value);
}
OrderingValue Text(std::string_view value) {
  return *OrderingValue::OfBytes({ColumnType::kString, 0}, value);
}
OrderingValue Decimal(std::string_view bytes, uint8_t scale) {
  return *OrderingValue::OfBytes({ColumnType::kDecimalFixed, scale}, bytes);
}
OrderingValue DeletedLong(int64_t value, ColumnType column) {
  return OrderingValue::DeletedInteger(DeleteBranch::kLong, value, {column, 0});
}

TEST(OrderingValueTest, JavaOrdersFloatingPointAndSoDoWe) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(CompareByValue(Double(nan), Double(inf)), kGreater);
  EXPECT_EQ(CompareByValue(Double(nan), Double(-nan)), kEqual);
  EXPECT_EQ(CompareByValue(Double(-0.0), Double(0.0)), kLess);
  EXPECT_EQ(CompareByValue(Double(1.5), Double(1.5)), kEqual);
  EXPECT_EQ(CompareByValue(Double(-inf), Double(-1e300)), kLess);
}

TEST(OrderingValueTest, IntegersMeetFloatingPointExactly) {
  const int64_t big = (int64_t{1} << 53) + 1;  // no double has it
  EXPECT_EQ(CompareByValue(Long(big), Double(9007199254740992.0)), kGreater);
  EXPECT_EQ(CompareByValue(Double(9007199254740992.0), Long(big)), kLess);
  EXPECT_EQ(CompareByValue(Long(2), Double(2.5)), kLess);
  EXPECT_EQ(CompareByValue(Long(-2), Double(-2.5)), kGreater);
  EXPECT_EQ(CompareByValue(Long(5), Double(5.0)), kEqual);
  EXPECT_EQ(CompareByValue(Long(0), Double(-0.0)), kGreater);
  EXPECT_EQ(CompareByValue(Long(INT64_MAX), Double(9223372036854775808.0)), kLess);
  EXPECT_EQ(CompareByValue(Long(INT64_MIN), Double(-9223372036854775808.0)), kEqual);
  EXPECT_EQ(CompareByValue(Long(INT64_MIN), Double(-1e30)), kGreater);
  EXPECT_EQ(CompareByValue(Long(7), Double(std::nan(""))), kLess);
}

TEST(OrderingValueTest, TextIsUnsignedBytes) {
  EXPECT_EQ(CompareByValue(Text("9"), Text("10")), kGreater);
  EXPECT_EQ(CompareByValue(Text("\xc3\xa9"), Text("z")), kGreater);
  EXPECT_EQ(CompareByValue(Text(""), Text("a")), kLess);
  EXPECT_EQ(CompareByValue(Text("00000.23"), Text("00000.123")), kGreater);
}

TEST(OrderingValueTest, DecimalsAreValues) {
  EXPECT_EQ(CompareByValue(Decimal("\xff", 0), Decimal(std::string_view("\0", 1), 0)), kLess);
  const auto deleted = *OrderingValue::DeletedBytes(
      DeleteBranch::kDecimal, std::string_view("\x05\x54\xdf\x7a\x21\x00\x00", 7).substr(0, 7),
      {ColumnType::kDecimalFixed, 6});
  EXPECT_EQ(deleted.scale(), 15);
  EXPECT_EQ(CompareByValue(Long(1), Decimal("\x0f", 1)), kLess);
  EXPECT_EQ(CompareByValue(Decimal("\x0f", 1), Long(1)), kGreater);
  EXPECT_EQ(CompareByValue(Decimal("\x0a", 1), Long(1)), kEqual);
}

TEST(OrderingValueTest, TimesMeetInTheirUnits) {
  const auto millis = Int(ColumnType::kTimestampMillis, 1'700'000'000'000);
  const auto micros = Int(ColumnType::kTimestampMicros, 1'700'000'000'000'001);
  EXPECT_EQ(CompareByValue(millis, micros), kLess);
  EXPECT_EQ(CompareByValue(micros, millis), kGreater);
  EXPECT_EQ(CompareByValue(millis, Int(ColumnType::kTimestampMicros, 1'700'000'000'000'000)),
            kEqual);
  EXPECT_EQ(CompareByValue(Int(ColumnType::kTimestampMillis, INT64_MAX),
                           Int(ColumnType::kTimestampNanos, INT64_MAX)),
            kGreater);
  EXPECT_EQ(CompareByValue(Int(ColumnType::kTimestampMillis, INT64_MIN),
                           Int(ColumnType::kTimestampMicros, INT64_MIN)),
            kLess);
}

TEST(OrderingValueTest, PlainNumbersOfADeleteTakeTheColumnsMeaning) {
  EXPECT_EQ(CompareByValue(DeletedLong(1'700'000'000'000, ColumnType::kTimestampMillis),
                           Int(ColumnType::kTimestampMillis, 1'700'000'000'001)),
            kLess);
  const auto micros = OrderingValue::DeletedInteger(
      DeleteBranch::kTimestampMicros, 1'700'000'000'000'001, {ColumnType::kTimestampMillis, 0});
  EXPECT_EQ(CompareByValue(micros, Int(ColumnType::kTimestampMillis, 1'700'000'000'000)), kGreater);
  const auto days =
      OrderingValue::DeletedInteger(DeleteBranch::kInt, 20'000, {ColumnType::kDate, 0});
  EXPECT_EQ(days.kind(), OrderingValue::Kind::kDate);
  EXPECT_EQ(CompareByValue(days, Int(ColumnType::kDate, 20'000)), kEqual);
  const auto wrapped =
      OrderingValue::DeletedInteger(DeleteBranch::kDate, 20'001, {ColumnType::kDate, 0});
  EXPECT_EQ(CompareByValue(wrapped, days), kGreater);
  EXPECT_EQ(CompareByValue(DeletedLong(7, ColumnType::kInt), Int(ColumnType::kInt, 7)), kEqual);
}

TEST(OrderingValueTest, OnlyIntegerZeroIsTheSentinel) {
  const auto of = [](DeleteBranch branch, ColumnType column) {
    return OrderingValue::DeletedInteger(branch, 0, {column, 0});
  };
  EXPECT_TRUE(of(DeleteBranch::kInt, ColumnType::kLong).is_sentinel());
  EXPECT_TRUE(of(DeleteBranch::kInt, ColumnType::kInt).is_sentinel());
  EXPECT_FALSE(of(DeleteBranch::kLong, ColumnType::kLong).is_sentinel());
  EXPECT_FALSE(of(DeleteBranch::kDate, ColumnType::kDate).is_sentinel());
  EXPECT_TRUE(OrderingValue::NoneDeleted({ColumnType::kLong, 0}).is_sentinel());
}

TEST(OrderingValueTest, NullIsBelowEverythingAndEqualToItself) {
  const auto null = OrderingValue::Null({ColumnType::kLong, 0});
  EXPECT_EQ(CompareByValue(null, Long(INT64_MIN)), kLess);
  EXPECT_EQ(CompareByValue(Long(INT64_MIN), null), kGreater);
  EXPECT_EQ(CompareByValue(null, OrderingValue()), kEqual);
}

TEST(OrderingValueTest, TypesThatHaveNothingToDoWithEachOtherHaveNoOrder) {
  EXPECT_EQ(CompareByValue(Text("1"), Long(1)), kNone);
  EXPECT_EQ(CompareByValue(Int(ColumnType::kDate, 1), Int(ColumnType::kTimestampMillis, 1)), kNone);
  EXPECT_EQ(CompareByValue(OrderingValue::NoneDeleted({}), Long(1)), kNone);
  EXPECT_EQ(CompareByValue(*OrderingValue::OfBytes({ColumnType::kBytes, 0}, "a"), Text("a")),
            kEqual);
}

TEST(OrderingValueTest, SeveralFieldsCompareOneByOne) {
  const OrderingValue low[] = {Long(1), Text("b")};
  const OrderingValue high[] = {Long(1), Text("c")};
  const OrderingValue other[] = {Long(2), Text("a")};
  const OrderingValue one[] = {Long(1)};
  EXPECT_EQ(CompareByValue(OrderingValue::Array(low), OrderingValue::Array(high)), kLess);
  EXPECT_EQ(CompareByValue(OrderingValue::Array(other), OrderingValue::Array(high)), kGreater);
  EXPECT_EQ(CompareByValue(OrderingValue::Array(low), OrderingValue::Array(low)), kEqual);
  EXPECT_EQ(CompareByValue(OrderingValue::Array(low), OrderingValue::Array(one)), kNone);
}

TEST(OrderingValueTest, IntegerZeroInsideAnArrayIsNoSentinel) {
  const auto zero = [](ColumnType column) {
    return OrderingValue::DeletedInteger(DeleteBranch::kInt, 0, {column, 0});
  };
  const OrderingValue int_zero[] = {zero(ColumnType::kInt)};
  const OrderingValue int_below[] = {Int(ColumnType::kInt, -1)};
  EXPECT_EQ(CompareByValue(OrderingValue::Array(int_zero), OrderingValue::Array(int_below)),
            kGreater);
  const OrderingValue long_null[] = {zero(ColumnType::kLong)};
  const OrderingValue long_below[] = {Long(-1)};
  EXPECT_EQ(CompareByValue(OrderingValue::Array(long_null), OrderingValue::Array(long_below)),
            kLess);
  EXPECT_FALSE(OrderingValue::Array(int_zero).is_sentinel());
}

TEST(OrderingValueTest, BadDecimalsAreErrors) {
  const OrderingColumn column{ColumnType::kDecimalBytes, 2};
  EXPECT_THAT(OrderingValue::OfBytes(column, ""),
              IsError(ErrorKind::kCorrupt, HasSubstr("without bytes")));
  EXPECT_THAT(OrderingValue::DeletedBytes(DeleteBranch::kDecimal, "", column),
              IsError(ErrorKind::kCorrupt, HasSubstr("without bytes")));
  const std::string long_one(kDecimalBytesMax + 1, '\1');
  EXPECT_THAT(OrderingValue::OfBytes(column, long_one),
              IsError(ErrorKind::kExhausted, HasSubstr("bytes=1025 max=1024")));
}

TEST(OrderingValueTest, ADecimalThatItsWriterHadAsBytesHasTheColumnsScale) {
  const auto value =
      *OrderingValue::DeletedBytes(DeleteBranch::kBytes, "\x19", {ColumnType::kDecimalBytes, 1});
  EXPECT_EQ(OrderingText(value), "2.5");
}

TEST(OrderingValueTest, TextsForPeople) {
  EXPECT_EQ(OrderingText(Long(-7)), "-7");
  EXPECT_EQ(OrderingText(Int(ColumnType::kBoolean, 1)), "true");
  EXPECT_EQ(OrderingText(Int(ColumnType::kDate, 20'423)), "2025-12-01");
  EXPECT_EQ(OrderingText(Int(ColumnType::kDate, -1)), "1969-12-31");
  EXPECT_EQ(OrderingText(Int(ColumnType::kTimestampMillis, 1'764'664'208'453)),
            "2025-12-02T08:30:08.453Z");
  EXPECT_EQ(OrderingText(Int(ColumnType::kTimestampMicros, -1)), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(OrderingText(Int(ColumnType::kLocalTimestampMillis, 0)), "1970-01-01T00:00:00.000");
  EXPECT_EQ(OrderingText(Int(ColumnType::kTimestampMillis, INT64_MAX)), "9223372036854775807");
  EXPECT_EQ(OrderingText(Int(ColumnType::kTimeMicros, 3'661'000'001)), "01:01:01.000001");
  EXPECT_EQ(OrderingText(Int(ColumnType::kTimeMillis, -5)), "-5");
  EXPECT_EQ(OrderingText(Double(1.5)), "1.5");
  EXPECT_EQ(OrderingText(OrderingValue()), "null");
  EXPECT_EQ(OrderingText(OrderingValue::NoneDeleted({})), "none");
  EXPECT_EQ(OrderingText(*OrderingValue::OfBytes({ColumnType::kBytes, 0}, "\xab")), "0xab");
  const OrderingValue items[] = {Long(1), Text("b")};
  EXPECT_EQ(OrderingText(OrderingValue::Array(items)), "[1,b]");
  EXPECT_EQ(OrderingTypeText(OrderingValue::Array(items)), "[long,string]");
  EXPECT_EQ(OrderingTypeText(DeletedLong(1, ColumnType::kTimestampMillis)), "LongWrapper");
  EXPECT_EQ(OrderingTypeText(DeletedLong(1, ColumnType::kLong).WithClass(JavaClass::kLong)),
            "Long");
}

TEST(OrderingValueTest, TheArenaOutlivesWhatItWasGiven) {
  OrderingArena arena;
  OrderingValue kept;
  OrderingValue kept_array;
  {
    const std::string text = "a string that is too long to lie inside the object";
    const OrderingValue items[] = {Long(4), Text(text)};
    kept = arena.Keep(Text(text));
    kept_array = arena.Keep(OrderingValue::Array(items));
  }
  EXPECT_EQ(OrderingText(kept), "a string that is too long to lie inside the object");
  EXPECT_EQ(OrderingText(kept_array), "[4,a string that is too long to lie inside the object]");
  EXPECT_EQ(arena.Keep(Long(3)).integer(), 3);
}

TEST(OrderingValueTest, TheArenaTakesLittleMoreThanTheBytes) {
  OrderingArena arena;
  std::vector<OrderingValue> kept;
  size_t size = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string text(static_cast<size_t>(i % 90), static_cast<char>('a' + i % 26));
    size += text.size();
    kept.push_back(arena.Keep(Text(text)));
  }
  kept.push_back(arena.Keep(Text(std::string(1 << 20, 'x'))));  // larger than any chunk
  kept.push_back(arena.Keep(Text("after")));
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(kept[static_cast<size_t>(i)].bytes(),
              std::string(static_cast<size_t>(i % 90), static_cast<char>('a' + i % 26)));
  }
  EXPECT_EQ(kept[10'000].bytes().size(), size_t{1} << 20);
  EXPECT_EQ(kept[10'001].bytes(), "after");
  EXPECT_LE(arena.byte_count(), size + (size_t{1} << 20) + (128 << 10));
}

}  // namespace
}  // namespace tidemark::merge
