#include "merge/java_order.h"

#include <gtest/gtest.h>

namespace tidemark::merge {
namespace {

constexpr auto kLess = std::partial_ordering::less;
constexpr auto kGreater = std::partial_ordering::greater;
constexpr auto kThrows = std::partial_ordering::unordered;

OrderingValue Data(ColumnType type, int64_t value) {
  return OrderingValue::OfInteger({type, 0}, value);
}
OrderingValue Data(ColumnType type, std::string_view bytes, uint8_t scale = 0) {
  return *OrderingValue::OfBytes({type, scale}, bytes);
}
OrderingValue Deleted(DeleteBranch branch, int64_t value, ColumnType column) {
  return OrderingValue::DeletedInteger(branch, value, {column, 0});
}
OrderingValue Deleted(DeleteBranch branch, std::string_view bytes, ColumnType column) {
  return *OrderingValue::DeletedBytes(branch, bytes, {column, 6});
}

std::partial_ordering Compare(Release release, const OrderingValue& a, const OrderingValue& b) {
  const auto x = BufferedJava(release, a);
  const auto y = BufferedJava(release, b);
  if (!x || !y) return kThrows;
  return CompareInJava(*x, *y);
}

struct ClassCase {
  const char* name;
  OrderingValue data;
  OrderingValue deleted;
  bool same_in_014;  ///< raw, in front of 0.14's comparison
  bool same_in_102;  ///< the row's class against the raw delete's
  bool same_in_11;   ///< after 1.1's conversion
};

// hudi-merge section 6 with what the lab found: strings, decimals and dates do not match in 0.14,
// strings do not in 1.0.2 either, and 1.1 mends strings and decimals but not the dates of 0.14.
TEST(JavaOrderTest, WhichDeletesAReleaseCanCompare) {
  using B = DeleteBranch;
  using C = ColumnType;
  const ClassCase cases[] = {
      {"string", Data(C::kString, "a"), Deleted(B::kString, "a", C::kString), false, false, true},
      {"decimal on fixed", Data(C::kDecimalFixed, "\1", 6),
       Deleted(B::kDecimal, "\1", C::kDecimalFixed), false, false, true},
      {"decimal on bytes", Data(C::kDecimalBytes, "\1", 6),
       Deleted(B::kDecimal, "\1", C::kDecimalBytes), false, false, true},
      {"date", Data(C::kDate, 9), Deleted(B::kDate, 9, C::kDate), false, false, false},
      {"date as int", Data(C::kDate, 9), Deleted(B::kInt, 9, C::kDate), true, true, true},
      {"int", Data(C::kInt, 9), Deleted(B::kInt, 9, C::kInt), true, true, true},
      {"long", Data(C::kLong, 9), Deleted(B::kLong, 9, C::kLong), true, true, true},
      {"int widened to long", Data(C::kLong, 9), Deleted(B::kInt, 9, C::kLong), false, false,
       false},
      {"timestamp as long", Data(C::kTimestampMicros, 9), Deleted(B::kLong, 9, C::kTimestampMicros),
       true, true, true},
      {"timestamp as instant", Data(C::kTimestampMicros, 9),
       Deleted(B::kTimestampMicros, 9, C::kTimestampMicros), false, false, false},
      {"boolean", Data(C::kBoolean, 1), Deleted(B::kBoolean, 1, C::kBoolean), true, true, true},
      {"bytes", Data(C::kBytes, "a"), Deleted(B::kBytes, "a", C::kBytes), true, false, false},
  };
  for (const auto& c : cases) {
    const auto same = [&](Release release, bool is_converted) {
      const auto kept = BufferedJava(release, c.data);
      const auto raw = is_converted ? BufferedJava(release, c.deleted)
                                    : std::optional(RawJava(release, c.deleted));
      return kept && raw && IsSameClass(*kept, *raw);
    };
    EXPECT_EQ(same(Release::k0_14, false), c.same_in_014) << c.name;
    EXPECT_EQ(same(Release::k1_0_2, false), c.same_in_102) << c.name;
    EXPECT_EQ(same(Release::k1_1, true), c.same_in_11) << c.name;
  }
}

TEST(JavaOrderTest, FixedDecimalsCompareAsUnsignedBytesIn014) {
  const auto minus = Data(ColumnType::kDecimalFixed, "\xff\xff", 0);
  const auto plus = Data(ColumnType::kDecimalFixed, std::string_view("\0\1", 2), 0);
  EXPECT_EQ(Compare(Release::k0_14, minus, plus), kGreater);
  EXPECT_EQ(Compare(Release::k1_1, minus, plus), kLess);
}

TEST(JavaOrderTest, ByteBuffersCompareAsSignedBytes) {
  const auto high = Data(ColumnType::kBytes, "\x80");
  const auto low = Data(ColumnType::kBytes, "\x7f");
  EXPECT_EQ(Compare(Release::k0_14, high, low), kLess);
  // decimal on bytes: length goes before magnitude
  const auto wide = Data(ColumnType::kDecimalBytes, std::string_view("\0\x80", 2), 0);
  const auto narrow = Data(ColumnType::kDecimalBytes, "\x7f", 0);
  EXPECT_EQ(Compare(Release::k0_14, wide, narrow), kLess);
  EXPECT_EQ(Compare(Release::k1_1, wide, narrow), kGreater);
}

TEST(JavaOrderTest, SparkCannotCompareBytesAtAll) {
  EXPECT_EQ(Compare(Release::k1_1, Data(ColumnType::kBytes, "a"), Data(ColumnType::kBytes, "b")),
            kThrows);
}

TEST(JavaOrderTest, JavaStringsCompareUtf16Units) {
  // U+FF41 and U+1F600: a surrogate pair sorts below the first, its UTF-8 above.
  const std::string_view wide = "\xef\xbd\x81";
  const std::string_view smile = "\xf0\x9f\x98\x80";
  const auto a = Deleted(DeleteBranch::kString, wide, ColumnType::kString);
  const auto b = Deleted(DeleteBranch::kString, smile, ColumnType::kString);
  EXPECT_EQ(Compare(Release::k0_14, a, b), kGreater);
  EXPECT_EQ(CompareByValue(a, b), kLess);
  EXPECT_EQ(
      Compare(Release::k0_14, Data(ColumnType::kString, wide), Data(ColumnType::kString, smile)),
      kLess);
}

TEST(JavaOrderTest, NullStandsForIntegerZeroFrom102OnAndForTheColumnsZeroIn100) {
  const auto null = OrderingValue::Null({ColumnType::kLong, 0});
  EXPECT_EQ(Compare(Release::k1_1, null, Data(ColumnType::kLong, -5)), kThrows);
  EXPECT_EQ(Compare(Release::k1_1, OrderingValue::Null({ColumnType::kInt, 0}),
                    Data(ColumnType::kInt, -5)),
            kGreater);
  EXPECT_EQ(Compare(Release::k1_0_0, null, Data(ColumnType::kLong, -5)), kGreater);
  EXPECT_EQ(Compare(Release::k0_14, null, Data(ColumnType::kLong, -5)), kThrows);
}

TEST(JavaOrderTest, MillisecondsOfADeleteMeetTheMicrosecondsOfSparkRows) {
  const auto data = Data(ColumnType::kTimestampMillis, 1'700'000'000'000);
  const auto later = Deleted(DeleteBranch::kLong, 1'700'000'000'001, ColumnType::kTimestampMillis);
  EXPECT_EQ(Compare(Release::k1_0_2, data, later), kGreater);  // #13997: looks a thousandfold older
  EXPECT_EQ(Compare(Release::k1_1, data, later), kLess);
  EXPECT_EQ(Compare(Release::k0_14, data, later), kLess);
  // A writer that counted microseconds already: 1.1 sees that the number is too large to convert.
  const auto micros =
      Deleted(DeleteBranch::kLong, 1'700'000'000'001'000, ColumnType::kTimestampMillis);
  EXPECT_EQ(Compare(Release::k1_1, data, micros), kLess);
}

TEST(JavaOrderTest, DeletesOfMillisecondColumnsThatAreNoLongsBreak11) {
  EXPECT_FALSE(BufferedJava(
      Release::k1_1, Deleted(DeleteBranch::kTimestampMicros, 5, ColumnType::kTimestampMillis)));
}

TEST(JavaOrderTest, SeveralFieldsExistFrom11On) {
  const OrderingValue low[] = {Data(ColumnType::kLong, 1), Data(ColumnType::kString, "b")};
  const OrderingValue high[] = {Deleted(DeleteBranch::kLong, 1, ColumnType::kLong),
                                Deleted(DeleteBranch::kString, "c", ColumnType::kString)};
  const auto a = OrderingValue::Array(low);
  const auto b = OrderingValue::Array(high);
  EXPECT_EQ(Compare(Release::k1_1, a, b), kLess);
  EXPECT_TRUE(IsSameClass(*BufferedJava(Release::k1_1, a), *BufferedJava(Release::k1_1, b)));
  EXPECT_EQ(Compare(Release::k1_0_2, a, b), kThrows);
  const OrderingValue mixed[] = {Deleted(DeleteBranch::kInt, 1, ColumnType::kLong),
                                 Deleted(DeleteBranch::kString, "c", ColumnType::kString)};
  EXPECT_FALSE(IsSameClass(*BufferedJava(Release::k1_1, a),
                           *BufferedJava(Release::k1_1, OrderingValue::Array(mixed))));
}

TEST(JavaOrderTest, KryoBlocksKeepTheWritersClass) {
  const auto deleted =
      Deleted(DeleteBranch::kString, "b", ColumnType::kString).WithClass(JavaClass::kUtf8);
  const auto data = Data(ColumnType::kString, "a");
  EXPECT_TRUE(IsSameClass(RawJava(Release::k0_14, data), RawJava(Release::k0_14, deleted)));
}

TEST(JavaOrderTest, IntegerZeroIsAboutTheClassToo) {
  EXPECT_TRUE(
      IsIntegerZero(RawJava(Release::k0_14, Deleted(DeleteBranch::kInt, 0, ColumnType::kLong))));
  EXPECT_FALSE(
      IsIntegerZero(RawJava(Release::k0_14, Deleted(DeleteBranch::kLong, 0, ColumnType::kLong))));
  EXPECT_FALSE(IsIntegerZero(
      RawJava(Release::k0_14, Deleted(DeleteBranch::kBoolean, 0, ColumnType::kBoolean))));
}

}  // namespace
}  // namespace tidemark::merge
