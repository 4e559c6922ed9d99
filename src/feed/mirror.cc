#include "feed/mirror.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace tidemark::feed {

namespace {

constexpr Milliseconds kTickEvery{250};
/// Poison that waits for the topic of the dead to take it; more is only counted.
constexpr size_t kPoisonWaitingMax = 1'000;
constexpr size_t kPoisonBytesMax = size_t{16} << 20;
/// So much is gathered while a topic is read: it may hold nothing else.
constexpr size_t kPoisonAtOnce = 64;
/// A topic of the dead that took nothing is left alone so long; a try may take seconds.
constexpr Milliseconds kBuryAgainAfter{30'000};

void Pause(Milliseconds time, Budget budget) {
  budget.retry_delay = time;
  budget.tries_max = 2;
  static_cast<void>(budget.WaitForTry(2));
}

}  // namespace

Mirror::Mirror(EventLog& log, MirrorStore* store, MirrorOutlet* outlet, const Clock& clock,
               MirrorOptions options)
    : log_(log),
      store_(store),
      outlet_(outlet),
      clock_(clock),
      options_(std::move(options)),
      tables_(options_.tables) {}

Status Mirror::Open() {
  for (PartitionId partition = 0; partition < log_.partition_count(); ++partition)
    partitions_[partition];
  if (store_ == nullptr) return {};
  TRY_ASSIGN(auto stored, store_->Load());
  for (const auto& [uid, why] : stored.damaged) {
    Log(LogLevel::kWarning,
        fmt::format("what was kept of table {} cannot be used, and it is listed anew: {}", uid,
                    why));
  }
  tables_.Load(std::move(stored.replicas), log_.partition_count());
  for (const auto& [partition, offset] : stored.offsets) {
    const auto found = partitions_.find(partition);
    if (found != partitions_.end()) found->second.next = offset;
  }
  saved_ = std::move(stored.offsets);
  return {};
}

std::vector<TableNews>* Mirror::news() {
  return listener_ && is_ready_ ? &news_ : nullptr;
}

void Mirror::Complain(const std::string& what, const Error& why) {
  std::string complaint = what + ": " + why.message;
  if (complaint == complaint_) return;
  Log(LogLevel::kWarning, complaint);
  complaint_ = std::move(complaint);
}

void Mirror::Round(Milliseconds wait, const Budget& budget) {
  BeginAll(budget);
  if (!follower_) return Pause(wait, budget);
  auto records = follower_->Poll(wait);
  if (records) {
    TakeAll(*std::move(records), budget);
  } else if (records.error().kind != ErrorKind::kCancelled) {
    Complain("the feed cannot be read", records.error());
    if (records.error().kind == ErrorKind::kExhausted) BeginAnew();
  }
  const MonoTime now = clock_.Mono();
  if (now - ticked_at_ >= kTickEvery) {
    ticked_at_ = now;
    tables_.Tick(now, news());
    ListAll(budget);
  }
  BuryAll(budget);
  NoteReady();
  SaveIfDue();
  Tell();
}

void Mirror::BeginAll(const Budget& budget) {
  if (!follower_) {
    auto follower = log_.OpenFollower();
    if (!follower) return Complain("the feed cannot be read", follower.error());
    follower_ = *std::move(follower);
  }
  for (auto& [partition, followed] : partitions_) {
    if (followed.has_begun || clock_.Mono() < followed.retry_at) continue;
    if (!budget.Check()) return;
    const auto begun = Begin(partition, followed, budget.Within(options_.list_timeout));
    if (begun) continue;
    followed.retry_at = clock_.Mono() + options_.retry_every;
    Complain(fmt::format("partition {} of the feed cannot be read", partition), begun.error());
    // Nobody answers: the others would wait as long for the same.
    if (begun.error().kind == ErrorKind::kUnavailable) return;
  }
}

/// Where we were is no record any more: deleted unread, or the topic was made anew. Which of the
/// two the ends of the partitions say.
void Mirror::BeginAnew() {
  for (auto& [partition, followed] : partitions_) followed.has_begun = false;
}

Status Mirror::Begin(PartitionId partition, Followed& followed, const Budget& budget) {
  // The state first: groups that a snapshot contains are then repeats.
  TRY_ASSIGN(const Offset state_end,
             log_.Read(LogTopic::kState, partition, 0,
                       [&](ReadRecord record) -> Status {
                         tables_.TakeState(std::move(record), "", clock_.Mono(), news(), poison_);
                         BuryMany(budget);
                         return {};
                       },
                       budget));
  const Offset from = followed.next;
  TRY_ASSIGN(const Offset end, ReadEvents(partition, followed, budget));
  if (end < from || std::exchange(followed.is_made_anew, false)) {
    Log(LogLevel::kWarning,
        fmt::format("the event topic was made anew, and its tables are listed anew partition={} "
                    "offset={} end={}",
                    partition, from, end));
    tables_.Forget(partition);
    followed.next = 0;
    return Begin(partition, followed, budget);
  }
  followed.next = end;
  TRY(follower_->FollowFrom(LogTopic::kState, partition, state_end, budget));
  TRY(follower_->FollowFrom(LogTopic::kEvents, partition, end, budget));
  followed.has_begun = true;
  return {};
}

Result<Offset> Mirror::ReadEvents(PartitionId partition, Followed& followed,
                                  const Budget& budget) {
  return log_.Read(LogTopic::kEvents, partition, followed.next,
                   [&](ReadRecord record) -> Status {
                     followed.next = record.offset + 1;
                     tables_.TakeEvent(std::move(record), clock_.Mono(), news(), poison_);
                     BuryMany(budget);
                     SaveIfDue();
                     return {};
                   },
                   budget);
}

void Mirror::TakeAll(std::vector<ReadRecord> records, const Budget& budget) {
  for (auto& record : records) {
    const auto found = partitions_.find(record.partition);
    if (found == partitions_.end()) continue;
    Followed& followed = found->second;
    if (!followed.has_begun) continue;  // it is read again in the next round
    if (record.topic == LogTopic::kEvents) {
      if (record.offset < followed.next) {
        followed.is_made_anew = true;
        followed.has_begun = false;
        continue;
      }
      followed.next = record.offset + 1;
      tables_.TakeEvent(std::move(record), clock_.Mono(), news(), poison_);
    } else if (record.topic == LogTopic::kState) {
      tables_.TakeState(std::move(record), "", clock_.Mono(), news(), poison_);
    }
    BuryMany(budget);
  }
}

void Mirror::ListAll(const Budget& budget) {
  for (const auto& [partition, uids] : tables_.BeginLists(clock_.Mono()))
    ListOne(partition, uids, budget.Within(options_.list_timeout));
}

void Mirror::ListOne(PartitionId partition, const MirrorTables::Uids& uids,
                     const Budget& budget) {
  const auto read = log_.Read(
      LogTopic::kState, partition, 0,
      [&](ReadRecord record) -> Status {
        const std::string uid = record.key.substr(0, record.key.find('/'));
        if (!uids.contains(uid)) return {};
        // What cannot be read was buried when it came.
        std::vector<Poison> known;
        tables_.TakeState(std::move(record), uid, clock_.Mono(), news(), known);
        return {};
      },
      budget);
  const auto needy = tables_.EndLists(uids, clock_.Mono());
  if (!read) return Complain("the state topic cannot be read", read.error());
  for (const auto& uid : needy) {
    if (outlet_ == nullptr) continue;
    const auto asked = outlet_->Ask(
        partition, {.action = ControlAction::kSnapshot, .uid = uid}, budget);
    if (!asked) Complain("the publisher cannot be asked for a snapshot", asked.error());
  }
}

void Mirror::BuryMany(const Budget& budget) {
  if (poison_.size() >= kPoisonAtOnce) BuryAll(budget);
}

void Mirror::TrimPoison() {
  size_t kept = 0, bytes = 0;
  for (; kept < std::min(poison_.size(), kPoisonWaitingMax); ++kept) {
    const auto& value = poison_[kept].record.value;
    bytes += value ? value->size() : 0;
    if (bytes > kPoisonBytesMax) break;
  }
  poison_.erase(poison_.begin() + static_cast<std::ptrdiff_t>(kept), poison_.end());
}

void Mirror::BuryAll(const Budget& budget) {
  if (clock_.Mono() < bury_after_) return TrimPoison();
  while (!poison_.empty()) {
    const Poison& next = poison_.front();
    Complain(fmt::format("an event cannot be read topic={} partition={} offset={}",
                         LogTopicName(next.record.topic), next.record.partition,
                         next.record.offset),
             next.why);
    if (outlet_ != nullptr) {
      const auto buried = outlet_->Bury(next.record, next.why, budget);
      if (!buried) {
        Complain("the topic of the dead cannot be written", buried.error());
        bury_after_ = clock_.Mono() + kBuryAgainAfter;
        return TrimPoison();
      }
      ++buried_;
    }
    poison_.erase(poison_.begin());
  }
}

void Mirror::NoteReady() {
  if (is_ready_) return;
  is_ready_ = std::ranges::all_of(partitions_,
                                  [](const auto& entry) { return entry.second.has_begun; });
}

void Mirror::SaveIfDue() {
  const MonoTime now = clock_.Mono();
  if (store_ == nullptr || now - saved_at_ < options_.save_every) return;
  saved_at_ = now;
  if (const auto saved = Save(); !saved) Complain("the mirror cannot be kept", saved.error());
}

Status Mirror::Save() {
  if (store_ == nullptr) return {};
  // Poison that is not buried yet is met again after a restart.
  const auto changes = tables_.Changes();
  std::map<PartitionId, Offset> offsets;
  for (const auto& [partition, followed] : partitions_) offsets[partition] = followed.next;
  for (const auto& [record, why] : poison_) {
    Offset& safe = offsets[record.partition];
    if (record.topic == LogTopic::kEvents) safe = std::min(safe, record.offset);
  }
  tables_.MakeSafe(offsets);
  std::erase_if(offsets, [&](const auto& entry) {
    const auto known = saved_.find(entry.first);
    return known != saved_.end() && known->second == entry.second;
  });
  if (changes.empty() && offsets.empty()) return {};
  TRY(store_->Save(changes, offsets));
  tables_.Saved();
  for (const auto& [partition, offset] : offsets) saved_[partition] = offset;
  return {};
}

void Mirror::Tell() {
  if (news_.empty()) return;
  const auto news = std::exchange(news_, {});
  if (listener_) listener_(news);
}

}  // namespace tidemark::feed
