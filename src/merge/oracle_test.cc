// Event time against a second, slow opinion that is written straight from the rules R1-R7 and knows
// nothing of the code it judges: over every order, every split between base, log and flush, in
// seven ordering types, and over random histories.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "merge/fold.h"
#include "merge/profile.h"
#include "support/merge_events.h"
#include "support/merge_oracle.h"

namespace tidemark::merge {
namespace {

using support::AsFlushed;
using support::ByTheRules;
using support::EventTimeSettings;
using support::Fact;
using support::NumberFlushes;
using support::OrderingOf;
using support::SevenEvents;
using support::ShownId;

/// What one split of an order must show, with and without the slices before it.
void CheckSplit(const Rules& rules, const SevenEvents& seven, const std::array<size_t, 7>& order,
                size_t base_count, unsigned cuts) {
  std::vector<uint32_t> flushes(7);
  for (size_t i = 0; i < base_count; ++i) flushes[i] = static_cast<uint32_t>(i) + 1;
  NumberFlushes(base_count, cuts, flushes);
  std::vector<Fact> facts;
  std::vector<Version> versions;
  for (size_t i = 0; i < 7; ++i) {
    facts.push_back(seven.facts[order[i]]);
    versions.push_back(seven.versions[order[i]]);
    const bool is_delete = versions.back().op == Op::kDelete;
    versions.back().place = {flushes[i], flushes[i], is_delete, static_cast<uint32_t>(i)};
  }
  const std::vector<Fact> prefix(facts.begin(), facts.begin() + static_cast<ptrdiff_t>(base_count));
  std::vector<Fact> visible;  // what the slice holds: deletes before the base are forgotten
  std::optional<Version> base;
  if (const auto kept = ByTheRules(prefix)) {
    for (size_t i = 0; i < base_count; ++i) {
      if (facts[i].id != *kept) continue;
      visible.push_back(facts[i]);
      base = versions[i];
      base->place = {base->place.commit, 0, 0, 0};  // the base file's copy of the record
    }
  }
  std::vector<Version> log(versions.begin() + static_cast<ptrdiff_t>(base_count), versions.end());
  std::stable_sort(log.begin(), log.end(),
                   [](const Version& a, const Version& b) { return a.place < b.place; });
  const std::vector<Fact> flushed = AsFlushed(facts, flushes);
  visible.insert(visible.end(), flushed.begin() + static_cast<ptrdiff_t>(base_count),
                 flushed.end());
  ASSERT_EQ(ShownId(MergeSlice(rules, base ? &*base : nullptr, log)), ByTheRules(visible));

  if (base) versions.push_back(*base);
  ASSERT_EQ(ShownId(MergeHistory(rules, versions)), ByTheRules(flushed));
}

class OracleTest : public testing::TestWithParam<ColumnType> {};

TEST_P(OracleTest, EveryOrderAtEverySplitBetweenBaseLogAndFlush) {
  const Profile event_time = *MakeProfile("event-time", EventTimeSettings());
  const SevenEvents seven(GetParam());
  std::array<size_t, 7> order = {0, 1, 2, 3, 4, 5, 6};
  size_t splits = 0;
  do {
    for (size_t base_count = 0; base_count <= 7; ++base_count) {
      const size_t in_log = 7 - base_count;
      const unsigned cuts_end = in_log == 0 ? 1 : 1u << (in_log - 1);
      for (unsigned cuts = 0; cuts < cuts_end; ++cuts, ++splits) {
        CheckSplit(event_time.read, seven, order, base_count, cuts);
        if (HasFatalFailure()) {
          std::string text;
          for (const size_t event : order) text += std::to_string(event);
          FAIL() << "order=" << text << " base=" << base_count << " cuts=" << cuts;
        }
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(splits, 5040u * 128);
}

INSTANTIATE_TEST_SUITE_P(SevenTypes, OracleTest, testing::ValuesIn(support::kSevenTypes),
                         [](const auto& type) {
                           std::string name(ColumnTypeName(type.param));
                           std::erase(name, '-');
                           return name;
                         });

/// Random histories: few values, so that ties, nulls and deletes without value all meet.
struct History {
  std::vector<Fact> facts;
  std::vector<uint32_t> flushes;
  std::vector<Version> versions;
};

History AnyHistory(OrderingOf& ordering, bool has_valueless) {
  History history;
  const int count = *rc::gen::inRange(0, 14);
  uint32_t flush = 1;
  for (int i = 0; i < count; ++i) {
    Fact fact;
    fact.id = i;
    fact.is_delete = *rc::gen::weightedElement<bool>({{2, false}, {1, true}});
    const bool has_value =
        !has_valueless || *rc::gen::weightedElement<bool>({{5, true}, {1, false}});
    if (has_value) fact.value = *rc::gen::inRange(0, 5);
    if (i > 0 && *rc::gen::element(true, false)) ++flush;
    Version version;
    version.row = static_cast<RowHandle>(i);
    version.op = fact.is_delete ? Op::kDelete : Op::kUpsert;
    version.place = {flush, flush, fact.is_delete, static_cast<uint32_t>(i)};
    if (fact.is_delete) {
      version.ordering = fact.value ? ordering.Deleted(*fact.value) : ordering.Sentinel();
    } else {
      version.ordering = fact.value ? ordering.Data(*fact.value) : ordering.Null();
    }
    history.facts.push_back(fact);
    history.flushes.push_back(flush);
    history.versions.push_back(version);
  }
  return history;
}

/// Histories per property run; the library's hundred are cheap ones.
constexpr int kRounds = 20;

void CheckRandomHistory() {
  OrderingOf ordering(*rc::gen::elementOf(
      std::vector<ColumnType>(std::begin(support::kSevenTypes), std::end(support::kSevenTypes))));
  const History history = AnyHistory(ordering, true);
  const Profile event_time = *MakeProfile("event-time", EventTimeSettings());
  const auto right = ByTheRules(AsFlushed(history.facts, history.flushes));
  RC_ASSERT(ShownId(MergeHistory(event_time.read, history.versions)) == right);
  // The fold of one version after the other is the fold of all.
  KeyState state;
  std::vector<Version> arrived = history.versions;
  std::stable_sort(arrived.begin(), arrived.end(),
                   [](const Version& a, const Version& b) { return a.place < b.place; });
  for (const Version& version : arrived) FoldLog(event_time.read, state, version);
  RC_ASSERT(ShownId(MergeBase(event_time.read, nullptr, &state)) == right);
}

RC_GTEST_PROP(OracleProperty, RandomHistoriesWithNullsAndDeletesWithoutValue, ()) {
  for (int round = 0; round < kRounds; ++round) CheckRandomHistory();
}

RC_GTEST_PROP(OracleProperty, WithoutDeletesWithoutValueTheFoldIsAssociativeAndCommutative, ()) {
  OrderingOf ordering(ColumnType::kLong);
  History history = AnyHistory(ordering, false);
  RC_PRE(!history.versions.empty());
  // Up to ties: one version per value.
  std::vector<Version> distinct;
  for (const Version& version : history.versions) {
    const bool is_new = std::none_of(distinct.begin(), distinct.end(), [&](const Version& other) {
      return CompareByValue(other.ordering, version.ordering) == 0;
    });
    if (is_new) distinct.push_back(version);
  }
  const Rules rules = MakeProfile("event-time", EventTimeSettings())->read;
  const auto all = ShownId(MergeSlice(rules, nullptr, distinct));

  std::vector<Version> shuffled = distinct;
  for (size_t i = shuffled.size(); i > 1; --i) {
    std::swap(shuffled[i - 1], shuffled[*rc::gen::inRange<size_t>(0, i)]);
  }
  RC_ASSERT(ShownId(MergeSlice(rules, nullptr, shuffled)) == all);

  const size_t cut = *rc::gen::inRange<size_t>(0, distinct.size() + 1);
  std::vector<Version> winners;  // tombstones included: R1
  for (const auto part : {std::span(shuffled).first(cut), std::span(shuffled).subspan(cut)}) {
    const Merged merged = MergeSlice(rules, nullptr, part);
    if (merged.outcome != Merged::Outcome::kAbsent) winners.push_back(merged.winner);
  }
  RC_ASSERT(ShownId(MergeSlice(rules, nullptr, winners)) == all);
}

/// Partial rows: a column comes from the highest version that has it, above the highest delete.
void CheckPartialHistory() {
  OrderingOf ordering(ColumnType::kLong);
  History history = AnyHistory(ordering, false);
  constexpr uint32_t kAll = 0b111;
  std::vector<uint32_t> columns;  // a set of three columns per version; 0 says all
  for (Version& version : history.versions) {
    if (version.op == Op::kUpsert) version.columns = *rc::gen::inRange<uint32_t>(0, kAll);
    columns.push_back(version.columns == 0 ? kAll : version.columns);
  }
  const Rules rules = MakeProfile("event-time", EventTimeSettings())->read;
  const Merged merged = MergeHistory(rules, history.versions);

  std::vector<Version> arrived = history.versions;
  std::stable_sort(arrived.begin(), arrived.end(),
                   [](const Version& a, const Version& b) { return a.place < b.place; });
  // By value, then by arrival: the last delete, and what is above it.
  std::stable_sort(arrived.begin(), arrived.end(), [](const Version& a, const Version& b) {
    return CompareByValue(a.ordering, b.ordering) < 0;
  });
  std::array<std::optional<RowHandle>, 3> expected;
  for (const Version& version : arrived) {
    for (size_t column = 0; column < 3; ++column) {
      if (version.op == Op::kDelete) {
        expected[column].reset();
      } else if ((columns[version.row] >> column & 1) != 0) {
        expected[column] = version.row;
      }
    }
  }
  const bool is_there = !arrived.empty() && arrived.back().op == Op::kUpsert;
  RC_ASSERT(merged.is_live() == is_there);
  if (!is_there) return;
  for (size_t column = 0; column < 3; ++column) {
    std::optional<RowHandle> shown;
    std::vector<Version> layers = merged.layers;
    if (layers.empty()) layers.push_back(merged.winner);
    for (const Version& layer : layers) {
      if (!shown && (columns[layer.row] >> column & 1) != 0) shown = layer.row;
    }
    RC_ASSERT(shown == expected[column]);
  }
}

RC_GTEST_PROP(OracleProperty, PartialRowsGiveEachColumnItsNewestValue, ()) {
  for (int round = 0; round < kRounds; ++round) CheckPartialHistory();
}

}  // namespace
}  // namespace tidemark::merge
