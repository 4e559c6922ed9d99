/// The records of a batch of magic 2, one after the other, decompressed as far as they are read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kafka/wire/decompress_internal.h"

namespace tidemark::kafka::wire {

/// What a search wants of a record.
struct RecordHead {
  int64_t timestamp_delta = 0;
  int32_t offset_delta = 0;
  std::string_view key_begin;  ///< its first bytes, valid until the next record
};

/// One caller. The input must outlive it.
class PlainBytes {
 public:
  PlainBytes(Codec codec, std::string_view input);

  /// nullopt: the bytes end early, or are damaged, or are more than a batch may hold; complaint()
  /// says which.
  std::optional<RecordHead> TakeRecord();
  std::string complaint(int64_t batch_offset) const;

 private:
  bool Refill();
  bool TakeByte(uint8_t* byte);
  bool TakeVarint(int64_t* value);
  bool Skip(int64_t size);
  bool TakeKeyBegin(int64_t size);

  std::unique_ptr<Decompressor> source_;
  std::string error_;
  std::string_view piece_;  // not read yet
  uint64_t taken_ = 0;      // bytes read, for lengths of records
  std::string key_begin_;
};

}  // namespace tidemark::kafka::wire
