#include "lake/hudi/committed_instants.h"

#include <utility>

namespace tidemark::lake::hudi {
namespace {

constexpr size_t kMillisInstantSize = 17;
constexpr std::string_view kPadding = "999";

/// Whether files can name the instant. Log compactions and clusterings may be pending only.
bool IsWrite(const Instant& instant) {
  return IsCommitAction(ComparableAction(instant.action));
}

bool IsCompaction(const Instant& instant) {
  return instant.action == Action::kCompaction || instant.planned_as == Action::kCompaction;
}

/// Such an action may take long, and writes go on beside it.
bool IsPlanned(const Instant& instant) {
  return instant.planned_as.has_value() ||
         (instant.action != Action::kCommit && instant.action != Action::kDeltaCommit);
}

/// `find` in a map or set by the instant, or by what it was padded from.
template <class Set>
auto FindPadded(const Set& set, std::string_view instant) {
  const auto found = set.find(instant);
  if (found != set.end() || instant.size() != kMillisInstantSize || !instant.ends_with(kPadding))
    return found;
  return set.find(instant.substr(0, instant.size() - kPadding.size()));
}

}  // namespace

CommittedInstants::CommittedInstants(const Timeline& timeline, std::optional<std::string> as_of)
    : as_of_(std::move(as_of)) {
  // A savepointed commit stays in the active timeline while what follows it is archived, so the
  // timeline starts behind it.
  std::set<std::string_view> savepoints;
  for (const Instant& instant : timeline.instants)
    if (instant.action == Action::kSavepoint) savepoints.insert(instant.requested);
  for (const Instant& instant : timeline.instants) {
    if (!IsWrite(instant)) continue;
    const bool is_completed = instant.state == State::kCompleted;
    const bool is_pending_compaction = !is_completed && IsCompaction(instant);
    if (start_.empty() && !instant.is_archived && (is_completed || is_pending_compaction) &&
        !savepoints.contains(instant.requested)) {
      start_ = instant.requested;
    }
    if (as_of_ && instant.requested > *as_of_) continue;
    if (is_completed) {
      completed_.insert_or_assign(instant.requested, instant.completed.value_or(""));
      if (instant.requested > newest_) newest_ = instant.requested;
    } else if (!instant.is_archived) {
      pending_.insert(instant.requested);
      if (is_pending_compaction) pending_compactions_.insert(instant.requested);
      if (IsPlanned(instant)) planned_.insert(instant.requested);
    }
  }
}

void CommittedInstants::AddArchived(std::span<const Instant> instants) {
  for (const Instant& instant : instants) {
    if (instant.state != State::kCompleted || !IsCommitAction(instant.action)) continue;
    if (as_of_ && instant.requested > *as_of_) continue;
    completed_.try_emplace(instant.requested, instant.completed.value_or(""));
    if (instant.requested > newest_) newest_ = instant.requested;
  }
}

WriteFate CommittedInstants::FateOf(std::string_view instant) const {
  if (instant.empty()) return WriteFate::kAbsent;
  if (as_of_ && instant > *as_of_) return WriteFate::kLater;
  if (FindPadded(completed_, instant) != completed_.end()) return WriteFate::kCommitted;
  if (FindPadded(pending_, instant) != pending_.end()) return WriteFate::kPending;
  if (!start_.empty() && instant < start_) return WriteFate::kBeforeStart;
  return WriteFate::kAbsent;
}

std::string CommittedInstants::CompletionOf(std::string_view instant) const {
  const auto found = FindPadded(completed_, instant);
  if (found != completed_.end() && !found->second.empty()) return found->second;
  return std::string(instant);
}

bool CommittedInstants::IsUnfinished(std::string_view instant) const {
  return instant < newest_ && FateOf(instant) == WriteFate::kPending &&
         FindPadded(planned_, instant) == planned_.end();
}

bool CommittedInstants::IsPendingCompaction(std::string_view instant) const {
  return pending_compactions_.contains(instant);
}

}  // namespace tidemark::lake::hudi
