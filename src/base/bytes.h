/// Reading bytes that came from outside without ever stepping over their end.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace tidemark {

/// A cursor over bytes it does not own; they must outlive it and every view it hands out. Each read
/// either succeeds whole and moves on, or returns nullopt and leaves the position where it was.
/// Single-threaded.
class ByteCursor {
 public:
  explicit ByteCursor(std::string_view bytes) : bytes_(bytes) {}

  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  bool at_end() const { return remaining() == 0; }

  /// The next `size` bytes.
  std::optional<std::string_view> Take(uint64_t size) {
    if (size > remaining()) return std::nullopt;
    const auto view = bytes_.substr(position_, static_cast<size_t>(size));
    position_ += static_cast<size_t>(size);
    return view;
  }

  /// A big-endian two's complement integer.
  template <std::integral T>
  std::optional<T> TakeBig() {
    const auto view = Take(sizeof(T));
    if (!view) return std::nullopt;
    T value;
    std::memcpy(&value, view->data(), sizeof(T));
    if constexpr (sizeof(T) > 1 && std::endian::native == std::endian::little)
      value = Swapped(value);
    return value;
  }

  /// A little-endian two's complement integer.
  template <std::integral T>
  std::optional<T> TakeLittle() {
    const auto view = Take(sizeof(T));
    if (!view) return std::nullopt;
    T value;
    std::memcpy(&value, view->data(), sizeof(T));
    if constexpr (sizeof(T) > 1 && std::endian::native == std::endian::big) value = Swapped(value);
    return value;
  }

  /// Moves to an absolute position; false, and no move, past the end.
  bool Seek(size_t position) {
    if (position > bytes_.size()) return false;
    position_ = position;
    return true;
  }

 private:
  template <std::integral T>
  static T Swapped(T value) {
    using U = std::make_unsigned_t<T>;
    U in = static_cast<U>(value);
    U out = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
      out = static_cast<U>(static_cast<U>(out << 8) | (in & 0xff));
      in = static_cast<U>(in >> 8);
    }
    return static_cast<T>(out);
  }

  std::string_view bytes_;
  size_t position_ = 0;
};

}  // namespace tidemark
