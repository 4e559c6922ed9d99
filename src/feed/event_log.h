/// Where the change feed is kept: an ordered log of each partition that takes several records
/// together or none, and one writer at a time. Kafka, or memory in tests.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "kafka/positions.h"

namespace tidemark::feed {

using kafka::Offset;
using kafka::PartitionId;

/// What the topics of a feed are for (change-feed §4.2). All have the same number of partitions,
/// and all of a table is in partitions of one number: kafka::PartitionOfKey of its uid, so that
/// whoever writes to the control topic with the uid for a key reaches the table's owner.
enum class LogTopic {
  kEvents,   ///< groups and bookmarks, deleted by age
  kState,    ///< snapshots, compacted
  kCursor,   ///< what the publisher remembers, compacted
  kControl,  ///< requests to the publisher
};
inline constexpr LogTopic kLogTopics[] = {LogTopic::kEvents, LogTopic::kState, LogTopic::kCursor,
                                          LogTopic::kControl};
/// "events", …
std::string_view LogTopicName(LogTopic topic);

using Headers = std::vector<std::pair<std::string, std::string>>;

struct LogRecord {
  LogTopic topic = LogTopic::kEvents;
  std::string key{};
  std::optional<std::string> value{};  ///< nullopt: a tombstone
  Headers headers{};

  friend bool operator==(const LogRecord&, const LogRecord&) = default;
};

/// The one who may write to the partitions of one number. One caller at a time.
class LogWriter {
 public:
  virtual ~LogWriter() = default;

  /// All records, in their order, or none. Errors: kConflict (another writer was opened since),
  /// kExhausted (a record is larger than the log takes), kDenied, kNotFound, kUnavailable,
  /// kCancelled. After an error with is_usable() nothing was written, and nothing will be; if not
  /// is_usable(), only opening it anew and reading can tell.
  virtual Status Send(std::span<const LogRecord> records, const Budget& budget) = 0;
  virtual bool is_usable() const = 0;
};

struct ReadRecord {
  LogTopic topic = LogTopic::kEvents;
  PartitionId partition = 0;
  Offset offset = 0;
  std::string key{};
  std::optional<std::string> value{};
  Headers headers{};
};

/// Records as they come. One caller at a time.
class LogFollower {
 public:
  virtual ~LogFollower() = default;
  /// Those from `from` on, from the oldest that is there, or from the end when that is before
  /// `from`; gives where the log ended at the call. With the end of a Read() no record is missed
  /// and none comes twice.
  virtual Result<Offset> FollowFrom(LogTopic topic, PartitionId partition, Offset from,
                                    const Budget& budget) = 0;
  virtual void Forget(LogTopic topic, PartitionId partition) = 0;
  /// Waits up to `wait` for the first. An error is told once and passes or not; following goes on.
  virtual Result<std::vector<ReadRecord>> Poll(Milliseconds wait) = 0;
};

/// Any thread.
class EventLog {
 public:
  virtual ~EventLog() = default;

  virtual int32_t partition_count() const = 0;

  /// Takes the partitions of this number over: from here on no earlier writer writes anything.
  virtual Result<std::unique_ptr<LogWriter>> OpenWriter(PartitionId partition,
                                                        const Budget& budget) = 0;

  /// Every record from `from` on (or from the oldest that is there) that can be read at the call,
  /// in order; gives the offset to go on from. What a writer has just sent can be read a moment
  /// later; all that earlier writers sent, once another was opened. Ends with the first error of
  /// `take`.
  virtual Result<Offset> Read(LogTopic topic, PartitionId partition, Offset from,
                              const std::function<Status(ReadRecord)>& take,
                              const Budget& budget) = 0;

  virtual Result<std::unique_ptr<LogFollower>> OpenFollower() = 0;
};

}  // namespace tidemark::feed
