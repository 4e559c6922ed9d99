#include "lake/avro/container.h"

#include <fmt/format.h>

#include <utility>

namespace tidemark::lake::avro {
namespace {

constexpr size_t kSyncSize = 16;

}  // namespace

Result<Container> Container::Open(std::string_view bytes) {
  if (!bytes.starts_with(kContainerMagic)) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("no avro container file: it does not begin with Obj\\x01, bytes={}",
                            bytes.size()));
  }
  Wire wire(bytes);
  wire.Take(kContainerMagic.size());
  Type bytes_type;
  bytes_type.kind = Kind::kBytes;
  bytes_type.size_min = 1;
  Type head;
  head.kind = Kind::kMap;
  head.items = &bytes_type;
  TRY_ASSIGN(const Datum datum, Datum::Open(head, wire.rest(), wire.offset()));
  TRY_ASSIGN(Items items, datum.OpenItems());
  std::map<std::string, std::string, std::less<>> metadata;
  while (true) {
    TRY_ASSIGN(const auto entry, items.Next());
    if (!entry) break;
    TRY_ASSIGN(const auto value, entry->value.Bytes());
    metadata.insert_or_assign(std::string(entry->key), std::string(value));
  }
  wire.Skip(head);
  const auto sync = wire.Take(kSyncSize);
  if (!wire.ok()) return std::unexpected(wire.ToError());
  const auto schema_text = metadata.find("avro.schema");
  if (schema_text == metadata.end()) {
    return Fail(ErrorKind::kCorrupt, "avro container file has no avro.schema in its head");
  }
  TRY_ASSIGN(Schema schema, Schema::Parse(schema_text->second));
  const auto word = metadata.find("avro.codec");
  const auto codec =
      word == metadata.end() || word->second.empty() ? Codec::kNull : FindCodec(word->second);
  if (!codec) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("avro codec is not supported, codec={}", word->second));
  }
  Container container(std::move(schema), wire);
  container.metadata_ = std::move(metadata);
  container.codec_ = *codec;
  container.sync_ = sync;
  return container;
}

Status Container::ReadBlock() {
  const uint64_t start = wire_.offset();
  const int64_t count = wire_.ReadLong();
  const uint64_t size = wire_.ReadLength();
  const uint64_t data_offset = wire_.offset();
  const auto data = wire_.Take(size);
  const auto sync = wire_.Take(kSyncSize);
  if (!wire_.ok()) return std::unexpected(wire_.ToError());
  if (sync != sync_) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("avro block does not end with the file's sync marker, offset={}",
                            wire_.offset() - kSyncSize));
  }
  if (codec_ == Codec::kNull) {
    block_ = Wire(data, data_offset);
  } else {
    if (auto done = Unpack(codec_, data, *unpacked_); !done) {
      return std::unexpected(
          std::move(done).error().With(fmt::format("block at offset={}", start)));
    }
    block_ = Wire(*unpacked_);
  }
  block_offset_ = start;
  if (count < 0 || static_cast<uint64_t>(count) > block_.ItemsMax(schema_.root(), 0)) {
    return Fail(
        ErrorKind::kCorrupt,
        fmt::format("avro block claims more records than can be there, records={} offset={}", count,
                    start));
  }
  records_left_ = static_cast<uint64_t>(count);
  ++blocks_read_;
  return {};
}

Result<std::optional<Datum>> Container::NextRecord() {
  if (is_inside_) {
    block_.Skip(schema_.root());
    is_inside_ = false;
  }
  while (block_.ok() && records_left_ == 0) {
    if (!block_.at_end()) {
      block_.Fail(Flaw::kBytesLeft);
      break;
    }
    if (wire_.at_end()) return std::nullopt;
    TRY(ReadBlock());
  }
  if (!block_.ok()) {
    Error error = block_.ToError();
    if (codec_ == Codec::kNull) return std::unexpected(std::move(error));
    return std::unexpected(
        std::move(error).With(fmt::format("unpacked block at offset={}", block_offset_)));
  }
  --records_left_;
  is_inside_ = true;
  auto datum = Datum::Open(schema_.root(), block_.rest(), block_.offset());
  if (!datum) return std::unexpected(std::move(datum).error());
  return *datum;
}

Result<std::optional<Datum>> Container::Next() {
  if (error_) return std::unexpected(*error_);
  auto record = NextRecord();
  if (!record) error_ = record.error();
  return record;
}

}  // namespace tidemark::lake::avro
