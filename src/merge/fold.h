/// The stages of merging as folds: a writer's dedup inside a batch, log records with each other,
/// the result with the base row, compaction; and the whole of one file slice. Pure; nothing here
/// reads, waits or keeps more than the versions it was given.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "merge/rules.h"

namespace tidemark::merge {

/// Partial rows one key may pile up before the lowest are dropped (reported by `is_cut`).
inline constexpr size_t kLayersMax = 4096;

/// Rows that make one row, from the top; and, for event time, the delete they all are above of.
struct LayerStack {
  std::vector<Version> rows;
  std::optional<Version> floor;
  RowHandle meta_row = kNoRow;  ///< Rules::later_gives_meta: the last that was laid in
};

/// What the logs of a slice say of one key so far. Movable, 80 bytes; views what the versions'
/// ordering values view.
struct KeyState {
  Version winner;                      ///< data, or the delete that stands for it
  std::unique_ptr<LayerStack> layers;  ///< only when more than the winner's row is needed
  Place last_data;                     ///< of the newest data record, whether it won or not
  Reason reason = Reason::kNone;       ///< of the last decision that changed the winner
  bool is_set = false;
  bool has_data = false;         ///< a data record was met
  bool is_failed = false;        ///< the reader throws; `reason` says why, the rest means nothing
  bool cuts_base = false;        ///< R5: a delete without value was met; base rows no longer count
  bool is_ambiguous = false;     ///< R3: data and delete tie inside one append flush
  bool is_incomparable = false;  ///< event time had to compare types that have no order
  bool is_cut = false;           ///< kLayersMax was reached
};
static_assert(sizeof(KeyState) == 80);

/// Folds one log record into a key's state. Feed it in the order of `rules.scan`: oldest first, or
/// the newest log file first with its records as written.
Decision FoldLog(const Rules& rules, KeyState& state, const Version& version);

/// How a key ends under one rule set.
struct Merged {
  enum class Outcome : uint8_t {
    kAbsent,  ///< no version of it anywhere
    kLive,
    kGone,
    kReaderFails,  ///< the release's reader throws on this slice
  };

  Outcome outcome = Outcome::kAbsent;
  /// The version that decided: the row's (the top one's of several), or the delete. R1: for event
  /// time a gone key's winner is the tombstone to keep.
  Version winner;
  Reason reason = Reason::kNone;
  bool is_from_base = false;
  bool is_ambiguous = false;
  bool is_incomparable = false;
  bool is_cut = false;
  /// Rows to put together, from the top, when `winner.row` alone is not the row; else empty. A
  /// column that a row's `columns` lack, or that `fill` says it does not have, comes from the next
  /// below.
  std::vector<Version> layers;
  Fill fill = Fill::kNone;
  /// The row whose meta columns go with `layers`; kNoRow: they are columns like any other.
  RowHandle meta_row = kNoRow;

  bool is_live() const { return outcome == Outcome::kLive; }
};

/// The log's result against the base row; either may be null. `is_partial_mode`: the slice has a
/// partial block.
Merged MergeBase(const Rules& rules, const Version* base, const KeyState* log,
                 bool is_partial_mode = false);

/// All log versions of one key, oldest first, and its base row.
Merged MergeSlice(const Rules& rules, const Version* base, std::span<const Version> log);

/// The base row after a compaction of the slice; nullopt: none. A delete leaves nothing behind, and
/// neither does a slice that cannot be read. Rows that are put together from several come back as
/// the top one.
std::optional<Version> CompactSlice(const Rules& rules, const Version* base,
                                    std::span<const Version> log);

/// What is left of one key of a batch before it is written; nullopt: nothing was there, or the
/// writer refuses the batch (a null ordering value up to 0.15).
std::optional<Version> DedupBatch(const Rules& dedup, std::span<const Version> batch);

/// Event time over everything that retained slices of a file group still hold: log records of
/// replaced slices and base rows of all of them, in any order. Base rows count as what their commit
/// wrote, so a row that compactions carried along does not arrive again. `rules` are those of the
/// event-time profile.
Merged MergeHistory(const Rules& rules, std::span<const Version> versions);

}  // namespace tidemark::merge
