/// What a reading of the timeline shows against the cursor.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "change/planner.h"

namespace tidemark::change {

struct Comparison {
  std::vector<lake::hudi::Instant> fresh;  ///< completed, active and not published
  std::set<InstantKey> completed;          ///< all that are, in the active timeline
  std::set<InstantKey> pending;
  /// Published commits that are gone and older than the oldest active commit: archived.
  std::set<InstantKey> archived;
  /// Published commits that are gone though older ones are there: undone, or archived past a
  /// savepoint.
  std::set<InstantKey> missing;
  std::string start;          ///< requested time of the oldest active commit; empty without one
  bool is_undoing = false;    ///< a rollback or restore is pending
  bool is_restoring = false;  ///< a restore is
  bool has_undo = false;      ///< a rollback or restore is among the fresh
  bool is_all_gone = false;   ///< there were published commits, and none is left
  /// Commits may have completed and been archived between two readings: from this requested time.
  std::optional<std::string> unseen_from;
};

/// `cursor`: nullptr for a table that was never seen.
Comparison Compare(const Cursor* cursor, const lake::hudi::Timeline& timeline);

/// The key under which a pending instant will complete.
InstantKey CompletedKeyOf(const lake::hudi::Instant& instant);

bool IsCommit(const InstantKey& key);

/// nullptr for a table that was never seen.
const Cursor* CursorOf(const TableState& state);

/// The archived instants that were never told: those requested after everything that was, those
/// that were pending, and all of them for a table that begins at its start. Oldest first.
std::vector<const InstantEffect*> UntoldOfArchive(const Cursor* cursor, const TableFacts& facts,
                                                  const Comparison& seen);

bool IsInArchive(const TableFacts& facts, const InstantKey& key);

/// Published commits that `facts` names as undone. Bodies of old rollbacks name times without
/// actions.
std::set<InstantKey> UndoneBy(const Cursor& cursor, const InstantEffect& facts);

/// Published commits that rollbacks and restores among the fresh instants undid, and that are gone
/// indeed.
struct Undone {
  std::set<InstantKey> by_restore;
  std::set<InstantKey> all;
};
Undone FindUndone(const Cursor* cursor, const TableFacts& facts, const Comparison& seen);

/// A commit that is new to us in a part of the timeline that was archived: one that completed late,
/// or one that an interrupted archival left behind.
bool IsBehindFloor(const Cursor& cursor, const InstantKey& key);

/// Nothing can be told while what was published is being taken back.
bool IsPaused(const Comparison& seen);

/// A fresh commit whose body cannot be read, or is empty: its files are there all the same.
bool HasUnreadable(const Comparison& seen, const TableFacts& facts);

}  // namespace tidemark::change
