#include "feed/memory_log.h"

#include <condition_variable>
#include <utility>

namespace tidemark::feed {

struct MemoryLog::Shared {
  explicit Shared(int32_t count) : partition_count(count) {}

  using Place = std::pair<LogTopic, PartitionId>;

  SendFault Ask(PartitionId partition) {
    std::function<SendFault(PartitionId)> ask;
    {
      const std::lock_guard lock(mutex);
      ask = faults;
    }
    return ask ? ask(partition) : SendFault::kNone;
  }

  /// Under the lock.
  void Write(PartitionId partition, const LogRecord& record) {
    auto& log = logs[{record.topic, partition}];
    log.push_back({.topic = record.topic,
                   .partition = partition,
                   .offset = static_cast<Offset>(log.size()),
                   .key = record.key,
                   .value = record.value,
                   .headers = record.headers});
  }

  const int32_t partition_count;
  std::mutex mutex;
  std::condition_variable has_more;
  std::map<Place, std::vector<ReadRecord>> logs;  // guarded by mutex, as are those below
  std::map<PartitionId, int> generations;         // of writers; the greatest one may write
  std::function<SendFault(PartitionId)> faults;
};

class MemoryLog::Writer final : public LogWriter {
 public:
  Writer(std::shared_ptr<Shared> shared, PartitionId partition, int generation)
      : shared_(std::move(shared)), partition_(partition), generation_(generation) {}

  Status Send(std::span<const LogRecord> records, const Budget& budget) override {
    if (!is_usable_) return Fail(ErrorKind::kInternal, "the writer must be opened anew");
    TRY(budget.Check());
    const auto fault = shared_->Ask(partition_);
    const std::lock_guard lock(shared_->mutex);
    if (shared_->generations[partition_] != generation_) {
      is_usable_ = false;
      return Fail(ErrorKind::kConflict, "fenced by a newer writer");
    }
    if (fault == SendFault::kRefused) return Fail(ErrorKind::kUnavailable, "refused");
    if (fault == SendFault::kTooLarge) return Fail(ErrorKind::kExhausted, "too large");
    if (fault != SendFault::kLostRequest) {
      for (const auto& record : records) shared_->Write(partition_, record);
      shared_->has_more.notify_all();
    }
    if (fault == SendFault::kNone) return {};
    is_usable_ = false;
    return Fail(ErrorKind::kUnavailable, "no answer");
  }
  bool is_usable() const override { return is_usable_; }

 private:
  std::shared_ptr<Shared> shared_;
  PartitionId partition_;
  int generation_;
  bool is_usable_ = true;
};

class MemoryLog::Follower final : public LogFollower {
 public:
  explicit Follower(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  Result<Offset> FollowFrom(LogTopic topic, PartitionId partition, Offset from,
                            const Budget&) override {
    const std::lock_guard lock(shared_->mutex);
    const size_t end = shared_->logs[{topic, partition}].size();
    next_[{topic, partition}] = std::min(static_cast<size_t>(std::max<Offset>(from, 0)), end);
    return static_cast<Offset>(end);
  }
  void Forget(LogTopic topic, PartitionId partition) override { next_.erase({topic, partition}); }

  Result<std::vector<ReadRecord>> Poll(Milliseconds wait) override {
    std::vector<ReadRecord> records;
    bool is_past_end = false;
    const auto take = [&] {
      for (auto& [place, next] : next_) {
        const auto& log = shared_->logs[place];
        if (next > log.size()) {
          is_past_end = true;
          next = 0;
          continue;
        }
        for (; next < log.size(); ++next) records.push_back(log[next]);
      }
      return is_past_end || !records.empty();
    };
    std::unique_lock lock(shared_->mutex);
    if (std::exchange(is_exhausted_, false)) return Exhausted();
    shared_->has_more.wait_for(lock, wait, take);
    if (!is_past_end) return records;
    // After what was read before it, as a broker's client says it.
    is_exhausted_ = !records.empty();
    if (records.empty()) return Exhausted();
    return records;
  }

 private:
  static std::unexpected<Error> Exhausted() {
    return Fail(ErrorKind::kExhausted, "records are not there any more");
  }

  std::shared_ptr<Shared> shared_;
  std::map<Shared::Place, size_t> next_;
  bool is_exhausted_ = false;
};

MemoryLog::MemoryLog(int32_t partition_count)
    : shared_(std::make_shared<Shared>(partition_count)) {}

void MemoryLog::SetFaults(std::function<SendFault(PartitionId)> faults) {
  const std::lock_guard lock(shared_->mutex);
  shared_->faults = std::move(faults);
}

std::vector<ReadRecord> MemoryLog::Records(LogTopic topic, PartitionId partition) const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->logs[{topic, partition}];
}

void MemoryLog::Append(PartitionId partition, LogRecord record) {
  const std::lock_guard lock(shared_->mutex);
  shared_->Write(partition, record);
  shared_->has_more.notify_all();
}

void MemoryLog::MakeAnew(LogTopic topic) {
  const std::lock_guard lock(shared_->mutex);
  for (auto& [place, log] : shared_->logs)
    if (place.first == topic) log.clear();
}

int32_t MemoryLog::partition_count() const {
  return shared_->partition_count;
}

Result<std::unique_ptr<LogWriter>> MemoryLog::OpenWriter(PartitionId partition,
                                                         const Budget& budget) {
  TRY(budget.Check());
  if (shared_->Ask(partition) != SendFault::kNone) return Fail(ErrorKind::kUnavailable, "refused");
  const std::lock_guard lock(shared_->mutex);
  const int generation = ++shared_->generations[partition];
  return std::make_unique<Writer>(shared_, partition, generation);
}

Result<Offset> MemoryLog::Read(LogTopic topic, PartitionId partition, Offset from,
                               const std::function<Status(ReadRecord)>& take,
                               const Budget& budget) {
  TRY(budget.Check());
  const auto records = Records(topic, partition);
  const auto end = static_cast<Offset>(records.size());
  for (Offset at = std::max<Offset>(from, 0); at < end; ++at)
    TRY(take(records[static_cast<size_t>(at)]));
  return end;
}

Result<std::unique_ptr<LogFollower>> MemoryLog::OpenFollower() {
  return std::make_unique<Follower>(shared_);
}

}  // namespace tidemark::feed
