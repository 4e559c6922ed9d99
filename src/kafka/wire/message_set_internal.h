/// Messages of magic 0 and 1: what logs hold that were written before Kafka 0.11.
#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::wire {

/// A record with its stamp; one without (negative) is of type kNone.
FirstRecord StampedRecord(Offset offset, int64_t timestamp_ms, bool is_append_time);

/// A message, or the compressed one that wraps others.
struct MessageFinding {
  std::optional<FirstRecord> first;  ///< at or after the offset asked for
  Offset last = 0;                   ///< of the message, or of the last one in the wrapper
};

/// `bytes` are one whole message, its offset and size included. kCorrupt when it cannot be read.
Result<MessageFinding> FindInMessage(std::string_view bytes, Offset from);

}  // namespace tidemark::kafka::wire
