#include "feed/mirror_tables.h"

#include <algorithm>
#include <utility>

#include "api/change_parse.h"
#include "api/feed_json.h"
#include "base/glob.h"
#include "kafka/group_lease.h"

namespace tidemark::feed {

namespace {

using change::DecisionKind;
using change::EventPart;
using change::Replica;
using change::Subscriber;

/// Beyond it a table is written whole.
constexpr size_t kPathsKeptMax = 100'000;

bool IsNews(DecisionKind kind) {
  return kind == DecisionKind::kApplied || kind == DecisionKind::kReplaced ||
         kind == DecisionKind::kRelist || kind == DecisionKind::kHealed;
}

}  // namespace

void MirrorTables::Load(std::vector<Replica> replicas, int32_t partition_count) {
  const std::lock_guard lock(mutex_);
  for (auto& replica : replicas) {
    const std::string uid = replica.uid;
    const PartitionId partition = kafka::PartitionOfKey(uid, partition_count);
    Entry entry(Subscriber(std::move(replica), options_.limits));
    entry.partition = partition;
    entry.seen_time = entry.subscriber.replica().newest_time;
    tables_.insert_or_assign(uid, std::move(entry));
  }
}

bool MirrorTables::IsWanted(const EventPart& part) const {
  return IsChosen(options_.wanted, {part.table_id, part.base_path, part.uid});
}

MirrorTables::Entry& MirrorTables::EntryOf(const std::string& uid, PartitionId partition) {
  const auto found = tables_.find(uid);
  if (found != tables_.end()) return found->second;
  Replica replica;
  replica.uid = uid;
  Entry entry(Subscriber(std::move(replica), options_.limits));
  entry.partition = partition;
  return tables_.emplace(uid, std::move(entry)).first->second;
}

void MirrorTables::TakeEvent(ReadRecord record, MonoTime now, std::vector<TableNews>* news,
                             std::vector<Poison>& poison) {
  if (!record.value) return;  // nothing of ours has none
  if (record.key.empty()) return TakeBookmark(record, poison);
  auto part = api::ParseChangeEvent(*record.value);
  if (part && part->uid != record.key)
    part = Fail(ErrorKind::kCorrupt, "the record's key is not the table's uid");
  if (part && part->page) part = Fail(ErrorKind::kCorrupt, "a snapshot in the event topic");
  if (part) return TakePart(*std::move(part), record, now, news);
  {
    const std::lock_guard lock(mutex_);
    ++counts_.poison;
    const auto found = tables_.find(record.key);
    if (found != tables_.end()) Note(found->second, found->second.subscriber.TakePoison(now), news);
  }
  poison.push_back({std::move(record), std::move(part).error()});
}

void MirrorTables::TakePart(EventPart part, const ReadRecord& record, MonoTime now,
                            std::vector<TableNews>* news) {
  if (!IsWanted(part)) return;
  const std::lock_guard lock(mutex_);
  Entry& entry = EntryOf(part.uid, record.partition);
  entry.seen_time = std::max(entry.seen_time, part.group.time);
  Note(entry, entry.subscriber.Take(std::move(part), now), news);
  if (entry.subscriber.waiting_groups() == 0) {
    entry.waiting_since.reset();
  } else if (!entry.waiting_since) {
    entry.waiting_since = record.offset;
  }
}

void MirrorTables::TakeBookmark(const ReadRecord& record, std::vector<Poison>& poison) {
  auto heads = api::ParseBookmark(*record.value);
  const std::lock_guard lock(mutex_);
  if (!heads) {
    ++counts_.poison;
    poison.push_back({record, std::move(heads).error()});
    return;
  }
  for (const auto& head : *heads) {
    const auto found = tables_.find(head.uid);
    if (found != tables_.end()) found->second.subscriber.NoteHead(head.epoch, head.seq);
  }
}

void MirrorTables::TakeState(ReadRecord record, std::string_view only, MonoTime now,
                             std::vector<TableNews>* news, std::vector<Poison>& poison) {
  const std::string_view uid = api::UidOfStateKey(record.key);
  if (!record.value || (!only.empty() && uid != only) || api::IsStateHeadKey(record.key)) return;
  auto part = api::ParseChangeEvent(*record.value);
  if (part && part->uid != uid)
    part = Fail(ErrorKind::kCorrupt, "the record's key is not the table's uid");
  if (part && !part->page) part = Fail(ErrorKind::kCorrupt, "no snapshot in the state topic");
  if (!part) {
    const std::lock_guard lock(mutex_);
    ++counts_.poison;
    poison.push_back({std::move(record), std::move(part).error()});
    return;
  }
  if (!IsWanted(*part)) return;
  const std::lock_guard lock(mutex_);
  Entry& entry = EntryOf(part->uid, record.partition);
  entry.seen_time = std::max(entry.seen_time, part->group.time);
  Note(entry, entry.subscriber.Take(*std::move(part), now), news);
  if (entry.subscriber.waiting_groups() == 0) entry.waiting_since.reset();
}

void MirrorTables::Tick(MonoTime now, std::vector<TableNews>* news) {
  const std::lock_guard lock(mutex_);
  for (auto& [uid, entry] : tables_) Note(entry, entry.subscriber.Tick(now), news);
}

void MirrorTables::Forget(PartitionId partition) {
  const std::lock_guard lock(mutex_);
  for (auto& [uid, entry] : tables_) {
    if (entry.partition != partition) continue;
    const Replica& held = entry.subscriber.replica();
    Replica replica{.uid = uid, .table_id = held.table_id, .base_path = held.base_path};
    entry = Entry(Subscriber(std::move(replica), options_.limits));
    entry.partition = partition;
    entry.is_changed = entry.is_whole = true;
  }
}

void MirrorTables::NoteApplied(Entry& entry, const change::Group& group) {
  ++counts_.applied;
  counts_.late += group.is_late ? 1 : 0;
  counts_.partitions += static_cast<int64_t>(group.partitions.size());
  entry.is_whole = entry.is_whole || entry.subscriber.replica().is_dropped ||
                   entry.paths.size() + group.partitions.size() > kPathsKeptMax;
  if (entry.is_whole) {
    entry.paths.clear();
    return;
  }
  for (const auto& change : group.partitions) entry.paths.insert(change.path);
}

void MirrorTables::Note(Entry& entry, const Subscriber::Decisions& decisions,
                        std::vector<TableNews>* news) {
  bool is_changed = false;
  for (const auto& decision : decisions) {
    switch (decision.kind) {
      case DecisionKind::kApplied: NoteApplied(entry, decision.group); break;
      case DecisionKind::kReplaced:
        ++counts_.replaced;
        entry.is_whole = true;
        entry.paths.clear();
        break;
      case DecisionKind::kRepeat:
      case DecisionKind::kOldEpoch: ++counts_.repeats; break;
      case DecisionKind::kConflict: ++counts_.conflicts; break;
      case DecisionKind::kBroken: ++counts_.broken; break;
      case DecisionKind::kOverflow: ++counts_.overflows; break;
      case DecisionKind::kMismatch: ++counts_.mismatches; break;
      case DecisionKind::kRelist: ++counts_.relists[static_cast<size_t>(decision.reason)]; break;
      default: break;
    }
    if (!IsNews(decision.kind)) continue;
    is_changed = true;
    if (news == nullptr) continue;
    news->push_back({.kind = decision.kind,
                     .table = StatusOf(entry),
                     .instant = decision.group.instant,
                     .partitions_changed = decision.group.partitions.size(),
                     .group = decision.kind == DecisionKind::kApplied
                                  ? std::optional(decision.group)
                                  : std::nullopt});
  }
  if (!is_changed) return;
  entry.is_changed = true;
  has_changed_.notify_all();
}

std::map<PartitionId, MirrorTables::Uids> MirrorTables::BeginLists(MonoTime now) {
  const std::lock_guard lock(mutex_);
  std::map<PartitionId, Uids> lists;
  for (auto& [uid, entry] : tables_) {
    if (!entry.subscriber.WantsList(now)) continue;
    entry.subscriber.ListBegins();
    lists[entry.partition].insert(uid);
  }
  return lists;
}

std::vector<std::string> MirrorTables::EndLists(const Uids& uids, MonoTime now) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> needy;
  for (const auto& uid : uids) {
    const auto found = tables_.find(uid);
    if (found == tables_.end()) continue;
    if (found->second.subscriber.ListEnds(now) == Subscriber::ListEnd::kNeedsHelp)
      needy.push_back(uid);
  }
  return needy;
}

void MirrorTables::MakeSafe(std::map<PartitionId, Offset>& next) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [uid, entry] : tables_) {
    if (!entry.waiting_since) continue;
    const auto found = next.find(entry.partition);
    if (found != next.end()) found->second = std::min(found->second, *entry.waiting_since);
  }
}

std::vector<ReplicaChange> MirrorTables::Changes() const {
  const std::lock_guard lock(mutex_);
  std::vector<ReplicaChange> changes;
  for (const auto& [uid, entry] : tables_) {
    if (!entry.is_changed) continue;
    changes.push_back({.replica = &entry.subscriber.replica(),
                       .paths = &entry.paths,
                       .is_whole = entry.is_whole});
  }
  return changes;
}

void MirrorTables::Saved() {
  const std::lock_guard lock(mutex_);
  for (auto& [uid, entry] : tables_) {
    entry.is_changed = entry.is_whole = false;
    entry.paths.clear();
  }
}

api::TableStatus MirrorTables::StatusOf(const Entry& entry) {
  const Replica& replica = entry.subscriber.replica();
  const auto& relist = entry.subscriber.relist();
  std::string_view status = "following";
  if (replica.epoch == 0) {
    status = "loading";
  } else if (relist) {
    status = "waiting";
  } else if (replica.is_dropped) {
    status = "dropped";
  }
  return {.uid = replica.uid,
          .table_id = replica.table_id,
          .base_path = replica.base_path,
          .epoch = replica.epoch,
          .seq = replica.seq,
          .status = status,
          .waiting_for = relist,
          .lag = entry.subscriber.lag(),
          .partition_count = static_cast<int64_t>(replica.partitions.size()),
          .partition_digest = HexOf(replica.partition_digest),
          .schema_fingerprint = replica.schema.fingerprint,
          .schema_version = replica.schema_version,
          .table_version = replica.table_version,
          .latest = replica.latest,
          .newest_time = replica.newest_time};
}

std::vector<api::TableStatus> MirrorTables::List(std::string_view after, size_t limit) const {
  const std::lock_guard lock(mutex_);
  std::vector<api::TableStatus> list;
  for (auto at = tables_.upper_bound(after); at != tables_.end() && list.size() < limit; ++at)
    list.push_back(StatusOf(at->second));
  return list;
}

size_t MirrorTables::table_count() const {
  const std::lock_guard lock(mutex_);
  return tables_.size();
}

Result<std::string> MirrorTables::UidOf(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  if (tables_.contains(name)) return std::string(name);
  std::vector<std::string> found;
  for (const auto& [uid, entry] : tables_) {
    const Replica& replica = entry.subscriber.replica();
    if (replica.table_id == name || replica.base_path == name) found.push_back(uid);
  }
  if (found.size() == 1) return found[0];
  if (found.empty()) return Fail(ErrorKind::kNotFound, "there is no such table");
  return Fail(ErrorKind::kConflict, "several tables have this name: ask with the uid");
}

Status MirrorTables::Read(std::string_view uid, const Reader& read) const {
  const std::lock_guard lock(mutex_);
  const auto found = tables_.find(uid);
  if (found == tables_.end()) return Fail(ErrorKind::kNotFound, "there is no such table");
  read(StatusOf(found->second), found->second.subscriber.replica());
  return {};
}

Result<bool> MirrorTables::ReadPartitions(std::string_view uid, std::string_view prefix,
                                          const std::optional<std::string>& after, size_t limit,
                                          api::TableStatus& table,
                                          std::vector<api::PartitionEntry>& entries) const {
  bool has_more = false;
  TRY(Read(uid, [&](const api::TableStatus& status, const Replica& replica) {
    table = status;
    const auto& partitions = replica.partitions;
    auto at = partitions.lower_bound(prefix);
    if (after && *after >= prefix) at = partitions.upper_bound(*after);
    for (; at != partitions.end() && at->first.starts_with(prefix); ++at) {
      if (entries.size() == limit) {
        has_more = true;
        return;
      }
      entries.push_back({at->first, at->second});
    }
  }));
  return has_more;
}

bool MirrorTables::WaitFor(std::string_view uid,
                           const std::function<bool(const Replica&)>& is_reached, MonoTime until,
                           const std::stop_token& stop) const {
  std::unique_lock lock(mutex_);
  return has_changed_.wait_until(lock, stop, until, [&] {
    const auto found = tables_.find(uid);
    return found != tables_.end() && is_reached(found->second.subscriber.replica());
  });
}

MirrorCounts MirrorTables::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

size_t MirrorTables::waiting_groups() const {
  const std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const auto& [uid, entry] : tables_) count += entry.subscriber.waiting_groups();
  return count;
}

std::map<std::string, double> MirrorTables::VersionGaps() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, double> gaps;
  for (const auto& [uid, entry] : tables_) {
    const auto& applied = entry.subscriber.replica().newest_time;
    if (entry.seen_time && applied)
      gaps[uid] = std::max(0.0, SecondsOf(*entry.seen_time - *applied));
  }
  return gaps;
}

}  // namespace tidemark::feed
