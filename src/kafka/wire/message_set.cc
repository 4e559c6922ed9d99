#include <fmt/core.h>

#include <string>

#include "base/bytes.h"
#include "kafka/wire/decompress_internal.h"
#include "kafka/wire/message_set_internal.h"

namespace tidemark::kafka::wire {

namespace {

// Of all messages in a wrapper. Whoever wrote this format had a limit of a megabyte.
constexpr size_t kWrappedBytesMax = 64 << 20;
constexpr int8_t kCodecMask = 0x07;
constexpr int8_t kAppendTime = 1 << 3;

struct Message {
  Offset offset = 0;
  int8_t magic = 0;
  int8_t attributes = 0;
  int64_t timestamp_ms = -1;
  std::string_view value;

  Codec codec() const { return static_cast<Codec>(attributes & kCodecMask); }
  bool is_append_time() const { return (attributes & kAppendTime) != 0; }
};

std::unexpected<Error> Damaged(Offset offset) {
  return Fail(ErrorKind::kCorrupt,
              fmt::format("a message does not fit its lengths offset={}", offset));
}

// Length -1 is null.
std::optional<std::string_view> TakeBytes(ByteCursor& cursor) {
  const auto length = cursor.TakeBig<int32_t>();
  if (!length || *length < -1) return std::nullopt;
  return cursor.Take(static_cast<uint64_t>(std::max(*length, 0)));
}

Result<Message> TakeMessage(ByteCursor& cursor) {
  const auto offset = cursor.TakeBig<int64_t>();
  const auto size = cursor.TakeBig<int32_t>();
  if (!offset || !size || *size < 0) return Damaged(offset.value_or(-1));
  const auto body = cursor.Take(static_cast<uint64_t>(*size));
  if (!body) return Damaged(*offset);
  ByteCursor fields(*body);
  fields.TakeBig<int32_t>();  // sum
  const auto magic = fields.TakeBig<int8_t>();
  const auto attributes = fields.TakeBig<int8_t>();
  if (!attributes || *magic < 0 || *magic > 1) return Damaged(*offset);
  Message message{.offset = *offset, .magic = *magic, .attributes = *attributes, .value = {}};
  if (*magic == 1) message.timestamp_ms = fields.TakeBig<int64_t>().value_or(-1);
  const auto key = TakeBytes(fields);
  const auto value = key ? TakeBytes(fields) : std::nullopt;
  if (!value) return Damaged(*offset);
  message.value = *value;
  return message;
}

Result<std::string> Decompressed(const Message& wrapper) {
  const auto header = wrapper.magic == 0 ? Lz4Header::kOfFormat0 : Lz4Header::kRight;
  TRY_ASSIGN(const auto source, MakeDecompressor(wrapper.codec(), wrapper.value, header));
  std::string plain;
  while (true) {
    TRY_ASSIGN(const std::string_view piece, source->Next());
    if (piece.empty()) return plain;
    if (plain.size() + piece.size() > kWrappedBytesMax) {
      return Fail(ErrorKind::kCorrupt, fmt::format("messages of more than bytes={} offset={}",
                                                   kWrappedBytesMax, wrapper.offset));
    }
    plain.append(piece);
  }
}

}  // namespace

FirstRecord StampedRecord(Offset offset, int64_t timestamp_ms, bool is_append_time) {
  // A producer that sent no stamp leaves a negative one under whatever type the topic has.
  if (timestamp_ms < 0) return {.offset = offset};
  return {.offset = offset,
          .timestamp_ms = timestamp_ms,
          .timestamp_type = is_append_time ? TimestampType::kAppend : TimestampType::kCreate};
}

Result<MessageFinding> FindInMessage(std::string_view bytes, Offset from) {
  ByteCursor cursor(bytes);
  TRY_ASSIGN(const Message outer, TakeMessage(cursor));
  MessageFinding finding{.first = std::nullopt, .last = outer.offset};
  if (outer.offset < from) return finding;
  if (outer.codec() == Codec::kNone) {
    finding.first = StampedRecord(outer.offset, outer.timestamp_ms, outer.is_append_time());
    return finding;
  }
  TRY_ASSIGN(const std::string plain, Decompressed(outer));
  // A wrapper has the offset of its last message; those of magic 1 count from its first.
  Offset last = 0;
  for (ByteCursor inside(plain); !inside.at_end();) {
    TRY_ASSIGN(const Message message, TakeMessage(inside));
    last = message.offset;
  }
  if (last < 0 || (outer.magic == 1 && last > outer.offset)) return Damaged(outer.offset);
  const Offset first = outer.magic == 1 ? outer.offset - last : 0;
  for (ByteCursor inside(plain); !inside.at_end();) {
    TRY_ASSIGN(const Message message, TakeMessage(inside));
    if (message.offset < 0 || message.offset > last) return Damaged(outer.offset);
    if (message.codec() != Codec::kNone) {
      return Fail(ErrorKind::kCorrupt,
                  fmt::format("a compressed message in another one offset={}", outer.offset));
    }
    const Offset offset = first + message.offset;
    if (offset < from) continue;
    const int64_t stamp = outer.is_append_time() ? outer.timestamp_ms : message.timestamp_ms;
    finding.first = StampedRecord(offset, stamp, outer.is_append_time());
    return finding;
  }
  return finding;
}

}  // namespace tidemark::kafka::wire
