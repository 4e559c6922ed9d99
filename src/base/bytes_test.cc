#include "base/bytes.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(ByteCursorTest, BigEndianIntegersOfEverySize) {
  ByteCursor cursor(
      std::string_view("\x7f\x01\x02\xff\xff\xff\xfe\x00\x00\x00\x00\x00\x00\x01\x00", 15));
  EXPECT_EQ(cursor.TakeBig<int8_t>(), 0x7f);
  EXPECT_EQ(cursor.TakeBig<uint16_t>(), 0x0102);
  EXPECT_EQ(cursor.TakeBig<int32_t>(), -2);
  EXPECT_EQ(cursor.TakeBig<int64_t>(), 256);
  EXPECT_TRUE(cursor.at_end());
}

TEST(ByteCursorTest, LittleEndianIntegers) {
  ByteCursor cursor(std::string_view("\x01\x00\x00\x00\xfe\xff", 6));
  EXPECT_EQ(cursor.TakeLittle<uint32_t>(), 1U);
  EXPECT_EQ(cursor.TakeLittle<int16_t>(), -2);
}

TEST(ByteCursorTest, ReadPastTheEndLeavesThePosition) {
  ByteCursor cursor("abc");
  EXPECT_EQ(cursor.Take(2), "ab");
  EXPECT_EQ(cursor.TakeBig<int32_t>(), std::nullopt);
  EXPECT_EQ(cursor.Take(2), std::nullopt);
  EXPECT_EQ(cursor.position(), 2U);
  EXPECT_EQ(cursor.Take(1), "c");
}

TEST(ByteCursorTest, HugeSizesDoNotWrapAround) {
  ByteCursor cursor("abc");
  EXPECT_TRUE(cursor.Take(1).has_value());
  EXPECT_EQ(cursor.Take(~0ULL), std::nullopt);
}

TEST(ByteCursorTest, SeekStopsAtTheEnd) {
  ByteCursor cursor("abc");
  EXPECT_TRUE(cursor.Seek(3));
  EXPECT_FALSE(cursor.Seek(4));
  EXPECT_EQ(cursor.position(), 3U);
}

}  // namespace
}  // namespace tidemark
