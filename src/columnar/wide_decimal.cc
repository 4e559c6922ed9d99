#include <algorithm>
#include <cstring>

#include "columnar/wide_decimal_internal.h"

namespace tidemark::columnar {
namespace {

__extension__ using Wide = unsigned __int128;

// The largest power of ten in 64 bits.
constexpr int kChunkDigits = 19;
constexpr uint64_t kChunk = 10'000'000'000'000'000'000U;

constexpr uint64_t PowerOfTen(int digits) {
  uint64_t power = 1;
  for (; digits > 0; --digits) power *= 10;
  return power;
}

}  // namespace

WideDecimal WideDecimal::Of(int64_t value) {
  WideDecimal made;
  made.words_.fill(value < 0 ? ~uint64_t{0} : 0);
  made.words_[0] = static_cast<uint64_t>(value);
  return made;
}

std::optional<WideDecimal> WideDecimal::FromBigEndian(std::string_view bytes) {
  const bool is_negative = !bytes.empty() && static_cast<int8_t>(bytes[0]) < 0;
  WideDecimal made = Of(is_negative ? -1 : 0);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[bytes.size() - 1 - i]);
    if (i >= 32) {
      if (byte != (is_negative ? 0xff : 0)) return std::nullopt;
      continue;
    }
    uint64_t& word = made.words_[i / 8];
    word &= ~(uint64_t{0xff} << (8 * (i % 8)));
    word |= uint64_t{byte} << (8 * (i % 8));
  }
  if (made.is_negative() != is_negative) return std::nullopt;
  return made;
}

WideDecimal WideDecimal::FromArrow(std::string_view bytes) {
  WideDecimal made;
  std::memcpy(made.words_.data(), bytes.data(), std::min<size_t>(bytes.size(), 32));
  if (bytes.size() == 16 && static_cast<int64_t>(made.words_[1]) < 0) {
    made.words_[2] = made.words_[3] = ~uint64_t{0};
  }
  return made;
}

bool WideDecimal::FitsIn(uint32_t width) const {
  if (width >= 32) return true;
  const uint64_t sign = static_cast<int64_t>(words_[1]) < 0 ? ~uint64_t{0} : 0;
  return words_[2] == sign && words_[3] == sign;
}

void WideDecimal::Negate() {
  uint64_t carry = 1;
  for (uint64_t& word : words_) {
    word = ~word + carry;
    carry = carry == 1 && word == 0 ? 1 : 0;
  }
}

bool WideDecimal::MultiplyBy(uint64_t factor) {
  Wide carry = 0;
  for (uint64_t& word : words_) {
    carry += Wide{word} * factor;
    word = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  return carry == 0 && !is_negative();
}

uint64_t WideDecimal::DivideBy(uint64_t divisor) {
  Wide rest = 0;
  for (size_t i = words_.size(); i-- > 0;) {
    rest = (rest << 64) | words_[i];
    words_[i] = static_cast<uint64_t>(rest / divisor);
    rest %= divisor;
  }
  return static_cast<uint64_t>(rest);
}

bool WideDecimal::Rescale(int digits) {
  if (digits == 0) return true;
  const bool was_negative = is_negative();
  if (was_negative) Negate();
  bool is_exact = !is_negative();  // the lowest of all has no counterpart
  for (int left = std::abs(digits); left > 0 && is_exact; left -= kChunkDigits) {
    const uint64_t power = PowerOfTen(std::min(left, kChunkDigits));
    is_exact = digits > 0 ? MultiplyBy(power) : DivideBy(power) == 0;
  }
  if (was_negative) Negate();
  return is_exact;
}

void WideDecimal::AppendText(int scale, std::string& out) const {
  WideDecimal rest = *this;
  if (is_negative()) {
    out += '-';
    rest.Negate();
  }
  const bool is_small = (rest.words_[1] | rest.words_[2] | rest.words_[3]) == 0;
  const std::string digits = is_small ? std::to_string(rest.words_[0]) : rest.Digits();
  const auto fraction = static_cast<size_t>(std::max(scale, 0));
  const size_t whole = digits.size() > fraction ? digits.size() - fraction : 0;
  out.append(digits, 0, whole);
  if (whole == 0) out += '0';
  if (fraction == 0) return;
  out += '.';
  out.append(fraction - (digits.size() - whole), '0');
  out.append(digits, whole);
}

// Of a number that is not negative.
std::string WideDecimal::Digits() const {
  WideDecimal rest = *this;
  std::string digits;  // the lowest first
  bool is_last = false;
  while (!is_last) {
    uint64_t chunk = rest.DivideBy(kChunk);
    is_last = rest.words_ == std::array<uint64_t, 4>{};
    for (int i = 0; i < kChunkDigits && (!is_last || chunk != 0); ++i, chunk /= 10) {
      digits += static_cast<char>('0' + chunk % 10);
    }
  }
  std::ranges::reverse(digits);
  return digits;
}

}  // namespace tidemark::columnar
