/// Reading the first record at or after an offset, of many partitions at once.
#pragma once

#include <span>
#include <string>

#include "base/budget.h"
#include "kafka/client/clients_internal.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

/// One partition to read from.
struct SearchTarget {
  TopicPartition partition;
  std::string address;  ///< "host:port" of its leader
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

/// Reads until every target is decided, nothing has come for `patience`, or the budget ends; the
/// undecided ones get the reason of the silence. The errors are of the properties only. Returns the
/// bytes received.
Result<uint64_t> SearchFirstRecords(const ClusterOptions& options, IsolationLevel isolation,
                                    std::span<SearchTarget> targets, Milliseconds patience,
                                    const Budget& budget);

}  // namespace tidemark::kafka::client
