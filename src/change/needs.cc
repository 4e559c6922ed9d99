#include <algorithm>
#include <iterator>

#include "change/comparison_internal.h"
#include "change/planner.h"

namespace tidemark::change {

namespace {

/// A listing says what the events alone cannot: which partitions were there before the first one,
/// and what is there after something that cannot be read or was taken back.
bool NeedsListing(const TableState& state, const TableFacts& facts, const Comparison& seen,
                  const PlanOptions& options) {
  if (!state.cursor) return true;
  if (!seen.missing.empty() || seen.is_all_gone || seen.unseen_from) return true;
  if (options.wants_reconcile || !FindUndone(CursorOf(state), facts, seen).all.empty()) return true;
  if (HasUnreadable(seen, facts)) return true;
  if (state.inventory) return false;
  return options.wants_snapshot || std::ranges::any_of(seen.fresh, [](const auto& instant) {
           return IsCommitAction(instant.action);
         });
}

std::optional<std::string> NeedsArchive(const TableState& state, const TableFacts& facts,
                                        const Comparison& seen, const PlanOptions& options) {
  if (!state.cursor)
    return options.beginning == Beginning::kStart ? std::optional<std::string>("") : std::nullopt;
  std::optional<std::string> from = seen.unseen_from;
  const auto also = [&from](const std::string& requested) {
    if (!from || requested < *from) from = requested;
  };
  if (seen.is_all_gone)
    for (const auto& key : seen.archived) also(key.requested);
  const auto undone = FindUndone(CursorOf(state), facts, seen);
  for (const auto& key : seen.missing)
    if (!undone.all.contains(key)) also(key.requested);
  for (const auto& instant : seen.fresh)
    if (IsBehindFloor(*state.cursor, KeyOf(instant))) also(instant.requested);
  return from;
}

}  // namespace

Needs NeedsOf(const TableState& state, const TableFacts& facts, const PlanOptions& options) {
  Needs needs;
  const auto seen = Compare(CursorOf(state), facts.timeline);
  if (IsPaused(seen)) return needs;
  const auto missing = [&](const lake::hudi::Instant& instant) {
    return !facts.bodies.contains(KeyOf(instant));
  };
  std::ranges::copy_if(seen.fresh, std::back_inserter(needs.bodies), missing);
  if (!needs.bodies.empty()) return needs;
  if (NeedsListing(state, facts, seen, options)) {
    // Schemas and replaced groups of everything that counts in the listing.
    for (const auto& instant : facts.timeline.instants) {
      if (!instant.is_archived && instant.state == lake::hudi::State::kCompleted &&
          IsCommitAction(instant.action) && missing(instant)) {
        needs.bodies.push_back(instant);
      }
    }
    needs.listing = !facts.listing;
  }
  if (!facts.archive) needs.archive_from = NeedsArchive(state, facts, seen, options);
  return needs;
}

}  // namespace tidemark::change
