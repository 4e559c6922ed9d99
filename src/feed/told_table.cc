#include "feed/told_table.h"

#include <map>
#include <utility>

#include "api/change_parse.h"
#include "kafka/group_lease.h"

namespace tidemark::feed {

namespace {

using change::EventPart;
using change::Subscriber;

/// Takes the records of one table as they come, the state topic's first.
class Listener {
 public:
  Listener(std::string_view uid, const Clock& clock) : uid_(uid), clock_(clock) {
    change::Replica replica;
    replica.uid = uid_;
    subscriber_ = Subscriber(std::move(replica));
  }

  void TakeState(const ReadRecord& record) {
    const bool is_page = record.value && record.key.starts_with(uid_ + "/p/");
    if (is_page) Take(*record.value);
  }
  void TakeEvent(const ReadRecord& record) {
    if (record.value && record.key == uid_) Take(*record.value);
  }

  ToldTable Told(std::optional<TableRecord> record) && {
    ToldTable told{.record = std::move(record),
                   .replica = subscriber_.replica(),
                   .poison_count = poison_count_};
    if (!told.record || !told.record->cursor) return told;
    for (const auto& [place, indexes] : seen_) {
      const auto& [epoch, seq, count] = place;
      if (epoch == told.record->cursor->epoch && indexes.size() == count) told.seqs.insert(seq);
    }
    return told;
  }

 private:
  void Take(std::string_view body) {
    auto part = api::ParseChangeEvent(body);
    if (!part) {
      ++poison_count_;
      return;
    }
    if (!part->page) seen_[{part->group.epoch, part->group.seq, part->count}].insert(part->index);
    subscriber_.Take(*std::move(part), clock_.Mono());
  }

  std::string uid_;
  const Clock& clock_;
  Subscriber subscriber_;
  // epoch, seq, number of parts -> parts
  std::map<std::tuple<int64_t, int64_t, size_t>, std::set<size_t>> seen_;
  size_t poison_count_ = 0;
};

}  // namespace

Result<std::optional<TableRecord>> ReadTableRecord(EventLog& log, std::string_view uid,
                                                   const Budget& budget) {
  const PartitionId partition = kafka::PartitionOfKey(uid, log.partition_count());
  std::optional<std::string> newest;
  TRY(log.Read(
      LogTopic::kCursor, partition, 0,
      [&](ReadRecord record) -> Status {
        if (record.key == uid) newest = std::move(record.value);
        return {};
      },
      budget));
  if (!newest) return std::optional<TableRecord>();
  TRY_ASSIGN(auto record, ParseTableRecord(*newest));
  return std::optional(std::move(record));
}

Result<ToldTable> ReadToldTable(EventLog& log, std::string_view uid, const Clock& clock,
                                const Budget& budget) {
  const PartitionId partition = kafka::PartitionOfKey(uid, log.partition_count());
  TRY_ASSIGN(auto record, ReadTableRecord(log, uid, budget));
  Listener listener(uid, clock);
  TRY(log.Read(
      LogTopic::kState, partition, 0,
      [&](const ReadRecord& it) -> Status {
        listener.TakeState(it);
        return {};
      },
      budget));
  TRY(log.Read(
      LogTopic::kEvents, partition, 0,
      [&](const ReadRecord& it) -> Status {
        listener.TakeEvent(it);
        return {};
      },
      budget));
  return std::move(listener).Told(std::move(record));
}

}  // namespace tidemark::feed
