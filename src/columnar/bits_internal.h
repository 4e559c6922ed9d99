/// A growing bit map: validity and booleans.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tidemark::columnar {

class Bits {
 public:
  size_t size() const { return size_; }

  void Append(bool bit) {
    if (size_ % 8 == 0) bytes_.push_back(0);
    if (bit) bytes_.back() = static_cast<uint8_t>(bytes_.back() | (1U << (size_ % 8)));
    ++size_;
  }
  void AppendMany(bool bit, size_t count) {
    while (count > 0 && size_ % 8 != 0) {
      Append(bit);
      --count;
    }
    bytes_.insert(bytes_.end(), count / 8, bit ? 0xff : 0);
    size_ += count / 8 * 8;
    for (count %= 8; count > 0; --count) Append(bit);
  }
  void AppendRun(const uint8_t* bits, size_t at, size_t count) {
    if (size_ % 8 == 0 && at % 8 == 0) {
      bytes_.insert(bytes_.end(), bits + at / 8, bits + at / 8 + count / 8);
      size_ += count / 8 * 8;
      at += count / 8 * 8;
      count %= 8;
    }
    for (; count > 0; --count, ++at) Append((bits[at / 8] >> (at % 8) & 1) != 0);
  }
  void Truncate(size_t size) {
    size_ = size;
    bytes_.resize((size + 7) / 8);
    if (size % 8 != 0) {
      bytes_.back() = static_cast<uint8_t>(bytes_.back() & ((1U << (size % 8)) - 1));
    }
  }
  std::vector<uint8_t> Take() {
    size_ = 0;
    return std::exchange(bytes_, {});
  }
  size_t bytes() const { return bytes_.size(); }

 private:
  std::vector<uint8_t> bytes_;
  size_t size_ = 0;
};

/// Which rows are null; costs nothing before the first one is.
class Validity {
 public:
  void Append(bool is_valid, size_t rows_before) {
    if (is_valid && bits_.size() == 0) return;
    Cover(rows_before);
    bits_.Append(is_valid);
  }
  void AppendRun(const uint8_t* bits, size_t at, size_t count, size_t rows_before) {
    if (bits == nullptr && bits_.size() == 0) return;
    Cover(rows_before);
    if (bits == nullptr) {
      bits_.AppendMany(true, count);
    } else {
      bits_.AppendRun(bits, at, count);
    }
  }
  void Truncate(size_t rows) {
    if (bits_.size() > rows) bits_.Truncate(rows);
  }
  /// Empty when no row is null.
  std::vector<uint8_t> Take() { return bits_.Take(); }
  size_t bytes() const { return bits_.bytes(); }

 private:
  void Cover(size_t rows) {
    if (bits_.size() < rows) bits_.AppendMany(true, rows - bits_.size());
  }

  Bits bits_;
};

}  // namespace tidemark::columnar
