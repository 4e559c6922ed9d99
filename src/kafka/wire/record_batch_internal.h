/// The first record at or after an offset, in the bytes of a fetched log.
///
/// Format: https://kafka.apache.org/documentation/#recordbatch (magic 2), and #messageset (0, 1).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kafka/partition_probe.h"
#include "kafka/wire/fetch_messages_internal.h"

namespace tidemark::kafka::wire {

/// What is looked for. Records from `end` on are not looked at.
struct RecordQuestion {
  IsolationLevel isolation = IsolationLevel::kReadUncommitted;
  Offset from = 0;
  Offset end = 0;  ///< > from
};

struct RecordAnswer {
  enum class Outcome {
    kRecord,       ///< `first`
    kEnd,          ///< there is none before `end`
    kMore,         ///< none so far: read on at `next`
    kUndecodable,  ///< `message`
  };
  Outcome outcome = Outcome::kMore;
  FirstRecord first;
  Offset next = 0;
  std::string message;
  size_t first_batch_size = 0;  ///< 0: not even its header came whole
  size_t cut_batch_size = 0;    ///< of the batch at `next` when it has to come whole, and did not
};

/// Searches `records`, whole batches in order, of which the last one may be cut short.
///
/// A batch header of magic 2 is enough where every offset in the batch has its record: then its
/// base timestamp is that of its first record (its greatest one that of all records when the broker
/// stamps them). Otherwise records are read, and decompressed up to the one that is wanted.
RecordAnswer FindFirstRecord(std::string_view records, std::span<const AbortedTransaction> aborted,
                             const RecordQuestion& question);

}  // namespace tidemark::kafka::wire
