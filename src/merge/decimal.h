/// Decimals as files hold them: big-endian two's complement bytes of the unscaled value, and a
/// scale.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::merge {

/// A decimal of this many bytes has some 2,400 digits; precision 38 takes 16 bytes.
inline constexpr size_t kDecimalBytesMax = 1024;

/// By value: 1.50 equals 1.5. REQUIRES: both have 1 … kDecimalBytesMax bytes. Cost: a few
/// nanoseconds up to 8 bytes; beyond, quadratic in the bytes.
std::strong_ordering CompareDecimals(std::string_view a, uint8_t a_scale, std::string_view b,
                                     uint8_t b_scale);

/// Plain digits with all digits of the scale: "-0.000001".
std::string DecimalText(std::string_view bytes, uint8_t scale);

}  // namespace tidemark::merge
