// Releases against slow readings of their own rules (the log merge and the base merge of each,
// written down once more), and the audit against the difference of two such readings: over every
// order and every split between base, log and flush.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "merge/judge.h"
#include "support/merge_events.h"
#include "support/merge_oracle.h"

namespace tidemark::merge {
namespace {

using support::AsFlushed;
using support::ByTheRules;
using support::DateDeletes;
using support::EventTimeSettings;
using support::Fact;
using support::NumberFlushes;
using support::SevenEvents;
using support::ShownId;

enum class Reading { k014, k102, k11 };

/// How a release merges a table that orders by event time.
class Oracle {
 public:
  Oracle(Reading reading, ColumnType type) : reading_(reading) {
    const bool has_two_classes = type == ColumnType::kString || type == ColumnType::kDecimalFixed ||
                                 type == ColumnType::kDate;
    is_one_class_ = reading == Reading::k11 || !has_two_classes;
  }

  /// The row of a slice; nullopt: none.
  std::optional<Fact> Row(const std::optional<Fact>& base, const std::vector<Fact>& log) const {
    std::optional<Fact> entry;
    for (const Fact& fact : log) entry = entry ? InLog(*entry, fact) : fact;
    if (!entry) return base;
    if (base) {
      const bool is_uncompared = entry->is_delete && reading_ == Reading::k014;
      if (!is_uncompared && *base->value > *entry->value) return base;
    }
    return entry->is_delete ? std::nullopt : entry;
  }

 private:
  Fact InLog(const Fact& entry, const Fact& next) const {
    const bool is_newer_lower = *entry.value > *next.value;
    if (next.is_delete) {
      // Two deletes out of delete blocks have one class; 1.0.2 has converted the one it kept.
      const bool can_compare = is_one_class_ || (entry.is_delete && reading_ == Reading::k014);
      return can_compare && is_newer_lower ? entry : next;
    }
    if (entry.is_delete && reading_ == Reading::k014) return next;
    return is_newer_lower ? entry : next;
  }

  Reading reading_;
  bool is_one_class_ = false;
};

std::optional<int> IdOf(const std::optional<Fact>& fact) {
  return fact ? std::optional(fact->id) : std::nullopt;
}

Profile ProfileOf(Reading reading) {
  switch (reading) {
    case Reading::k014: return *MakeProfile("hudi-0.14", EventTimeSettings());
    case Reading::k102: return *MakeProfile("hudi-1.0.2", EventTimeSettings(Payload::kNone, 8));
    default: return *MakeProfile("hudi-1.1", EventTimeSettings(Payload::kNone, 9));
  }
}

/// Events in the order they lie in files, as facts and as versions.
struct Arrived {
  std::vector<Fact> facts;
  std::vector<Version> versions;
};

/// The events of `order`; a bit of `cuts` ends a flush. A flush writes its data first.
template <typename Order>
Arrived Flushed(const SevenEvents& seven, const Order& order, unsigned cuts) {
  std::vector<uint32_t> flushes(order.size());
  NumberFlushes(0, cuts, flushes);
  Arrived arrived;
  for (size_t i = 0; i < order.size(); ++i) {
    arrived.facts.push_back(seven.facts[order[i]]);
    Version version = seven.versions[order[i]];
    version.place = {flushes[i], flushes[i], version.op == Op::kDelete, static_cast<uint32_t>(i)};
    arrived.versions.push_back(version);
  }
  arrived.facts = AsFlushed(arrived.facts, flushes);
  std::stable_sort(arrived.versions.begin(), arrived.versions.end(),
                   [](const Version& a, const Version& b) { return a.place < b.place; });
  return arrived;
}

std::vector<Fact> Part(const std::vector<Fact>& facts, size_t begin, size_t end) {
  return {facts.begin() + static_cast<ptrdiff_t>(begin),
          facts.begin() + static_cast<ptrdiff_t>(end)};
}

/// The base file's copy of a fact's record.
std::optional<Version> BaseRow(const SevenEvents& seven, const Arrived& arrived,
                               const std::optional<Fact>& fact) {
  if (!fact) return std::nullopt;
  Version row = seven.versions[static_cast<size_t>(fact->id)];
  for (const Version& version : arrived.versions) {
    if (version.row == row.row) row.place = {version.place.commit, 0, 0, 0};
  }
  return row;
}

class ReleaseOracleTest : public testing::TestWithParam<std::tuple<Reading, ColumnType>> {};

TEST_P(ReleaseOracleTest, EveryOrderAtEverySplitBetweenBaseLogAndFlush) {
  const auto [reading, type] = GetParam();
  const Profile profile = ProfileOf(reading);
  const Oracle oracle(reading, type);
  const SevenEvents seven(type,
                          reading == Reading::k11 ? DateDeletes::kAsInt : DateDeletes::kAsDate);
  std::array<size_t, 7> order = {0, 1, 2, 3, 4, 5, 6};
  do {
    for (unsigned cuts = 0; cuts < 64; ++cuts) {
      const Arrived arrived = Flushed(seven, order, cuts);
      for (size_t in_base = 0; in_base <= 7; ++in_base) {
        const bool is_inside_flush = in_base > 0 && in_base < 7 && (cuts >> (in_base - 1) & 1) == 0;
        if (is_inside_flush) continue;
        const auto base = oracle.Row(std::nullopt, Part(arrived.facts, 0, in_base));
        const std::span<const Version> versions(arrived.versions);
        const auto row = BaseRow(seven, arrived, base);
        ASSERT_EQ(ShownId(MergeSlice(profile.read, nullptr, versions.first(in_base))), IdOf(base));
        ASSERT_EQ(
            ShownId(MergeSlice(profile.read, row ? &*row : nullptr, versions.subspan(in_base))),
            IdOf(oracle.Row(base, Part(arrived.facts, in_base, 7))))
            << "cuts=" << cuts << " in_base=" << in_base
            << " order=" << testing::PrintToString(order);
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

// Where 1.0.2 throws (decimals and dates behind a delete) there is nothing to compare with.
INSTANTIATE_TEST_SUITE_P(Releases, ReleaseOracleTest, testing::ValuesIn([] {
                           std::vector<std::tuple<Reading, ColumnType>> all;
                           for (const ColumnType type : support::kSevenTypes) {
                             all.emplace_back(Reading::k014, type);
                             if (type != ColumnType::kDecimalFixed && type != ColumnType::kDate) {
                               all.emplace_back(Reading::k102, type);
                             }
                             all.emplace_back(Reading::k11, type);
                           }
                           return all;
                         }()),
                         [](const auto& instance) {
                           const Reading reading = std::get<0>(instance.param);
                           std::string name = reading == Reading::k014   ? "Hudi014"
                                              : reading == Reading::k102 ? "Hudi102"
                                                                         : "Hudi11";
                           for (const char c : ColumnTypeName(std::get<1>(instance.param))) {
                             if (c != '-') name += c;
                           }
                           return name;
                         });

/// What must be told of one reader.
std::optional<FindingKind> Difference(std::optional<int> right, std::optional<int> shown) {
  if (right == shown) return std::nullopt;
  if (!shown) return FindingKind::kLostRow;
  return right ? FindingKind::kStaleRow : FindingKind::kResurrectedRow;
}

/// A table that 0.14 compacted twice, after the first `first` and `second` events.
class CompactedTwice {
 public:
  CompactedTwice(const SevenEvents& seven, const Arrived& arrived, const Oracle& writer,
                 size_t first, size_t second)
      : older_(2) {
    const std::span<const Version> versions(arrived.versions);
    const auto base = writer.Row(std::nullopt, Part(arrived.facts, 0, first));
    base_ = writer.Row(base, Part(arrived.facts, first, second));
    log_ = Part(arrived.facts, second, arrived.facts.size());
    older_[0].log = versions.first(first);
    older_[1].base = BaseRow(seven, arrived, base);
    older_[1].log = versions.subspan(first, second - first);
    older_[1].base_writer = BaseWriter::kCompaction;
    older_[1].base_commit = 100;
    slice_.base = BaseRow(seven, arrived, base_);
    slice_.log = versions.subspan(second);
    slice_.base_writer = BaseWriter::kCompaction;
    slice_.base_commit = 200;
  }

  KeyVersions key() const { return {slice_, older_}; }
  std::optional<int> ShownBy(const Oracle& reader) const { return IdOf(reader.Row(base_, log_)); }
  /// Event time over what the current slice holds.
  std::optional<int> RightInSlice() const {
    std::vector<Fact> visible;
    if (base_) visible.push_back(*base_);
    visible.insert(visible.end(), log_.begin(), log_.end());
    return ByTheRules(visible);
  }

 private:
  std::optional<Fact> base_;
  std::vector<Fact> log_;
  std::vector<SliceVersions> older_;
  SliceVersions slice_;
};

class AuditOracleTest : public testing::TestWithParam<ColumnType> {
 protected:
  AuditOracleTest() : seven_(GetParam()) {
    readings_ = {Reading::k014};
    if (GetParam() != ColumnType::kDate) readings_.push_back(Reading::k11);  // throws on 0.14's
    std::vector<Profile> readers;
    for (const Reading reading : readings_) {
      readers.push_back(ProfileOf(reading));
      oracles_.emplace_back(reading, GetParam());
    }
    judge_.emplace(*MakeProfile("event-time", EventTimeSettings()), readers);
  }

  void Check(const Arrived& arrived, size_t first, size_t second) {
    const CompactedTwice table(seven_, arrived, oracles_[0], first, second);
    findings_.clear();
    const auto right = ShownId(judge_->Judge(table.key(), findings_));
    ASSERT_EQ(right, ByTheRules(arrived.facts));
    size_t expected = 0;
    for (size_t i = 0; i < oracles_.size(); ++i) {
      const auto kind = Difference(right, table.ShownBy(oracles_[i]));
      const std::string& profile = judge_->readers()[i].name;
      const auto told =
          std::find_if(findings_.begin(), findings_.end(), [&](const MergeFinding& finding) {
            return finding.severity == Severity::kError && finding.profile == profile;
          });
      ASSERT_EQ(told != findings_.end(), kind.has_value()) << profile;
      if (!kind) continue;
      ++expected;
      ASSERT_EQ(told->kind, *kind) << profile;
      ASSERT_EQ(told->rests_on_history, right != table.RightInSlice()) << told->explanation;
      ASSERT_EQ(told->is_repairable, !told->rests_on_history);
      ASSERT_EQ(told->past_commit.has_value(), told->rests_on_history) << told->explanation;
    }
    const auto errors = std::count_if(
        findings_.begin(), findings_.end(),
        [](const MergeFinding& finding) { return finding.severity == Severity::kError; });
    ASSERT_EQ(static_cast<size_t>(errors), expected);
    differences_ += expected;
  }

  SevenEvents seven_;
  std::vector<Reading> readings_;
  std::vector<Oracle> oracles_;
  std::optional<KeyJudge> judge_;
  std::vector<MergeFinding> findings_;
  size_t differences_ = 0;
};

TEST_P(AuditOracleTest, TellsExactlyTheDifferenceAfterTwoCompactions) {
  std::array<size_t, 5> order = {0, 1, 3, 5, 6};  // I1, U3, D2, D4, I0
  do {
    for (unsigned cuts = 0; cuts < 16; ++cuts) {
      const Arrived arrived = Flushed(seven_, order, cuts);
      const auto is_boundary = [&](size_t i) {
        return i == 0 || i == order.size() || (cuts >> (i - 1) & 1) != 0;
      };
      for (size_t first = 0; first <= order.size(); ++first) {
        for (size_t second = first; second <= order.size(); ++second) {
          if (!is_boundary(first) || !is_boundary(second)) continue;
          Check(arrived, first, second);
          ASSERT_FALSE(HasFatalFailure()) << testing::PrintToString(order) << " cuts=" << cuts
                                          << " first=" << first << " second=" << second;
        }
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_GT(differences_, 1000u);
}

INSTANTIATE_TEST_SUITE_P(SevenTypes, AuditOracleTest, testing::ValuesIn(support::kSevenTypes),
                         [](const auto& instance) {
                           std::string name(ColumnTypeName(instance.param));
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace tidemark::merge
