#include "merge/decimal.h"

#include <algorithm>
#include <array>
#include <vector>

namespace tidemark::merge {
namespace {

__extension__ typedef __int128 Int128;

constexpr uint32_t kBillion = 1'000'000'000;
constexpr int kBillionDigits = 9;
/// Any 8 byte value times 10 to this still fits into 128 bits.
constexpr int kFastScaleMax = 18;

constexpr auto kPowersOfTen = [] {
  std::array<int64_t, kFastScaleMax + 1> powers{};
  int64_t power = 1;
  for (auto& slot : powers) {
    slot = power;
    if (power <= INT64_MAX / 10) power *= 10;
  }
  return powers;
}();

int64_t SmallValue(std::string_view bytes) {
  uint64_t value = (static_cast<uint8_t>(bytes[0]) & 0x80) != 0 ? ~uint64_t{0} : 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return static_cast<int64_t>(value);
}

/// A sign and a magnitude in base 2^32, least significant digit first, no leading zeros.
struct Number {
  bool is_negative = false;
  std::vector<uint32_t> digits;

  explicit Number(std::string_view bytes) {
    is_negative = (static_cast<uint8_t>(bytes[0]) & 0x80) != 0;
    digits.resize((bytes.size() + 3) / 4, 0);
    for (size_t i = 0; i < bytes.size(); ++i) {
      uint8_t byte = static_cast<uint8_t>(bytes[bytes.size() - 1 - i]);
      if (is_negative) byte = static_cast<uint8_t>(~byte);
      digits[i / 4] |= uint32_t{byte} << (i % 4 * 8);
    }
    if (is_negative) MultiplyAdd(1, 1);  // two's complement: invert, then add one
    Trim();
  }

  void MultiplyAdd(uint32_t factor, uint32_t carry) {
    uint64_t rest = carry;
    for (uint32_t& digit : digits) {
      rest += uint64_t{digit} * factor;
      digit = static_cast<uint32_t>(rest);
      rest >>= 32;
    }
    if (rest != 0) digits.push_back(static_cast<uint32_t>(rest));
  }

  void ScaleUp(int tens) {
    for (; tens >= kBillionDigits; tens -= kBillionDigits) MultiplyAdd(kBillion, 0);
    for (; tens > 0; --tens) MultiplyAdd(10, 0);
  }

  /// Divides by 10^9 and gives the rest.
  uint32_t DivideByBillion() {
    uint64_t rest = 0;
    for (size_t i = digits.size(); i-- > 0;) {
      rest = rest << 32 | digits[i];
      digits[i] = static_cast<uint32_t>(rest / kBillion);
      rest %= kBillion;
    }
    Trim();
    return static_cast<uint32_t>(rest);
  }

  void Trim() {
    while (!digits.empty() && digits.back() == 0) digits.pop_back();
    if (digits.empty()) is_negative = false;
  }
};

std::strong_ordering CompareMagnitudes(const Number& a, const Number& b) {
  if (const auto sizes = a.digits.size() <=> b.digits.size(); sizes != 0) return sizes;
  return std::lexicographical_compare_three_way(a.digits.rbegin(), a.digits.rend(),
                                                b.digits.rbegin(), b.digits.rend());
}

}  // namespace

std::strong_ordering CompareDecimals(std::string_view a, uint8_t a_scale, std::string_view b,
                                     uint8_t b_scale) {
  const int lead = int{a_scale} - int{b_scale};  // how many more decimals a has
  if (a.size() <= 8 && b.size() <= 8 && lead <= kFastScaleMax && lead >= -kFastScaleMax) {
    const auto left =
        Int128{SmallValue(a)} * (lead < 0 ? kPowersOfTen[static_cast<size_t>(-lead)] : 1);
    const auto right =
        Int128{SmallValue(b)} * (lead > 0 ? kPowersOfTen[static_cast<size_t>(lead)] : 1);
    return left < right   ? std::strong_ordering::less
           : left > right ? std::strong_ordering::greater
                          : std::strong_ordering::equal;
  }
  Number left(a);
  Number right(b);
  if (left.is_negative != right.is_negative) {
    return left.is_negative ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  left.ScaleUp(std::max(0, -lead));
  right.ScaleUp(std::max(0, lead));
  return left.is_negative ? CompareMagnitudes(right, left) : CompareMagnitudes(left, right);
}

std::string DecimalText(std::string_view bytes, uint8_t scale) {
  Number number(bytes);
  const bool is_negative = number.is_negative;
  std::string reversed;
  while (!number.digits.empty()) {
    uint32_t rest = number.DivideByBillion();
    for (int i = 0; i < kBillionDigits; ++i, rest /= 10) {
      reversed.push_back(static_cast<char>('0' + rest % 10));
    }
  }
  while (reversed.size() > size_t{scale} + 1 && reversed.back() == '0') reversed.pop_back();
  while (reversed.size() < size_t{scale} + 1) reversed.push_back('0');
  if (scale > 0) reversed.insert(scale, 1, '.');
  if (is_negative) reversed.push_back('-');
  return {reversed.rbegin(), reversed.rend()};
}

}  // namespace tidemark::merge
