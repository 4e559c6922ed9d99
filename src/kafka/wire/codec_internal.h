/// Kafka's encoding, in both directions, from one list of fields a message (messages_internal.h).
///
/// A list is a static `Fields(codec, message)`. Each of its lines says since which version, and
/// where it ended until which one, a field is there:
///     c(0, m.name);  c(4, m.epoch);  c(0, 12, m.topic);
/// The flexible versions of a message (KIP-482: compact lengths, tagged fields after each struct)
/// follow from its Api and are written down nowhere else. Tagged fields are skipped when read and
/// never written: what we ask does not need them.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::kafka::wire {

/// One kind of request: its number, the versions we speak, and the first flexible one.
struct Api {
  int16_t key = 0;
  const char* name = "";
  int16_t min = 0;
  int16_t max = 0;
  int16_t flexible = 0;

  constexpr bool is_flexible(int16_t version) const { return version >= flexible; }
};
inline constexpr int16_t kNeverFlexible = 0x7fff;

/// KIP-516. All zero: none.
using TopicId = std::array<char, 16>;

/// A byte array whose length is 32 bits wide where it is not compact. Null reads as empty.
struct ByteField {
  std::string_view bytes;
};

/// An array of 32-bit numbers that nobody looks at. Written empty.
struct IgnoredNumbers {};

template <class T>
T FromBig(T value) {
  if constexpr (sizeof(T) > 1 && std::endian::native == std::endian::little) {
    return static_cast<T>(std::byteswap(static_cast<std::make_unsigned_t<T>>(value)));
  }
  return value;
}

/// Reads a message. After a read past the end every further one gives nothing, and is_broken() says
/// so. Views it hands out point into the bytes.
class Decoder {
 public:
  static constexpr bool kReads = true;

  Decoder(std::string_view bytes, int16_t version, bool is_flexible)
      : bytes_(bytes), version_(version), is_flexible_(is_flexible) {}

  bool is_broken() const { return is_broken_; }
  size_t remaining() const { return bytes_.size(); }

  template <class T>
  void operator()(int since, T& field) {
    if (version_ >= since) Take(field);
  }
  template <class T>
  void operator()(int since, int until, T& field) {
    if (version_ >= since && version_ <= until) Take(field);
  }
  /// A field of this type that nobody looks at.
  template <class T>
  void Skip(int since, int until = kNeverFlexible) {
    T unused{};
    (*this)(since, until, unused);
  }

  /// The tagged fields at the end of a struct.
  void TakeTags() {
    if (!is_flexible_) return;
    for (uint32_t count = UnsignedVarint(); count > 0 && !is_broken_; --count) {
      UnsignedVarint();
      View(UnsignedVarint());
    }
  }

 private:
  static constexpr int64_t kNull = -1;
  // Elements reserved at once: a count is a claim until its elements have been read.
  static constexpr size_t kReserveMax = 1024;

  template <std::integral T>
  void Take(T& value) {
    const std::string_view view = View(sizeof(T));
    value = T{};
    if (is_broken_) return;
    std::memcpy(&value, view.data(), sizeof(T));
    value = FromBig(value);
  }
  void Take(bool& value) {
    int8_t byte = 0;
    Take(byte);
    value = byte != 0;
  }
  void Take(std::string_view& text) { text = View(LengthOf<int16_t>()); }
  void Take(std::optional<std::string_view>& text) {
    const int64_t length = LengthOf<int16_t>();
    text.reset();
    if (length != kNull) text = View(length);
  }
  void Take(ByteField& field) { field.bytes = View(LengthOf<int32_t>()); }
  void Take(TopicId& id) {
    const std::string_view view = View(static_cast<int64_t>(id.size()));
    if (!is_broken_) std::memcpy(id.data(), view.data(), id.size());
  }
  void Take(IgnoredNumbers&) {
    const int64_t count = LengthOf<int32_t>();
    if (count > 0) View(count * static_cast<int64_t>(sizeof(int32_t)));
  }
  template <class T>
  void Take(std::vector<T>& list) {
    list.clear();
    const int64_t count = LengthOf<int32_t>();
    // Every element takes at least a byte.
    if (count > static_cast<int64_t>(remaining())) return Break();
    if (count > 0) list.reserve(std::min(static_cast<size_t>(count), kReserveMax));
    for (int64_t i = 0; i < count && !is_broken_; ++i) Take(list.emplace_back());
  }
  template <class T>
  void Take(std::optional<std::vector<T>>& list) {
    Take(list.emplace());
  }
  template <class T>
    requires requires(Decoder& c, T& message) { T::Fields(c, message); }
  void Take(T& message) {
    T::Fields(*this, message);
    TakeTags();
  }

  template <class Wide>
  int64_t LengthOf() {
    if (is_flexible_) return static_cast<int64_t>(UnsignedVarint()) - 1;
    Wide length = 0;
    Take(length);
    return length < 0 ? kNull : length;
  }
  uint32_t UnsignedVarint() {
    constexpr int kBitsMax = 28;  // of the fifth and last byte
    uint32_t value = 0;
    for (int shift = 0; shift <= kBitsMax; shift += 7) {
      uint8_t byte = 0;
      Take(byte);
      value |= static_cast<uint32_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    Break();
    return 0;
  }
  // Empty for null.
  std::string_view View(int64_t size) {
    if (size <= 0 || is_broken_) return {};
    if (static_cast<uint64_t>(size) > bytes_.size()) {
      Break();
      return {};
    }
    const std::string_view view = bytes_.substr(0, static_cast<size_t>(size));
    bytes_.remove_prefix(view.size());
    return view;
  }
  void Break() {
    is_broken_ = true;
    bytes_ = {};
  }

  std::string_view bytes_;  // not read yet
  int16_t version_;
  bool is_flexible_;
  bool is_broken_ = false;
};

/// Appends a message to `out`, which outlives it.
class Encoder {
 public:
  static constexpr bool kReads = false;

  Encoder(std::string& out, int16_t version, bool is_flexible)
      : out_(out), version_(version), is_flexible_(is_flexible) {}

  template <class T>
  void operator()(int since, const T& field) {
    if (version_ >= since) Put(field);
  }
  template <class T>
  void operator()(int since, int until, const T& field) {
    if (version_ >= since && version_ <= until) Put(field);
  }
  template <class T>
  void Skip(int since, int until = kNeverFlexible) {
    (*this)(since, until, T{});
  }
  void PutTags() {
    if (is_flexible_) UnsignedVarint(0);
  }

 private:
  template <std::integral T>
  void Put(T value) {
    const T big = FromBig(value);
    out_.append(reinterpret_cast<const char*>(&big), sizeof(T));
  }
  void Put(bool value) { out_.push_back(value ? '\1' : '\0'); }
  void Put(std::string_view text) {
    PutLength<int16_t>(static_cast<int64_t>(text.size()));
    out_.append(text);
  }
  void Put(const std::optional<std::string_view>& text) {
    if (text) return Put(*text);
    PutLength<int16_t>(-1);
  }
  void Put(const ByteField& field) {
    PutLength<int32_t>(static_cast<int64_t>(field.bytes.size()));
    out_.append(field.bytes);
  }
  void Put(const TopicId& id) { out_.append(id.data(), id.size()); }
  void Put(const IgnoredNumbers&) { PutLength<int32_t>(0); }
  template <class T>
  void Put(const std::vector<T>& list) {
    PutLength<int32_t>(static_cast<int64_t>(list.size()));
    for (const T& element : list) Put(element);
  }
  template <class T>
  void Put(const std::optional<std::vector<T>>& list) {
    if (list) return Put(*list);
    PutLength<int32_t>(-1);
  }
  template <class T>
    requires requires(Encoder& c, const T& message) { T::Fields(c, message); }
  void Put(const T& message) {
    T::Fields(*this, message);
    PutTags();
  }

  template <class Wide>
  void PutLength(int64_t length) {
    if (is_flexible_) {
      UnsignedVarint(static_cast<uint32_t>(length + 1));
    } else {
      Put(static_cast<Wide>(length));
    }
  }
  void UnsignedVarint(uint32_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }

  std::string& out_;
  int16_t version_;
  bool is_flexible_;
};

}  // namespace tidemark::kafka::wire
