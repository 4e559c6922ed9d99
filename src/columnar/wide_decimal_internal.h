/// The unscaled values of decimals: whole numbers of up to 256 bits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::columnar {

class WideDecimal {
 public:
  WideDecimal() = default;
  static WideDecimal Of(int64_t value);
  /// Two's complement, the highest byte first, of any length, as Avro and Parquet write it; nullopt
  /// when it takes more than 256 bits.
  static std::optional<WideDecimal> FromBigEndian(std::string_view bytes);
  /// Two's complement of 16 or 32 bytes, the lowest first, as Arrow keeps it.
  static WideDecimal FromArrow(std::string_view bytes);

  /// Whether it fits into `width` (16 or 32) bytes.
  bool FitsIn(uint32_t width) const;
  /// The lowest 64 bits first.
  const std::array<uint64_t, 4>& words() const { return words_; }

  /// Multiplies by 10^digits (divides, when negative); false when that loses something, and the
  /// value is lost then.
  bool Rescale(int digits);

  /// "-12.340" of -12340 with scale 3.
  void AppendText(int scale, std::string& out) const;

 private:
  bool is_negative() const { return static_cast<int64_t>(words_[3]) < 0; }
  void Negate();
  std::string Digits() const;
  bool MultiplyBy(uint64_t factor);
  /// Of a number that is not negative; gives the rest.
  uint64_t DivideBy(uint64_t divisor);

  std::array<uint64_t, 4> words_ = {};
};

}  // namespace tidemark::columnar
