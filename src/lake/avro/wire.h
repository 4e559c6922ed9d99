/// The plain values of Avro's binary encoding, read one after the other. Everything else of this
/// module, and decoders that want every value of a row, are built on it.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "lake/avro/schema.h"

namespace tidemark::lake::avro {

/// What can be wrong with encoded bytes.
enum class Flaw : uint8_t {
  kNone,
  kEndsEarly,       ///< the bytes end inside a value
  kVarintTooLong,   ///< more than 10 bytes, or more than 64 bits
  kIntTooLarge,     ///< an int outside 32 bits
  kNegativeLength,  ///< of bytes, a string or a block
  kBadBoolean,      ///< neither 0 nor 1
  kBadBranch,       ///< a union branch the schema does not have
  kBadSymbol,       ///< an enum symbol the schema does not have
  kTooManyItems,    ///< more items than the bytes left can hold, or over kEmptyItemsMax
  kBlockSizeWrong,  ///< a block of items does not end where its byte size says
  kTooDeep,         ///< over kDatumDepthMax
  kBytesLeft,       ///< bytes behind the last value
};

/// Values inside values that one call follows.
inline constexpr int kDatumDepthMax = 256;
/// Items of zero bytes (nulls, empty records) in one array.
inline constexpr uint64_t kEmptyItemsMax = 1 << 20;

/// A cursor over encoded bytes it does not own. The first flaw ends it: from then on every read
/// gives zero or nothing, so a loop may check `ok()` once per round. Single-threaded.
class Wire {
 public:
  /// `base`: where `bytes` begin in what the user knows; only for messages.
  explicit Wire(std::string_view bytes, uint64_t base = 0)
      : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()), base_(base) {}

  bool ok() const { return flaw_ == Flaw::kNone; }
  Flaw flaw() const { return flaw_; }
  /// The flaw as kCorrupt, with its offset. Only when not ok().
  Error ToError() const;

  size_t remaining() const { return static_cast<size_t>(end_ - at_); }
  bool at_end() const { return at_ == end_; }
  /// Bytes read so far; a flawed cursor stands at its end.
  size_t position() const { return static_cast<size_t>(at_ - begin_); }
  /// What is left.
  std::string_view rest() const { return {at_, remaining()}; }
  /// Absolute offset of the next byte.
  uint64_t offset() const { return base_ + position(); }

  int64_t ReadLong() {
    if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) [[likely]] {
      return UnZigZag(static_cast<uint8_t>(*at_++));
    }
    return UnZigZag(ReadLongVarint());
  }
  int32_t ReadInt() {
    const char* const start = at_;
    const int64_t value = ReadLong();
    if (value != static_cast<int32_t>(value)) [[unlikely]] {
      at_ = start;
      Fail(Flaw::kIntTooLarge);
      return 0;
    }
    return static_cast<int32_t>(value);
  }
  bool ReadBoolean();
  float ReadFloat() { return std::bit_cast<float>(ReadLittle<uint32_t>()); }
  double ReadDouble() { return std::bit_cast<double>(ReadLittle<uint64_t>()); }
  /// Length and content of bytes or a string.
  std::string_view ReadBytes() { return Take(ReadLength()); }
  /// A length or byte size: not negative.
  uint64_t ReadLength() {
    const char* const start = at_;
    const int64_t length = ReadLong();
    if (length < 0) [[unlikely]] {
      at_ = start;
      Fail(Flaw::kNegativeLength);
      return 0;
    }
    return static_cast<uint64_t>(length);
  }
  /// Index of a union branch or an enum symbol, below `size`.
  size_t ReadIndex(size_t size, Flaw otherwise) {
    const char* const start = at_;
    const int64_t index = ReadLong();
    if (static_cast<uint64_t>(index) >= size) [[unlikely]] {
      at_ = start;
      Fail(otherwise);
      return 0;
    }
    return static_cast<size_t>(index);
  }
  std::string_view Take(uint64_t size) {
    if (size > remaining()) [[unlikely]] {
      Fail(Flaw::kEndsEarly);
      return {};
    }
    const std::string_view taken(at_, static_cast<size_t>(size));
    at_ += size;
    return taken;
  }

  /// Moves past one value of `type`, checking only what is needed to find its end.
  void Skip(const Type& type) { Skip(type, 0); }

  /// Ends the cursor with a flaw at the next byte; a second one is ignored.
  void Fail(Flaw flaw);

  /// How many more items of `items` type (with `key_size` extra bytes each) the rest can hold.
  uint64_t ItemsMax(const Type& items, uint64_t key_size) const;

 private:
  static int64_t UnZigZag(uint64_t raw) {
    return static_cast<int64_t>((raw >> 1) ^ (0 - (raw & 1)));
  }
  template <class T>
  T ReadLittle() {
    const auto bytes = Take(sizeof(T));
    T value = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      value |= static_cast<T>(static_cast<T>(static_cast<uint8_t>(bytes[i])) << (8 * i));
    }
    return value;
  }
  uint64_t ReadLongVarint();
  void Skip(const Type& type, int depth);
  void SkipItems(const Type& type, int depth);

  const char* begin_;
  const char* at_;
  const char* end_;
  uint64_t base_;
  uint64_t flaw_offset_ = 0;
  Flaw flaw_ = Flaw::kNone;
};

}  // namespace tidemark::lake::avro
