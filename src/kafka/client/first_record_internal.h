/// Reading the first record at or after an offset, of many partitions at once.
#pragma once

#include <span>
#include <string>

#include "base/budget.h"
#include "kafka/client/session_internal.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

/// One partition to read from.
struct SearchTarget {
  TopicPartition partition;
  Offset from = 0;
  Offset end = 0;  ///< > from: records from here on are not looked at

  enum class Outcome {
    kUndecided,
    kRecord,      ///< `first` lies in [from, end)
    kEnd,         ///< there is none: the log was read to its end, or the next one lies beyond `end`
    kOutOfRange,  ///< the log no longer holds `from`, or ends before `end`: ask for both again
    kAgain,       ///< a fault that may pass
    kFault,       ///< a fault that will not
  };
  Outcome outcome = Outcome::kUndecided;
  FirstRecord first;
  ProbeFault fault = ProbeFault::kNone;
  std::string message;
};

/// Reads with the isolation of the client until every target is decided or the budget ends.
///
/// With `is_last_size` false it also returns when the rest comes in one partition at a time, which
/// is how a broker sends batches over the client's fetch size: the caller should go on with a
/// bigger one.
void SearchFirstRecords(Client& client, std::span<SearchTarget> targets, bool is_last_size,
                        const Budget& budget);

}  // namespace tidemark::kafka::client
