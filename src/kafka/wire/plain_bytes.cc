#include <fmt/core.h>

#include <algorithm>

#include "kafka/wire/plain_bytes_internal.h"

namespace tidemark::kafka::wire {

namespace {

// Decompressed bytes looked at in one batch. Brokers take batches of about a megabyte by default;
// what expands to more than this is made to.
constexpr uint64_t kPlainBytesMax = 256 << 20;
constexpr int64_t kKeyBeginSize = 8;
constexpr int kVarintBytesMax = 10;

}  // namespace

PlainBytes::PlainBytes(Codec codec, std::string_view input) {
  auto source = MakeDecompressor(codec, input);
  if (source) {
    source_ = *std::move(source);
  } else {
    error_ = std::move(source).error().message;
  }
}

std::optional<RecordHead> PlainBytes::TakeRecord() {
  RecordHead head;
  int64_t length = 0;
  if (!TakeVarint(&length) || length < 0) return std::nullopt;
  const uint64_t end = taken_ + static_cast<uint64_t>(length);
  uint8_t attributes = 0;
  int64_t offset_delta = 0;
  int64_t key_size = 0;
  if (!TakeByte(&attributes) || !TakeVarint(&head.timestamp_delta) || !TakeVarint(&offset_delta) ||
      !TakeVarint(&key_size) || offset_delta < 0 || offset_delta > INT32_MAX ||
      !TakeKeyBegin(std::min(key_size, kKeyBeginSize))) {
    return std::nullopt;
  }
  head.offset_delta = static_cast<int32_t>(offset_delta);
  head.key_begin = key_begin_;
  if (taken_ > end || !Skip(static_cast<int64_t>(end - taken_))) return std::nullopt;
  return head;
}

std::string PlainBytes::complaint(int64_t batch_offset) const {
  return fmt::format("the records of a batch cannot be read offset={}: {}", batch_offset,
                     error_.empty() ? "they do not fit their lengths" : error_);
}

bool PlainBytes::Refill() {
  if (!piece_.empty()) return true;
  if (source_ == nullptr) return false;
  if (taken_ > kPlainBytesMax) {
    error_ = fmt::format("more than bytes={}", kPlainBytesMax);
    return false;
  }
  auto next = source_->Next();
  if (!next) error_ = std::move(next).error().message;
  piece_ = next.value_or(std::string_view());
  return !piece_.empty();
}

bool PlainBytes::TakeByte(uint8_t* byte) {
  if (!Refill()) return false;
  *byte = static_cast<uint8_t>(piece_.front());
  piece_.remove_prefix(1);
  ++taken_;
  return true;
}

bool PlainBytes::TakeVarint(int64_t* value) {
  uint64_t bits = 0;
  for (int i = 0; i < kVarintBytesMax; ++i) {
    uint8_t byte = 0;
    if (!TakeByte(&byte)) return false;
    bits |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    // Zigzag.
    *value = static_cast<int64_t>(bits >> 1) ^ -static_cast<int64_t>(bits & 1);
    return true;
  }
  return false;
}

bool PlainBytes::Skip(int64_t size) {
  while (size > 0) {
    if (!Refill()) return false;
    const size_t step = std::min(piece_.size(), static_cast<size_t>(size));
    piece_.remove_prefix(step);
    taken_ += step;
    size -= static_cast<int64_t>(step);
  }
  return true;
}

bool PlainBytes::TakeKeyBegin(int64_t size) {
  key_begin_.clear();
  for (int64_t i = 0; i < size; ++i) {
    uint8_t byte = 0;
    if (!TakeByte(&byte)) return false;
    key_begin_.push_back(static_cast<char>(byte));
  }
  return true;
}

}  // namespace tidemark::kafka::wire
