#include "change/subscriber.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace tidemark::change {

namespace {

constexpr size_t kKnownPartsMax = 512;

auto ProofOf(const Group& group) {
  return std::tie(group.partition_count, group.partition_digest, group.schema_fingerprint);
}

bool IsOneFrame(const Group& a, const Group& b) {
  return a.previous == b.previous && a.instant == b.instant && ProofOf(a) == ProofOf(b);
}

/// The whole group; nullopt when the parts do not make one.
std::optional<Group> Merge(std::map<size_t, EventPart>& parts) {
  Group group;
  bool is_first = true;
  for (auto& [index, part] : parts) {
    if (std::exchange(is_first, false)) {
      group = std::move(part.group);
      continue;
    }
    if (!IsOneFrame(group, part.group)) return std::nullopt;
    std::ranges::move(part.group.retracted, std::back_inserter(group.retracted));
    std::ranges::move(part.group.partitions, std::back_inserter(group.partitions));
    if (part.group.schema) group.schema = std::move(part.group.schema);
    if (part.group.commit) group.commit = std::move(part.group.commit);
    if (part.group.table) group.table = std::move(part.group.table);
  }
  if (group.commit.has_value() == group.table.has_value()) return std::nullopt;
  return group;
}

bool IsDigestRight(const std::map<size_t, EventPart>& parts, const Digest& digest) {
  std::vector<std::string_view> details;
  details.reserve(parts.size());
  for (const auto& [index, part] : parts) details.push_back(part.detail);
  return DigestOfDetails(details) == digest;
}

void ApplyPartition(const PartitionChange& change, int64_t seq, Replica& replica) {
  const auto found = replica.partitions.find(change.path);
  if (change.op == PartitionOp::kDrop) {
    if (found == replica.partitions.end()) return;
    replica.partition_digest -= HashOf(change.path);
    replica.partitions.erase(found);
  } else if (found != replica.partitions.end()) {
    found->second = seq;
  } else if (change.op == PartitionOp::kAdd) {
    replica.partition_digest += HashOf(change.path);
    replica.partitions.emplace(change.path, seq);
  }
}

void ForgetInstant(const InstantKey& instant, Replica& replica) {
  std::erase_if(replica.instants, [&](const auto& known) { return known.instant == instant; });
}

void RememberInstant(const InstantKey& instant, int64_t seq, Replica& replica) {
  ForgetInstant(instant, replica);
  replica.instants.push_back({instant, seq});
  if (replica.instants.size() > kAppliedInstantsMax) replica.instants.pop_front();
}

void ApplyInstant(const Group& group, Replica& replica) {
  for (const auto& retraction : group.retracted) ForgetInstant(retraction.instant, replica);
  if (!group.instant || !group.commit) return;
  RememberInstant(*group.instant, group.seq, replica);
  replica.latest = LatestCommit{.instant = *group.instant,
                                .seq = group.seq,
                                .type = group.commit->type,
                                .operation = group.operation,
                                .completed = group.completed,
                                .time = group.time,
                                .extra = group.commit->extra};
  replica.newest_time = std::max(replica.newest_time, group.time);
}

void ApplyGroup(const Group& group, Replica& replica) {
  replica.seq = group.seq;
  replica.last = Previous{.seq = group.seq, .instant = group.instant};
  replica.table_version = group.table_version;
  if (group.schema) replica.schema = group.schema->schema;
  replica.schema_version = group.schema_version;
  for (const auto& change : group.partitions) ApplyPartition(change, group.seq, replica);
  ApplyInstant(group, replica);
  replica.is_dropped = group.table && group.table->reason == TableReason::kDropped;
  if (!replica.is_dropped) return;
  replica.partitions.clear();
  replica.partition_digest = {};
}

bool IsInStep(const Replica& replica, const Group& group) {
  return replica.is_dropped ||
         ProofOf(group) == std::tuple(static_cast<int64_t>(replica.partitions.size()),
                                      replica.partition_digest, replica.schema.fingerprint);
}

}  // namespace

std::string_view RelistReasonName(RelistReason reason) {
  switch (reason) {
    case RelistReason::kFirst: return "first";
    case RelistReason::kEpoch: return "epoch";
    case RelistReason::kGap: return "gap";
    case RelistReason::kDigest: return "digest";
    case RelistReason::kOpen: return "open";
    case RelistReason::kPoison: return "poison";
    case RelistReason::kAsked: return "asked";
  }
  return "";
}

Subscriber::Subscriber(Replica replica, SubscriberLimits limits)
    : replica_(std::move(replica)), limits_(limits), relist_(replica_.held_for) {}

Subscriber::Decisions Subscriber::Take(EventPart part, MonoTime now) {
  Decisions decisions;
  head_ = std::max(head_, Place{part.group.epoch, part.group.seq});
  if (replica_.uid.empty()) replica_.uid = part.uid;
  if (part.page) {
    TakePage(std::move(part), now, decisions);
  } else {
    TakePart(std::move(part), now, decisions);
  }
  Settle(now, decisions);
  return decisions;
}

Subscriber::Decisions Subscriber::TakePoison(MonoTime now) {
  return Relist(RelistReason::kPoison, now);
}

Subscriber::Decisions Subscriber::Relist(RelistReason reason, MonoTime now) {
  Decisions decisions;
  Want(reason, /*holds=*/true, now, decisions);
  return decisions;
}

Subscriber::Decisions Subscriber::Tick(MonoTime now) {
  Decisions decisions;
  Settle(now, decisions);
  return decisions;
}

void Subscriber::NoteHead(int64_t epoch, int64_t seq) {
  head_ = std::max(head_, Place{epoch, seq});
  bookmark_ = std::max(bookmark_, Place{epoch, seq});
}

bool Subscriber::WantsList(MonoTime now) const {
  return relist_ && !is_listing_ && (!list_after_ || now >= *list_after_);
}

Subscriber::ListEnd Subscriber::ListEnds(MonoTime now) {
  is_listing_ = false;
  if (!relist_) return ListEnd::kHelped;
  list_after_ = now + limits_.relist_every;
  return ListEnd::kNeedsHelp;
}

int64_t Subscriber::lag() const {
  if (head_.first > replica_.epoch) return head_.second;
  return head_.first < replica_.epoch ? 0 : std::max<int64_t>(0, head_.second - replica_.seq);
}

void Subscriber::TakePart(EventPart part, MonoTime now, Decisions& decisions) {
  const Place place{part.group.epoch, part.group.seq};
  const bool is_based = replica_.epoch != 0;
  if (is_based && place.first < replica_.epoch)
    return decisions.push_back({.kind = DecisionKind::kOldEpoch});
  if (is_based && place.first == replica_.epoch && place.second <= replica_.seq) {
    return decisions.push_back(
        {.kind = IsKnown(part) ? DecisionKind::kRepeat : DecisionKind::kConflict});
  }
  const auto found = waiting_.find(place);
  if (found != waiting_.end()) {
    const OpenGroup& open = found->second;
    const auto same = open.parts.find(part.index);
    if (same != open.parts.end()) {
      const bool is_same = same->second.body_hash == part.body_hash;
      return decisions.push_back(
          {.kind = is_same ? DecisionKind::kRepeat : DecisionKind::kConflict});
    }
    // Parts of two attempts that differ cannot be one group.
    if (open.count != part.count || open.digest != part.group_digest)
      return decisions.push_back({.kind = DecisionKind::kConflict});
  }
  const bool is_next = IsNext(place);
  if (!HasRoom(part, found == waiting_.end())) {
    decisions.push_back({.kind = DecisionKind::kOverflow});
    if (is_next) Want(RelistReason::kOpen, /*holds=*/true, now, decisions);
    return;
  }
  OpenGroup& open = waiting_[place];
  if (open.parts.empty()) {
    open.count = part.count;
    open.digest = part.group_digest;
    open.since = now;
  }
  waiting_bytes_ += part.body_size;
  const size_t index = part.index;
  open.parts.emplace(index, std::move(part));
  if (is_next && open.is_whole()) return Drain(now, decisions);
  decisions.push_back({.kind = is_next ? DecisionKind::kGathered : DecisionKind::kParked});
}

bool Subscriber::IsNext(const Place& place) const {
  return !is_held() && replica_.epoch != 0 && place == Place{replica_.epoch, replica_.seq + 1};
}

bool Subscriber::HasRoom(const EventPart& part, bool is_new) const {
  const size_t bytes = waiting_bytes_ + part.body_size;
  if (IsNext({part.group.epoch, part.group.seq})) return bytes <= limits_.open_bytes_max;
  return bytes <= limits_.parked_bytes_max &&
         (!is_new || waiting_.size() < limits_.parked_groups_max);
}

void Subscriber::TakePage(EventPart page, MonoTime now, Decisions& decisions) {
  const Place place{page.group.epoch, page.group.seq};
  const Place held{replica_.epoch, replica_.seq};
  // A snapshot of what is held has nothing to tell: every group's proof was compared with it.
  const bool is_needed = place > held || (place == held && is_held());
  if (!is_needed || (pages_of_ && place < *pages_of_))
    return decisions.push_back({.kind = DecisionKind::kOldPage});
  if (pages_of_ != place || pages_.digest != page.group_digest || pages_.count != page.count) {
    pages_ = {.parts = {}, .count = page.count, .digest = page.group_digest, .since = now};
    pages_of_ = place;
    pages_bytes_ = 0;
  }
  if (pages_bytes_ + page.body_size > limits_.open_bytes_max)
    return decisions.push_back({.kind = DecisionKind::kOverflow});
  const size_t index = page.index;
  const size_t size = page.body_size;
  const bool is_new = pages_.parts.emplace(index, std::move(page)).second;
  if (!is_new) return decisions.push_back({.kind = DecisionKind::kRepeat});
  pages_bytes_ += size;
  if (!pages_.is_whole()) return decisions.push_back({.kind = DecisionKind::kGathered});
  pages_of_.reset();
  Replace(std::exchange(pages_, {}), decisions);
  Drain(now, decisions);
}

void Subscriber::Replace(OpenGroup pages, Decisions& decisions) {
  const EventPart& first = pages.parts.begin()->second;
  Replica next{.uid = first.uid, .table_id = first.table_id, .base_path = first.base_path};
  next.epoch = first.group.epoch;
  next.seq = first.group.seq;
  next.schema_version = first.group.schema_version;
  next.table_version = first.group.table_version;
  bool is_one = IsDigestRight(pages.parts, pages.digest) && first.page->schema.has_value();
  if (is_one) next.schema = *first.page->schema;
  for (const auto& [index, part] : pages.parts) {
    is_one = is_one && IsOneFrame(first.group, part.group);
    for (const auto& path : part.page->partitions) {
      next.partition_digest += HashOf(path);
      next.partitions.emplace_hint(next.partitions.end(), path, next.seq);
    }
  }
  if (!is_one || !IsInStep(next, first.group))
    return decisions.push_back({.kind = DecisionKind::kBroken});
  if (next.epoch == replica_.epoch) {
    next.instants = std::move(replica_.instants);
    next.newest_time = replica_.newest_time;
    next.latest = std::move(replica_.latest);
  } else {
    known_.clear();
  }
  if (first.group.instant && !(next.latest && next.latest->instant == *first.group.instant)) {
    RememberInstant(*first.group.instant, next.seq, next);
    next.latest = LatestCommit{
        .instant = *first.group.instant, .seq = next.seq, .time = first.group.time};
  }
  next.newest_time = std::max(next.newest_time, first.group.time);
  replica_ = std::move(next);
  while (!waiting_.empty() && waiting_.begin()->first <= Place{replica_.epoch, replica_.seq})
    Drop(waiting_.begin());
  relist_.reset();
  decisions.push_back({.kind = DecisionKind::kReplaced});
}

void Subscriber::Drain(MonoTime now, Decisions& decisions) {
  while (!is_held() && replica_.epoch != 0) {
    const auto next = waiting_.find({replica_.epoch, replica_.seq + 1});
    if (next == waiting_.end() || !next->second.is_whole()) return;
    OpenGroup open = std::move(next->second);
    for (const auto& [index, part] : open.parts) waiting_bytes_ -= part.body_size;
    waiting_.erase(next);
    ApplyNext(std::move(open), now, decisions);
  }
}

void Subscriber::ApplyNext(OpenGroup open, MonoTime now, Decisions& decisions) {
  auto group = IsDigestRight(open.parts, open.digest) ? Merge(open.parts) : std::nullopt;
  if (!group) {
    decisions.push_back({.kind = DecisionKind::kBroken});
    return Want(RelistReason::kGap, /*holds=*/true, now, decisions);
  }
  const auto& previous = group->previous;
  const bool fits = previous && previous->seq == replica_.seq &&
                    (!replica_.last || replica_.last->instant == previous->instant);
  if (!fits) {
    decisions.push_back({.kind = DecisionKind::kBroken});
    return Want(RelistReason::kGap, /*holds=*/true, now, decisions);
  }
  ApplyGroup(*group, replica_);
  for (const auto& [index, part] : open.parts) Remember(part);
  const bool is_in_step = IsInStep(replica_, *group);
  decisions.push_back({.kind = DecisionKind::kApplied, .group = *std::move(group)});
  if (is_in_step) return;
  decisions.push_back({.kind = DecisionKind::kMismatch});
  Want(RelistReason::kDigest, /*holds=*/true, now, decisions);
}

void Subscriber::Want(RelistReason reason, bool holds, MonoTime now, Decisions& decisions) {
  if (holds && !is_held()) replica_.held_for = reason;
  if (relist_) return;
  relist_ = reason;
  list_after_ = now;
  decisions.push_back({.kind = DecisionKind::kRelist, .reason = reason});
}

void Subscriber::Settle(MonoTime now, Decisions& decisions) {
  // Pages alone are no reason: the others of their snapshot are on the way.
  const bool is_epoch_over =
      bookmark_.first > replica_.epoch ||
      (!waiting_.empty() && waiting_.rbegin()->first.first > replica_.epoch);
  if (is_epoch_over) {
    Want(replica_.epoch == 0 ? RelistReason::kFirst : RelistReason::kEpoch, /*holds=*/false, now,
         decisions);
    return;
  }
  if (is_held() || replica_.epoch == 0) return;
  if (const auto reason = Trouble(now)) return Want(*reason, /*holds=*/false, now, decisions);
  if (!relist_) return;
  relist_.reset();
  decisions.push_back({.kind = DecisionKind::kHealed});
}

std::optional<RelistReason> Subscriber::Trouble(MonoTime now) {
  // A bookmark stands behind all it tells of: what is not applied then has lost a part.
  const bool is_gap = bookmark_ > Place{replica_.epoch, replica_.seq} ||
                      (!waiting_.empty() && waiting_.begin()->first.second > replica_.seq + 1);
  if (!is_gap) {
    gap_since_.reset();
    if (waiting_.empty()) return std::nullopt;
    const bool is_overdue = now - waiting_.begin()->second.since >= limits_.open_patience;
    return waiting_.size() > 1 && is_overdue ? std::optional(RelistReason::kOpen) : std::nullopt;
  }
  if (!gap_since_) gap_since_ = now;
  const bool is_overdue = now - *gap_since_ >= limits_.gap_patience;
  return is_overdue ? std::optional(RelistReason::kGap) : std::nullopt;
}

std::string Subscriber::Describe(MonoTime now) const {
  const auto place = [](const Place& of) { return fmt::format("{}.{}", of.first, of.second); };
  const auto parts_of = [](const OpenGroup& open) {
    std::string text = fmt::format("/{}#{}", open.count, HexOf(open.digest));
    for (const auto& [index, part] : open.parts)
      text += fmt::format(",{}:{:x}", index, part.body_hash);
    return text;
  };
  std::string text = fmt::format(
      "at {} last {} parts {} {} head {}", place({replica_.epoch, replica_.seq}),
      replica_.last && replica_.last->instant ? replica_.last->instant->requested
                                              : (replica_.last ? "table" : "unknown"),
      HexOf(replica_.partition_digest), replica_.schema.fingerprint, place(head_));
  if (relist_) text += fmt::format(" wants {}", RelistReasonName(*relist_));
  if (is_held()) text += " held";
  if (is_listing_) text += " listing";
  if (relist_ && list_after_ && *list_after_ > now) text += " listed";
  if (gap_since_) text += now - *gap_since_ >= limits_.gap_patience ? " gap" : " gap?";
  for (const auto& [of, open] : waiting_) {
    const bool is_old = now - open.since >= limits_.open_patience;
    text += fmt::format(" {}{}{}", place(of), parts_of(open), is_old ? "old" : "");
  }
  if (bookmark_.first > 0) text += " told " + place(bookmark_);
  if (pages_of_) text += fmt::format(" pages {}{}", place(*pages_of_), parts_of(pages_));
  for (const auto& known : known_)
    text += fmt::format(" {}:{}:{:x}", known.seq, known.index, known.hash);
  return text;
}

void Subscriber::Drop(std::map<Place, OpenGroup>::iterator group) {
  for (const auto& [index, part] : group->second.parts) waiting_bytes_ -= part.body_size;
  waiting_.erase(group);
}

void Subscriber::Remember(const EventPart& part) {
  known_.push_back({replica_.seq, part.index, part.body_hash});
  if (known_.size() > kKnownPartsMax) known_.pop_front();
}

bool Subscriber::IsKnown(const EventPart& part) const {
  const auto of = [](const KnownPart& known) { return std::pair(known.seq, known.index); };
  const std::pair wanted(part.group.seq, part.index);
  const auto found = std::ranges::lower_bound(known_, wanted, {}, of);
  return found == known_.end() || of(*found) != wanted || found->hash == part.body_hash;
}

}  // namespace tidemark::change
