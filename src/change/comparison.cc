#include <algorithm>

#include "change/comparison_internal.h"

namespace tidemark::change {

namespace {

using lake::hudi::Action;
using lake::hudi::Instant;
using lake::hudi::State;

bool IsUndo(Action action) {
  return action == Action::kRollback || action == Action::kRestore;
}

void SeeInstant(const Instant& instant, const Cursor* cursor, Comparison& seen) {
  if (instant.state != State::kCompleted) {
    seen.pending.insert(CompletedKeyOf(instant));
    seen.is_undoing |= IsUndo(instant.action);
    seen.is_restoring |= instant.action == Action::kRestore;
    return;
  }
  auto key = KeyOf(instant);
  if (IsCommit(key) && (seen.start.empty() || key.requested < seen.start))
    seen.start = key.requested;
  if (cursor == nullptr || !cursor->published.contains(key)) {
    seen.fresh.push_back(instant);
    seen.has_undo |= IsUndo(instant.action);
  }
  seen.completed.insert(std::move(key));
}

/// A pending commit that is gone may have completed and been archived since, or it was rolled back;
/// and when nothing published is left, there may have been any number of commits in between.
std::optional<std::string> UnseenFrom(const Cursor& cursor, const Comparison& seen) {
  std::optional<std::string> from;
  for (const auto& key : cursor.pending) {
    if (!IsCommit(key) || seen.pending.contains(key) || seen.completed.contains(key)) continue;
    if (!seen.start.empty() && key.requested < seen.start && (!from || key.requested < *from))
      from = key.requested;
  }
  // A table that had no commit when it was last read may have had some archived by now.
  const bool is_first = cursor.newest_requested.empty();
  const bool is_gap = !seen.start.empty() && seen.start > cursor.newest_requested &&
                      (is_first || !seen.archived.empty());
  if (is_gap && (!from || cursor.newest_requested < *from)) from = cursor.newest_requested;
  return from;
}

}  // namespace

InstantKey KeyOf(const Instant& instant) {
  return {instant.requested, instant.action_name};
}

InstantKey CompletedKeyOf(const Instant& instant) {
  const Action action = ComparableAction(instant.action);
  return {instant.requested,
          action == Action::kUnknown ? instant.action_name : std::string(ActionName(action))};
}

bool IsCommit(const InstantKey& key) {
  return IsCommitAction(lake::hudi::ParseAction(key.action));
}

Comparison Compare(const Cursor* cursor, const lake::hudi::Timeline& timeline) {
  Comparison seen;
  for (const auto& instant : timeline.instants) {
    if (!instant.is_archived) SeeInstant(instant, cursor, seen);
  }
  if (cursor == nullptr) return seen;
  size_t kept = 0;
  for (const auto& [key, seq] : cursor->published) {
    if (!IsCommit(key)) continue;
    if (seen.completed.contains(key)) {
      ++kept;
    } else if (!seen.start.empty() && key.requested < seen.start) {
      seen.archived.insert(key);
    } else {
      seen.missing.insert(key);
    }
  }
  seen.is_all_gone = kept == 0 && !(seen.archived.empty() && seen.missing.empty());
  seen.unseen_from = UnseenFrom(*cursor, seen);
  return seen;
}

const Cursor* CursorOf(const TableState& state) {
  return state.cursor ? &*state.cursor : nullptr;
}

std::vector<const InstantEffect*> UntoldOfArchive(const Cursor* cursor, const TableFacts& facts,
                                                  const Comparison& seen) {
  std::vector<const InstantEffect*> untold;
  if (!facts.archive) return untold;
  for (const auto& instant : facts.archive->instants) {
    const auto key = KeyOf(instant.instant);
    if (seen.completed.contains(key)) continue;
    if (cursor == nullptr ||
        (!cursor->published.contains(key) &&
         (key.requested > cursor->newest_requested || cursor->pending.contains(key)))) {
      untold.push_back(&instant);
    }
  }
  return untold;
}

bool IsInArchive(const TableFacts& facts, const InstantKey& key) {
  return facts.archive && std::ranges::any_of(facts.archive->instants, [&](const auto& instant) {
           return KeyOf(instant.instant) == key;
         });
}

std::set<InstantKey> UndoneBy(const Cursor& cursor, const InstantEffect& facts) {
  std::set<InstantKey> undone;
  for (const auto& target : facts.undone) {
    for (const auto& [key, seq] : cursor.published) {
      if (!IsCommit(key) || key.requested != target.requested) continue;
      if (target.action.empty() || target.action == key.action) undone.insert(key);
    }
  }
  return undone;
}

Undone FindUndone(const Cursor* cursor, const TableFacts& facts, const Comparison& seen) {
  Undone undone;
  if (cursor == nullptr) return undone;
  for (const auto& instant : seen.fresh) {
    const auto body = facts.bodies.find(KeyOf(instant));
    if (body == facts.bodies.end()) continue;
    if (!IsUndo(instant.action)) continue;
    const auto targets = UndoneBy(*cursor, body->second);
    undone.all.insert(targets.begin(), targets.end());
    if (instant.action == Action::kRestore)
      undone.by_restore.insert(targets.begin(), targets.end());
  }
  // What is still there was not undone, whatever a body says.
  std::erase_if(undone.all, [&](const auto& key) { return seen.completed.contains(key); });
  std::erase_if(undone.by_restore, [&](const auto& key) { return seen.completed.contains(key); });
  return undone;
}

bool IsBehindFloor(const Cursor& cursor, const InstantKey& key) {
  return IsCommit(key) && key.requested < cursor.floor;
}

bool IsPaused(const Comparison& seen) {
  return seen.is_restoring || (seen.is_undoing && !seen.missing.empty());
}

bool HasUnreadable(const Comparison& seen, const TableFacts& facts) {
  return std::ranges::any_of(seen.fresh, [&](const auto& instant) {
    const auto body = facts.bodies.find(KeyOf(instant));
    return body != facts.bodies.end() && IsCommit(body->first) &&
           body->second.body != BodyState::kRead;
  });
}

}  // namespace tidemark::change
