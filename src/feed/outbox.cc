#include "feed/outbox.h"

#include <algorithm>
#include <utility>

#include "api/change_parse.h"
#include "api/feed_json.h"
#include "base/check.h"

namespace tidemark::feed {

namespace {

/// Nobody gets there; a stranger's head that says so is not believed.
constexpr int64_t kEpochsMax = int64_t{1} << 40;
/// Pages of a lost table's snapshot that are looked after; those beyond stay, and harm nobody.
constexpr int64_t kPagesMax = int64_t{1} << 16;

/// Errors that say something of the records, not of the way to the log.
bool IsOfTheRecords(ErrorKind kind) {
  return kind == ErrorKind::kExhausted || kind == ErrorKind::kInvalidArgument;
}

}  // namespace

Status Outbox::Open(const Budget& budget) {
  writer_.reset();
  is_lost_ = false;
  auto writer = log_.OpenWriter(partition_, budget);
  if (!writer) return internal::Pass(writer);
  // Only now: what the owner before us had under way is written or never will be.
  TRY(ReadBack(budget));
  writer_ = *std::move(writer);
  return {};
}

Status Outbox::ReadBack(const Budget& budget) {
  TRY_ASSIGN(next_, log_.Read(
                        LogTopic::kCursor, partition_, next_,
                        [&](ReadRecord record) -> Status {
                          tables_.erase(record.key);
                          stamps_.erase(record.key);
                          refused_.erase(record.key);
                          if (!record.value) return {};
                          auto table = ParseTableRecord(*record.value);
                          if (!table) {
                            refused_.emplace(record.key, std::move(table).error());
                            return {};
                          }
                          stamps_.emplace(record.key, StampOf(*table));
                          tables_.emplace(record.key, *std::move(table));
                          return {};
                        },
                        budget));
  return {};
}

Status Outbox::FindLost(std::span<const Parcel* const> parcels, const Budget& budget) {
  const auto is_unknown = [&](const Parcel* parcel) {
    return parcel->before.empty() && !stamps_.contains(parcel->uid) &&
           !refused_.contains(parcel->uid);
  };
  if (std::ranges::none_of(parcels, is_unknown)) return {};
  if (!knows_heads_) TRY(ReadHeads(budget));
  for (const Parcel* parcel : parcels) {
    const auto head = heads_.find(parcel->uid);
    if (!is_unknown(parcel) || head == heads_.end() || head->second.epoch == 0) continue;
    TableRecord lost{.uid = parcel->uid,
                     .table_id = parcel->after.table_id,
                     .base_path = parcel->after.base_path,
                     .epochs_over = head->second.epoch,
                     .snapshot = head->second};
    stamps_.emplace(parcel->uid, StampOf(lost));
    tables_.emplace(parcel->uid, std::move(lost));
  }
  return {};
}

Status Outbox::ReadHeads(const Budget& budget) {
  const auto take = [&](const ReadRecord& record) {
    if (!record.key.contains('/')) return;
    StoredSnapshot& head = heads_[std::string(api::UidOfStateKey(record.key))];
    if (!api::IsStateHeadKey(record.key)) {
      const int64_t page = api::PageOfStateKey(record.key).value_or(-1);
      if (record.value && page < kPagesMax) head.page_count = std::max(head.page_count, page + 1);
    } else if (!record.value) {
      head = {};
    } else if (const auto read = api::ParseStateHead(*record.value);
               read && read->epoch <= kEpochsMax) {
      head.epoch = std::max(head.epoch, read->epoch);
    }
  };
  // A long topic takes several tries: each goes on where the last one stopped.
  const auto read = log_.Read(
      LogTopic::kState, partition_, next_head_,
      [&](const ReadRecord& record) -> Status {
        take(record);
        next_head_ = record.offset + 1;
        return {};
      },
      budget);
  // Nobody was asked for this right so far: new tables are told without it.
  if (!read && read.error().kind != ErrorKind::kDenied) return internal::Pass(read);
  knows_heads_ = true;
  return {};
}

std::optional<ParcelOutcome> Outbox::Known(const Parcel& parcel) const {
  if (const auto refused = refused_.find(parcel.uid); refused != refused_.end())
    return ParcelOutcome{.status = std::unexpected(refused->second)};
  const auto stamp = stamps_.find(parcel.uid);
  const std::string now = stamp == stamps_.end() ? "" : stamp->second;
  if (now == parcel.before) return std::nullopt;
  // An earlier try that was in doubt.
  if (now == StampOf(parcel.after)) return ParcelOutcome{};
  return ParcelOutcome{.status = Fail(ErrorKind::kConflict, "another publisher was here"),
                       .is_stale = true};
}

std::vector<ParcelOutcome> Outbox::Send(std::span<const Parcel* const> parcels,
                                        const Budget& budget) {
  std::vector<ParcelOutcome> outcomes(parcels.size());
  const auto fail = [&](const Error& error) {
    for (auto& outcome : outcomes) outcome = {.status = std::unexpected(error)};
    return outcomes;
  };
  if (is_lost_) return fail({ErrorKind::kConflict, "the partition has another owner"});
  if (!is_open()) {
    if (const auto opened = Open(budget); !opened) return fail(opened.error());
  }
  if (const auto found = FindLost(parcels, budget); !found) return fail(found.error());
  std::vector<const Parcel*> sendable;
  std::vector<size_t> places;
  for (size_t i = 0; i < parcels.size(); ++i) {
    if (auto known = Known(*parcels[i])) {
      outcomes[i] = *std::move(known);
      continue;
    }
    sendable.push_back(parcels[i]);
    places.push_back(i);
  }
  if (sendable.empty()) return outcomes;
  const auto sent = SendAll(sendable, budget);
  if (!sent && IsOfTheRecords(sent.error().kind) && sendable.size() > 1) {
    for (const size_t place : places) outcomes[place] = Send({&parcels[place], 1}, budget)[0];
    return outcomes;
  }
  for (const size_t place : places) {
    outcomes[place].status = sent;
    if (sent) Note(*parcels[place]);
  }
  return outcomes;
}

Status Outbox::SendAll(std::span<const Parcel* const> parcels, const Budget& budget) {
  std::vector<LogRecord> records;
  for (const Parcel* parcel : parcels)
    records.insert(records.end(), parcel->records.begin(), parcel->records.end());
  auto sent = writer_->Send(records, budget);
  if (!sent && !writer_->is_usable()) Lose(sent.error().kind);
  return sent;
}

Status Outbox::SendNotes(std::span<const LogRecord> records, const Budget& budget) {
  if (!is_open()) return Fail(ErrorKind::kUnavailable, "the partition is not open");
  auto sent = writer_->Send(records, budget);
  if (!sent && !writer_->is_usable()) Lose(sent.error().kind);
  return sent;
}

void Outbox::Lose(ErrorKind kind) {
  writer_.reset();
  is_lost_ = kind == ErrorKind::kConflict;
}

void Outbox::Note(const Parcel& parcel) {
  tables_.insert_or_assign(parcel.uid, parcel.after);
  stamps_.insert_or_assign(parcel.uid, StampOf(parcel.after));
}

}  // namespace tidemark::feed
