/// The event log in memory, with faults on request: for tests.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "feed/event_log.h"

namespace tidemark::feed {

enum class SendFault {
  kNone,
  kRefused,      ///< kUnavailable, nothing written, the writer goes on
  kTooLarge,     ///< kExhausted, the same
  kLostRequest,  ///< kUnavailable, nothing written, the writer is unusable
  kLostAnswer,   ///< kUnavailable, everything written, the writer is unusable
};

/// Copies share the log. Any thread.
class MemoryLog final : public EventLog {
 public:
  explicit MemoryLog(int32_t partition_count);

  /// Asked before each sending and each opening (kRefused or kNone there), outside of any lock.
  void SetFaults(std::function<SendFault(PartitionId)> faults);

  /// Everything that was written, compacted never.
  std::vector<ReadRecord> Records(LogTopic topic, PartitionId partition) const;
  /// From outside, as to the control topic.
  void Append(PartitionId partition, LogRecord record);
  /// As when the topic is deleted and made anew: offsets begin at 0 again.
  void MakeAnew(LogTopic topic);

  int32_t partition_count() const override;
  Result<std::unique_ptr<LogWriter>> OpenWriter(PartitionId partition,
                                                const Budget& budget) override;
  Result<Offset> Read(LogTopic topic, PartitionId partition, Offset from,
                      const std::function<Status(ReadRecord)>& take, const Budget& budget) override;
  Result<std::unique_ptr<LogFollower>> OpenFollower() override;

 private:
  struct Shared;
  class Writer;
  class Follower;
  std::shared_ptr<Shared> shared_;
};

}  // namespace tidemark::feed
