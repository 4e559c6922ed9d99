#include <fmt/format.h>

#include <utility>

#include "lake/hudi/log_file.h"

namespace tidemark::lake::hudi {
namespace {

// Versions 1 to 3 share one layout; version 0 has its schema inside and is older than any table
// version we read.
constexpr int32_t kDataVersionMin = 1;
constexpr int32_t kDataVersionMax = 3;
constexpr size_t kLengthSize = 4;

std::unexpected<Error> Damaged(std::string_view what, uint64_t offset) {
  return Fail(ErrorKind::kCorrupt, fmt::format("log data block: {} offset={}", what, offset));
}

}  // namespace

Result<LogRecords> LogRecords::Open(const LogBlock& block) {
  const auto text = block.Header(LogHeaderKey::kSchema);
  if (text.empty()) return Damaged("it has no schema", block.offset);
  auto schema = avro::Schema::Parse(text);
  if (!schema) {
    return std::unexpected(
        std::move(schema).error().With(fmt::format("log block at offset={}", block.offset)));
  }
  return Open(block, *std::move(schema));
}

Result<LogRecords> LogRecords::Open(const LogBlock& block, avro::Schema schema) {
  if (block.kind != LogBlockKind::kAvroData && block.kind != LogBlockKind::kCdcData) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("log block has no Avro records, kind={} offset={}",
                            LogBlockKindName(block.kind), block.offset));
  }
  LogRecords records(std::move(schema), block);
  const auto version = records.cursor_.TakeBig<int32_t>();
  const auto count = records.cursor_.TakeBig<int32_t>();
  if (!version || !count) return Damaged("it ends in its head", block.content_offset);
  if (*version < kDataVersionMin || *version > kDataVersionMax) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("log data block of an unknown version, version={} offset={}", *version,
                            block.content_offset));
  }
  if (*count < 0 || static_cast<size_t>(*count) > records.cursor_.remaining() / kLengthSize) {
    return Damaged(fmt::format("it claims more records than can be there, records={}", *count),
                   block.content_offset);
  }
  records.records_left_ = static_cast<size_t>(*count);
  return records;
}

Result<std::optional<LogRecords::Record>> LogRecords::Next() {
  if (error_) return std::unexpected(*error_);
  const uint64_t at = offset_ + cursor_.position();
  const auto refuse = [this](Error error) {
    error_ = error;
    return std::unexpected(std::move(error));
  };
  if (records_left_ == 0) {
    if (cursor_.at_end()) return std::nullopt;
    return refuse(Damaged("bytes follow its last record", at).error());
  }
  const auto length = cursor_.TakeBig<int32_t>();
  if (!length || *length < 0) return refuse(Damaged("a record has no length", at).error());
  const auto bytes = cursor_.Take(static_cast<uint64_t>(*length));
  if (!bytes) return refuse(Damaged("a record ends behind the block", at).error());
  auto datum = avro::Datum::Open(schema_.root(), *bytes, at + kLengthSize);
  if (!datum) return refuse(std::move(datum).error());
  --records_left_;
  return Record{*datum, bytes->size()};
}

}  // namespace tidemark::lake::hudi
