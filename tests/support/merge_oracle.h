/// A second, slow opinion on event time, written straight from the rules R1-R7 and knowing nothing
/// of the code it judges.
#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "merge/fold.h"
#include "support/merge_events.h"

namespace tidemark::support {

/// One event as the rules speak of it.
struct Fact {
  int id = 0;
  bool is_delete = false;
  std::optional<int> value;  // none: null (R4), or a delete without ordering value (R5)
};

/// R1: deletes are versions. R5: what is before the last delete without value does not count. R2,
/// R3, R4: of the rest the highest value, ties to the later, none below all. nullopt: gone.
inline std::optional<int> ByTheRules(const std::vector<Fact>& arrived) {
  size_t first = 0;
  for (size_t i = 0; i < arrived.size(); ++i) {
    if (arrived[i].is_delete && !arrived[i].value) first = i;
  }
  const auto is_beaten_by = [&](size_t i, size_t j) {  // i < j or j < i, both counted
    const Fact& a = arrived[i];
    const Fact& b = arrived[j];
    const bool is_cut = i == first && a.is_delete && !a.value;
    if (is_cut) return j > i;  // any later record beats a delete without value
    const bool is_b_cut = j == first && b.is_delete && !b.value;
    if (is_b_cut) return false;
    if (a.value.has_value() != b.value.has_value()) return b.value.has_value();
    if (a.value != b.value) return b.value > a.value;
    return j > i;
  };
  for (size_t i = first; i < arrived.size(); ++i) {
    bool is_beaten = false;
    for (size_t j = first; j < arrived.size(); ++j) is_beaten |= i != j && is_beaten_by(i, j);
    if (!is_beaten) return arrived[i].is_delete ? std::nullopt : std::optional(arrived[i].id);
  }
  return std::nullopt;
}

/// A flush writes its data first and its deletes last.
inline std::vector<Fact> AsFlushed(const std::vector<Fact>& arrived,
                                   const std::vector<uint32_t>& flushes) {
  std::vector<Fact> order;
  for (size_t begin = 0; begin < arrived.size();) {
    size_t end = begin;
    while (end < arrived.size() && flushes[end] == flushes[begin]) ++end;
    for (const bool is_delete : {false, true}) {
      for (size_t i = begin; i < end; ++i) {
        if (arrived[i].is_delete == is_delete) order.push_back(arrived[i]);
      }
    }
    begin = end;
  }
  return order;
}

/// {I1, U3, U3', D2, D3, D4, I0}.
inline constexpr std::array<std::pair<int, bool>, 7> kSeven = {
    {{1, false}, {3, false}, {3, false}, {2, true}, {3, true}, {4, true}, {0, false}}};

/// The seven events in one ordering type, made once.
class SevenEvents {
 public:
  explicit SevenEvents(merge::ColumnType type, DateDeletes dates = DateDeletes::kAsDate)
      : ordering_(type, dates) {
    for (size_t i = 0; i < kSeven.size(); ++i) {
      const auto [value, is_delete] = kSeven[i];
      facts[i] = {static_cast<int>(i), is_delete, value};
      versions[i].row = i;
      versions[i].op = is_delete ? merge::Op::kDelete : merge::Op::kUpsert;
      versions[i].ordering = is_delete ? ordering_.Deleted(value) : ordering_.Data(value);
    }
  }

  std::array<Fact, 7> facts;
  std::array<merge::Version, 7> versions;

 private:
  OrderingOf ordering_;
};

inline std::optional<int> ShownId(const merge::Merged& merged) {
  return merged.is_live() ? std::optional(static_cast<int>(merged.winner.row)) : std::nullopt;
}

/// Flush numbers for the events from `first` on: a bit of `cuts` starts a new one.
inline void NumberFlushes(size_t first, unsigned cuts, std::vector<uint32_t>& flushes) {
  uint32_t flush = static_cast<uint32_t>(first) + 1;
  for (size_t i = first; i < flushes.size(); ++i) {
    if (i > first && (cuts >> (i - first - 1) & 1) != 0) ++flush;
    flushes[i] = flush;
  }
}

}  // namespace tidemark::support
