#include "merge/decimal.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark::merge {
namespace {

/// The shortest two's complement bytes of a decimal number without a point.
std::string Bytes(const std::string& digits) {
  const bool is_negative = digits[0] == '-';
  std::vector<unsigned> base256;  // least significant first
  for (const char digit : digits.substr(is_negative ? 1 : 0)) {
    unsigned carry = static_cast<unsigned>(digit - '0');
    for (unsigned& byte : base256) {
      carry += byte * 10;
      byte = carry & 0xff;
      carry >>= 8;
    }
    if (carry != 0) base256.push_back(carry);
  }
  base256.push_back(0);
  if (is_negative) {
    unsigned carry = 1;
    for (unsigned& byte : base256) {
      carry += ~byte & 0xff;
      byte = carry & 0xff;
      carry >>= 8;
    }
  }
  std::string bytes;
  for (size_t i = base256.size(); i-- > 0;) bytes.push_back(static_cast<char>(base256[i]));
  return bytes;
}

std::strong_ordering Compare(const std::string& a, uint8_t a_scale, const std::string& b,
                             uint8_t b_scale) {
  return CompareDecimals(Bytes(a), a_scale, Bytes(b), b_scale);
}

const std::string kNines38(38, '9');

TEST(DecimalTest, ComparesByValueWhateverTheScale) {
  EXPECT_EQ(Compare("15", 1, "150", 2), std::strong_ordering::equal);
  EXPECT_EQ(Compare("15", 1, "1500000000000000", 15), std::strong_ordering::equal);
  EXPECT_EQ(Compare("2250000", 6, "2250000000000001", 15), std::strong_ordering::less);
  EXPECT_EQ(Compare("0", 0, "0", 15), std::strong_ordering::equal);
}

TEST(DecimalTest, NegativeIsBelowPositiveAtEveryWidth) {
  for (const std::string& digits :
       {std::string("1"), std::string("99999999999999999999"), kNines38}) {
    EXPECT_EQ(Compare("-" + digits, 6, digits, 6), std::strong_ordering::less) << digits;
    EXPECT_EQ(Compare("-" + digits, 6, "-1", 15), std::strong_ordering::less) << digits;
    EXPECT_EQ(Compare(digits, 6, "-" + digits, 15), std::strong_ordering::greater) << digits;
  }
}

TEST(DecimalTest, ThirtyEightDigitsMeetTheScaleOfDeleteBlocks) {
  // Column decimal(38,6) against what a delete block upcasts to.
  EXPECT_EQ(Compare(kNines38, 6, kNines38 + "000000000", 15), std::strong_ordering::equal);
  EXPECT_EQ(Compare(kNines38, 6, kNines38 + "000000001", 15), std::strong_ordering::less);
  EXPECT_EQ(Compare(kNines38, 6, kNines38.substr(1) + "8999999999", 15),
            std::strong_ordering::greater);
}

TEST(DecimalTest, BeyondTwoHundredFiftySixBits) {
  const std::string huge(120, '7');
  EXPECT_EQ(Compare(huge, 0, huge, 0), std::strong_ordering::equal);
  EXPECT_EQ(Compare(huge, 0, huge, 255), std::strong_ordering::greater);
  EXPECT_EQ(Compare("-" + huge, 255, "-" + huge, 0), std::strong_ordering::greater);
}

TEST(DecimalTest, SignExtensionDoesNotMatter) {
  const std::string padded = std::string(12, '\xff') + Bytes("-25");
  EXPECT_EQ(CompareDecimals(padded, 1, Bytes("-25"), 1), std::strong_ordering::equal);
  EXPECT_EQ(CompareDecimals(padded, 1, Bytes("-24"), 1), std::strong_ordering::less);
}

TEST(DecimalTest, TextHasAllDigitsOfTheScale) {
  EXPECT_EQ(DecimalText(Bytes("1250000"), 6), "1.250000");
  EXPECT_EQ(DecimalText(Bytes("-1"), 6), "-0.000001");
  EXPECT_EQ(DecimalText(Bytes("0"), 0), "0");
  EXPECT_EQ(DecimalText(Bytes("0"), 3), "0.000");
  EXPECT_EQ(DecimalText(Bytes("-" + kNines38), 10),
            "-" + kNines38.substr(0, 28) + "." + kNines38.substr(28));
  EXPECT_EQ(DecimalText(Bytes("1000000000000"), 0), "1000000000000");
}

}  // namespace
}  // namespace tidemark::merge
