/// Places in Kafka as values. No client library here.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

namespace tidemark::kafka {

/// Position of a record in a partition, counted from 0 since the topic was created. Where a field
/// is called `committed` or `end` it is exclusive: the next offset to read, or to be written.
using Offset = int64_t;

/// Number of a partition within its topic, from 0.
using PartitionId = int32_t;

struct TopicPartition {
  std::string topic;
  PartitionId partition = 0;

  friend auto operator<=>(const TopicPartition&, const TopicPartition&) = default;
};

/// What a consumer is shown of transactions: also records of open and aborted ones, or only
/// committed ones.
enum class IsolationLevel { kReadUncommitted, kReadCommitted };

/// Who stamped a record: its producer (age of the event), the broker at append (age in the queue),
/// or nobody.
enum class TimestampType { kNone, kCreate, kAppend };

/// Committed next-offsets of one topic, by partition.
using PartitionOffsets = std::map<PartitionId, Offset>;

}  // namespace tidemark::kafka
