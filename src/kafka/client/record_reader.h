/// Reading records partition by partition, without a group.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

struct IncomingRecord {
  TopicPartition partition{};
  Offset offset = 0;
  int64_t timestamp_ms = -1;  ///< -1: none
  std::string key{};
  std::optional<std::string> value{};  ///< nullopt: a tombstone
  std::vector<std::pair<std::string, std::string>> headers{};
};

struct OffsetRange {
  Offset begin = 0;  ///< the oldest that is still there
  Offset end = 0;    ///< one past the last that may be read under the isolation level
};

/// Reads from where it is told, commits nothing. One caller at a time.
class RecordReader {
 public:
  /// kInvalidArgument as for the probe; nobody is asked before the first call.
  static Result<std::unique_ptr<RecordReader>> Open(const ClusterOptions& cluster,
                                                    IsolationLevel isolation);
  virtual ~RecordReader() = default;

  /// Errors: kNotFound (topic or partition), kDenied, kUnavailable, kCancelled.
  virtual Result<OffsetRange> RangeOf(const TopicPartition& partition, const Budget& budget) = 0;

  /// Every record in [from, end) in order; returns when all were given. `end` is one of RangeOf().
  /// kExhausted when records at `from` are not there any more, and the errors of RangeOf(). The
  /// first error of `take` ends it and is returned.
  virtual Status Read(const TopicPartition& partition, Offset from, Offset end,
                      const std::function<Status(IncomingRecord)>& take, const Budget& budget) = 0;

  /// Follows the partition from `from` on, until Forget().
  virtual Status Follow(const TopicPartition& partition, Offset from) = 0;
  virtual void Forget(const TopicPartition& partition) = 0;

  /// What has come of the followed partitions, at most `count_max` records; waits up to `wait` for
  /// the first. An error of one partition comes as the Error after what was read before it, and
  /// that partition is followed on; kExhausted as of Read(): it goes on with the oldest record.
  virtual Result<std::vector<IncomingRecord>> Poll(size_t count_max, Milliseconds wait) = 0;
};

}  // namespace tidemark::kafka::client
