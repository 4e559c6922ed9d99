#include "merge/fold.h"

#include <algorithm>

namespace tidemark::merge {
namespace {

bool FillsInLog(const Rules& rules) {
  return rules.fill != Fill::kNone && !rules.base_alone_fills;
}

bool NeedsLayers(const Rules& rules, const KeyState& state, const Version& version) {
  return FillsInLog(rules) || version.columns != 0 || state.layers != nullptr;
}

/// Below a row that has all its columns nothing shows, unless some of them count as absent.
void DropHidden(const Rules& rules, KeyState& state) {
  auto& rows = state.layers->rows;
  if (rules.fill == Fill::kNone) {
    const auto whole =
        std::find_if(rows.begin(), rows.end(), [](const Version& row) { return row.columns == 0; });
    if (whole != rows.end()) rows.erase(whole + 1, rows.end());
  }
  if (rows.size() > kLayersMax) {
    rows.resize(kLayersMax);
    state.is_cut = true;
  }
}

LayerStack& Layers(const Rules& rules, KeyState& state) {
  if (!state.layers) {
    state.layers = std::make_unique<LayerStack>();
    if (state.is_set && IsDelete(rules, state.winner.op)) {
      state.layers->floor = state.winner;
    } else if (state.is_set) {
      state.layers->rows.push_back(state.winner);
    }
  }
  return *state.layers;
}

/// Nothing below `later`, as event time has it. Types without an order count as arrived later.
bool IsBelow(const Version& earlier, const Version& later) {
  return !(CompareByValue(earlier.ordering, later.ordering) > 0);
}

/// Event time with partial rows: each row stands at its own value, whenever it arrived.
Decision FoldLayer(const Rules& rules, KeyState& state, const Version& version) {
  LayerStack& stack = Layers(rules, state);
  bool is_top = false;
  if (IsDelete(rules, version.op)) {
    std::erase_if(stack.rows, [&](const Version& row) { return IsBelow(row, version); });
    const bool is_floor = !stack.floor || IsBelow(*stack.floor, version);
    if (is_floor) stack.floor = version;
    is_top = is_floor && stack.rows.empty();
  } else if (!stack.floor || IsBelow(*stack.floor, version)) {
    const auto place = std::find_if(stack.rows.begin(), stack.rows.end(),
                                    [&](const Version& row) { return IsBelow(row, version); });
    is_top = place == stack.rows.begin();
    stack.rows.insert(place, version);
    DropHidden(rules, state);
  }
  if (!is_top) return {false, Reason::kLower};
  Reason reason = Reason::kNone;
  if (state.is_set) {
    const auto order = CompareByValue(state.winner.ordering, version.ordering);
    reason = order == 0 ? Reason::kTieLater : order < 0 ? Reason::kHigher : Reason::kIncomparable;
  }
  state.winner = version;
  state.is_set = true;
  state.reason = reason;
  return {true, reason};
}

void Take(KeyState& state, const Version& version, Reason reason) {
  state.winner = version;
  state.reason = reason;
  state.is_set = true;
}

/// R1-R6.
Decision FoldByEventTime(const Rules& rules, KeyState& state, const Version& version) {
  const bool is_delete = IsDelete(rules, version.op);
  if (IsSentinelDelete(rules, version)) {
    // What of its own flush came before it, and what after, nobody can know.
    state.is_ambiguous = state.has_data && IsSameFlush(state.last_data, version.place);
    state.cuts_base = true;
    state.layers.reset();
    Take(state, version, state.is_set ? Reason::kDeleteSentinel : Reason::kNone);
    return {true, state.reason};
  }
  if (!is_delete) {
    state.has_data = true;
    state.last_data = version.place;
  }
  if (state.is_set && IsSentinelDelete(rules, state.winner)) {
    state.is_ambiguous = false;
    Take(state, version, Reason::kAfterSentinel);
    if (version.columns != 0 || rules.fill != Fill::kNone) Layers(rules, state);
    return {true, state.reason};
  }
  const Version before = state.winner;
  const bool was_set = state.is_set;
  Decision decision;
  if (NeedsLayers(rules, state, version)) {
    decision = FoldLayer(rules, state, version);
  } else if (!was_set) {
    Take(state, version, Reason::kNone);
    return {true, Reason::kNone};
  } else {
    decision = DecideInLog(rules, before, version);
    if (decision.takes_later) Take(state, version, decision.reason);
  }
  if (!decision.takes_later) return decision;
  if (decision.reason == Reason::kIncomparable) state.is_incomparable = true;
  state.is_ambiguous = was_set && decision.reason == Reason::kTieLater &&
                       IsSameFlush(before.place, version.place) &&
                       (state.is_ambiguous || is_delete != IsDelete(rules, before.op));
  return decision;
}

/// The rows of the one that stays over those of the one that goes, as the readers of partial
/// updates put them together whenever two data records meet.
void StackRows(const Rules& rules, KeyState& state, const Version& version, bool is_on_top) {
  LayerStack& stack = Layers(rules, state);
  auto& rows = stack.rows;
  rows.insert(is_on_top ? rows.begin() : rows.end(), version);
  const bool is_oldest_first = rules.scan == ScanOrder::kOldestFirst;
  if (rules.later_gives_meta && (is_oldest_first || stack.meta_row == kNoRow)) {
    stack.meta_row = is_oldest_first ? version.row : state.winner.row;
  }
  DropHidden(rules, state);
}

Decision FoldByRelease(const Rules& rules, KeyState& state, const Version& version) {
  const bool is_delete = IsDelete(rules, version.op);
  if (rules.null_fails && version.op != Op::kDelete && version.ordering.is_null() &&
      version.ordering.column_type() != ColumnType::kUnknown) {
    state.is_failed = true;
    state.reason = Reason::kFailsOnNull;
    return {false, state.reason};
  }
  if (version.op == Op::kDelete && rules.release == Release::k1_1 &&
      rules.log_comparison == Comparison::kInJava && !version.ordering.is_sentinel() &&
      !BufferedJava(rules.release, version.ordering)) {
    state.is_failed = true;  // the value is converted even when nothing is there to compare it with
    state.reason = Reason::kFailsOnClass;
    return {false, state.reason};
  }
  Decision decision{true, Reason::kNone};
  if (state.is_set) decision = DecideInLog(rules, state.winner, version);
  if (IsFailure(decision.reason)) {
    state.is_failed = true;
    state.reason = decision.reason;
    return decision;
  }
  const bool is_data_pair = state.is_set && !is_delete && !IsDelete(rules, state.winner.op);
  const bool is_newest_first = rules.scan == ScanOrder::kNewestFileFirst;
  const bool earlier_wins = decision.takes_later == is_newest_first;
  const bool stays_as_it_is = earlier_wins && rules.earlier_is_not_filled && version.columns == 0 &&
                              !version.is_partial_mode;
  if (is_data_pair && !stays_as_it_is && NeedsLayers(rules, state, version)) {
    StackRows(rules, state, version, decision.takes_later);
  } else if (decision.takes_later) {
    state.layers.reset();
  }
  if (decision.takes_later) {
    const bool beats = state.is_set;
    Take(state, version, decision.reason);
    if (is_delete && rules.deletes_cut_base) state.cuts_base = true;
    if (beats && is_delete && rules.merged_delete_forgets) {
      state.winner.ordering = OrderingValue::NoneDeleted({version.ordering.column_type(), 0});
    }
  }
  return decision;
}

void Show(const Rules& rules, Merged& merged) {
  const Op op = merged.winner.op;
  const bool is_hidden =
      rules.operation == OperationRule::kDeleteWhenRead && op == Op::kOperationDelete;
  const bool is_row = merged.is_from_base && MarkOf(rules, op) != MarkedBase::kIsDelete;
  merged.outcome = (IsDelete(rules, op) || is_hidden) && !is_row ? Merged::Outcome::kGone
                                                                 : Merged::Outcome::kLive;
  if (!merged.is_live() || (merged.layers.size() < 2 && merged.winner.columns == 0)) {
    merged.layers.clear();
  }
}

Merged OfLog(const Rules& rules, const KeyState& log) {
  Merged merged;
  merged.winner = log.winner;
  merged.reason = log.reason;
  merged.is_ambiguous = log.is_ambiguous;
  merged.is_incomparable = log.is_incomparable;
  merged.is_cut = log.is_cut;
  merged.fill = rules.fill;
  if (log.layers) {
    merged.layers = log.layers->rows;
    merged.meta_row = log.layers->meta_row;
  } else if (!IsDelete(rules, log.winner.op)) {
    merged.layers = {log.winner};
  }
  return merged;
}

/// The base row is the earliest arrival of all, at its own value.
void LayBase(const Rules& rules, const Version& base, const KeyState& log, Merged& merged) {
  if (log.layers && log.layers->floor &&
      !(CompareByValue(base.ordering, log.layers->floor->ordering) > 0)) {
    return;  // a delete stands between
  }
  auto& rows = merged.layers;
  const auto place = std::find_if(rows.begin(), rows.end(), [&](const Version& row) {
    return CompareByValue(row.ordering, base.ordering) < 0;
  });
  if (rules.fill == Fill::kNone &&
      std::any_of(rows.begin(), place, [](const Version& row) { return row.columns == 0; })) {
    return;
  }
  const auto laid = rows.insert(place, base);
  if (rules.fill == Fill::kNone) rows.erase(laid + 1, rows.end());
}

bool HasRowsToFill(const Rules& rules, const Merged& merged) {
  return rules.fill != Fill::kNone || (!merged.layers.empty() && merged.layers.back().columns != 0);
}

}  // namespace

Decision FoldLog(const Rules& rules, KeyState& state, const Version& version) {
  if (state.is_failed) return {false, state.reason};
  return rules.is_event_time ? FoldByEventTime(rules, state, version)
                             : FoldByRelease(rules, state, version);
}

Merged MergeBase(const Rules& rules, const Version* base, const KeyState* log,
                 bool is_partial_mode) {
  Merged merged;
  if (log != nullptr && log->is_failed) {
    merged.outcome = Merged::Outcome::kReaderFails;
    merged.reason = log->reason;
    return merged;
  }
  if (log == nullptr || !log->is_set) {
    if (base == nullptr) return merged;
    merged.winner = *base;
    merged.is_from_base = true;
    Show(rules, merged);
    return merged;
  }
  merged = OfLog(rules, *log);
  if (base == nullptr && rules.delete_without_base_fails && IsDelete(rules, log->winner.op)) {
    merged.outcome = Merged::Outcome::kReaderFails;
    merged.reason = Reason::kFailsOnDelete;
    return merged;
  }
  if (base == nullptr || log->cuts_base) {
    Show(rules, merged);
    return merged;
  }
  if (MarkOf(rules, base->op) == MarkedBase::kSwallows && !IsDelete(rules, log->winner.op)) {
    merged.winner = *base;
    merged.is_from_base = true;
    merged.outcome = Merged::Outcome::kGone;
    merged.layers.clear();
    return merged;
  }
  const Decision decision = DecideAgainstBase(rules, *base, log->winner, is_partial_mode);
  if (IsFailure(decision.reason)) {
    merged.outcome = Merged::Outcome::kReaderFails;
    merged.reason = decision.reason;
    merged.layers.clear();
    return merged;
  }
  if (decision.reason == Reason::kIncomparable) merged.is_incomparable = true;
  const bool is_log_data = !IsDelete(rules, log->winner.op);
  if (is_log_data && HasRowsToFill(rules, merged)) {
    if (rules.is_event_time) {
      LayBase(rules, *base, *log, merged);
    } else if (rules.fill != Fill::kNone && rules.earlier_is_not_filled && !decision.takes_later) {
      merged.layers.clear();
    } else {
      if (rules.later_gives_meta && merged.meta_row == kNoRow) merged.meta_row = log->winner.row;
      merged.layers.insert(decision.takes_later ? merged.layers.end() : merged.layers.begin(),
                           *base);
    }
  }
  merged.reason = decision.reason;
  if (!decision.takes_later) {
    merged.winner = *base;
    merged.is_from_base = true;
    merged.is_ambiguous = false;
    if (!is_log_data || merged.fill == Fill::kNone) merged.layers.clear();
  } else if (decision.reason != Reason::kDeleteBeatsBase && log->reason != Reason::kNone) {
    merged.reason = log->reason;
  }
  Show(rules, merged);
  return merged;
}

Merged MergeSlice(const Rules& rules, const Version* base, std::span<const Version> log) {
  KeyState state;
  if (rules.scan == ScanOrder::kOldestFirst) {
    for (const Version& version : log) FoldLog(rules, state, version);
  } else {
    // Whole flushes from the newest to the oldest, each as written.
    size_t end = log.size();
    while (end > 0) {
      size_t begin = end - 1;
      while (begin > 0 && IsSameFlush(log[begin - 1].place, log[end - 1].place)) --begin;
      for (size_t i = begin; i < end; ++i) FoldLog(rules, state, log[i]);
      end = begin;
    }
  }
  const bool is_partial_mode = std::any_of(
      log.begin(), log.end(), [](const Version& version) { return version.is_partial_mode; });
  return MergeBase(rules, base, log.empty() ? nullptr : &state, is_partial_mode);
}

std::optional<Version> CompactSlice(const Rules& rules, const Version* base,
                                    std::span<const Version> log) {
  const Merged merged = MergeSlice(rules, base, log);
  if (!merged.is_live()) return std::nullopt;
  Version row = merged.winner;
  row.columns = 0;
  row.is_partial_mode = false;
  return row;
}

std::optional<Version> DedupBatch(const Rules& dedup, std::span<const Version> batch) {
  KeyState state;
  for (const Version& version : batch) FoldLog(dedup, state, version);
  if (state.is_failed || !state.is_set) return std::nullopt;
  return state.winner;
}

Merged MergeHistory(const Rules& rules, std::span<const Version> versions) {
  std::vector<Version> arrived(versions.begin(), versions.end());
  std::stable_sort(arrived.begin(), arrived.end(),
                   [](const Version& a, const Version& b) { return a.place < b.place; });
  return MergeSlice(rules, nullptr, arrived);
}

}  // namespace tidemark::merge
