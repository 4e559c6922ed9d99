#include "feed/control_requests.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tidemark::feed {

namespace {

/// Tables of one partition of which requests wait; a feed has fewer in a partition.
constexpr size_t kTablesMax = 100'000;

}  // namespace

Offset FirstUnheard(const std::optional<TableRecord>& record, const ControlPlace& place) {
  if (!record) return 0;
  if (!record->control_next) return place.log_end;
  return *record->control_next > place.heard ? 0 : *record->control_next;
}

void TableRequests::Extend(std::optional<Span>& span, Offset offset) {
  if (!span) span = Span{.first = offset, .last = offset};
  span->last = offset;
}

void TableRequests::Cut(std::optional<Span>& span, Offset next) {
  if (!span) return;
  span->first = std::max(span->first, next);
  if (span->last < next) span.reset();
}

void TableRequests::Add(ControlAction action, Offset offset) {
  switch (action) {
    case ControlAction::kSnapshot: Extend(snapshot_, offset); break;
    case ControlAction::kResync: Extend(resync_, offset); break;
    case ControlAction::kPause: pause_ = {.offset = offset, .is_paused = true}; break;
    case ControlAction::kResume: pause_ = {.offset = offset, .is_paused = false}; break;
  }
}

void TableRequests::Done(Offset next) {
  if (pause_ && pause_->offset < next) pause_.reset();
  Cut(snapshot_, next);
  Cut(resync_, next);
}

std::optional<bool> TableRequests::pause() const {
  return pause_ ? std::optional(pause_->is_paused) : std::nullopt;
}

Offset TableRequests::NextAfterPause(Offset heard) const {
  if (snapshot_) heard = std::min(heard, snapshot_->first);
  if (resync_) heard = std::min(heard, resync_->first);
  return heard;
}

Offset TableRequests::NextUndone(Offset heard) const {
  if (pause_) heard = std::min(heard, pause_->offset);
  return NextAfterPause(heard);
}

std::string TableRequests::Text() const {
  std::string text;
  const auto add = [&text](ControlAction action) {
    if (!text.empty()) text += ", ";
    text += ControlActionName(action);
  };
  if (pause_) add(pause_->is_paused ? ControlAction::kPause : ControlAction::kResume);
  if (snapshot_) add(ControlAction::kSnapshot);
  if (resync_) add(ControlAction::kResync);
  return text;
}

std::vector<Error> PartitionRequests::Begin(std::span<const ReadRecord> records, Offset log_end) {
  tables_.clear();
  place_ = ControlPlace{.log_end = log_end, .heard = 0};
  std::vector<Error> refused;
  for (const auto& record : records) {
    if (auto taken = Take(record); !taken) refused.push_back(std::move(taken).error());
  }
  // The last one may be no record but a mark of a transaction.
  place_->heard = std::max(place_->heard, log_end);
  return refused;
}

void PartitionRequests::End() {
  tables_.clear();
  place_.reset();
}

Result<ControlRequest> PartitionRequests::Take(const ReadRecord& record) {
  CHECK(has_begun(), "what is there comes first");
  place_->heard = std::max(place_->heard, record.offset + 1);
  TRY_ASSIGN(auto request, ParseControl(record.key, record.value.value_or("")));
  if (!tables_.contains(request.uid) && tables_.size() >= kTablesMax)
    return Fail(ErrorKind::kExhausted, "too many tables have requests uid=" + request.uid);
  tables_[request.uid].Add(request.action, record.offset);
  return request;
}

void PartitionRequests::Settle(const std::string& uid, const std::optional<TableRecord>& record) {
  if (place_) Done(uid, FirstUnheard(record, *place_));
}

void PartitionRequests::Done(const std::string& uid, Offset next) {
  const auto found = tables_.find(uid);
  if (found == tables_.end()) return;
  found->second.Done(next);
  if (found->second.is_empty()) tables_.erase(found);
}

TableRequests PartitionRequests::Of(const std::string& uid) const {
  const auto found = tables_.find(uid);
  return found == tables_.end() ? TableRequests() : found->second;
}

std::vector<std::string> PartitionRequests::Uids() const {
  std::vector<std::string> uids;
  for (const auto& [uid, requests] : tables_) uids.push_back(uid);
  return uids;
}

}  // namespace tidemark::feed
