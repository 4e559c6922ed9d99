// Every cell of the truth tables, and the number of arrival orders that end wrong. The tables were
// worked out from the rules of each release before any of this was written; where real releases did
// otherwise, the row says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "merge/fold.h"
#include "merge/profile.h"
#include "support/merge_events.h"

namespace tidemark::merge {
namespace {

using support::DateDeletes;
using support::Events;
using support::EventTimeSettings;
using support::SplitEvents;

using Names = std::vector<std::string>;

constexpr ColumnType kMatching[] = {ColumnType::kLong, ColumnType::kInt, ColumnType::kDouble,
                                    ColumnType::kTimestampMicros};
constexpr ColumnType kMismatching[] = {ColumnType::kString, ColumnType::kDecimalFixed,
                                       ColumnType::kDate};

Profile Get(std::string_view name, Payload payload = Payload::kEventTime) {
  const int version = name == "hudi-1.1" || name == "hudi-1.0.2" ? 9 : 6;
  return *MakeProfile(name, EventTimeSettings(payload, version));
}

/// One way for the events of a key to get into a table and out of it again.
class Path {
 public:
  Path(const Profile& profile, ColumnType type, Op delete_op = Op::kDelete)
      : profile_(profile),
        events_(type, delete_op,
                profile.name == "hudi-1.1" ? DateDeletes::kAsInt : DateDeletes::kAsDate) {}

  std::string LogLog(const Names& names) { return Shown(nullptr, Versions(names)); }

  /// No dedup: the flush writes its data first and its deletes last.
  std::string OneFlush(const Names& names) {
    std::vector<Version> flush = Versions(names);
    std::stable_partition(flush.begin(), flush.end(),
                          [](const Version& version) { return version.op != Op::kDelete; });
    for (uint32_t i = 0; i < flush.size(); ++i)
      flush[i].place = {1, 1, flush[i].op == Op::kDelete, i};
    return Shown(nullptr, flush);
  }

  std::string Dedup(const Names& names) {
    const auto left = DedupBatch(profile_.dedup, Versions(names));
    if (!left) return "error";
    return left->op == Op::kUpsert ? events_.NameOf(*left) : "gone";
  }

  /// The first `count` events were compacted together, the rest are in the logs.
  std::string BaseOf(size_t count, const Names& names) {
    const std::vector<Version> all = Versions(names);
    const std::span<const Version> span(all);
    const auto base = CompactSlice(profile_.read, nullptr, span.first(count));
    return Shown(base ? &*base : nullptr, span.subspan(count));
  }

  std::string CompactEach(const Names& names) {
    std::optional<Version> base;
    for (const Version& version : Versions(names)) {
      base = CompactSlice(profile_.read, base ? &*base : nullptr, {&version, 1});
    }
    return base ? events_.NameOf(*base) : "gone";
  }

 private:
  std::vector<Version> Versions(const Names& names) {
    std::vector<Version> versions;
    for (const std::string& name : names) {
      versions.push_back(events_.Of(name, static_cast<uint32_t>(versions.size() + 1)));
    }
    return versions;
  }
  std::string Shown(const Version* base, std::span<const Version> log) {
    return events_.Shown(MergeSlice(profile_.read, base, log));
  }

  Profile profile_;
  Events events_;
};

/// "| a | b |" -> {"a", "b"}; the bold marks of the tables mean nothing here.
Names Cells(std::string_view row) {
  Names cells;
  std::string cell;
  for (const char c : row) {
    if (c == '*') continue;
    if (c != '|') {
      cell += c;
      continue;
    }
    while (cell.starts_with(' ')) cell.erase(0, 1);
    while (cell.ends_with(' ')) cell.pop_back();
    if (!cell.empty()) cells.push_back(cell);
    cell.clear();
  }
  return cells;
}

// Columns: arrival | event time | commit time | 0.14 dedup with _hoodie_is_deleted | with -D | one
// flush without dedup, class matches | … does not | log-log, class matches | … does not |
// base(A)-log(B) | the same with OverwriteWithLatest | 1.x log-log | 1.x base-log.
constexpr std::string_view kTwoEvents[] = {
    "| I1 → U3 | U3 | U3 | U3 | U3 | U3 | U3 | U3 | U3 | U3 | U3 | U3 | U3 |",
    "| U3 → I1 | U3 | I1 | U3 | U3 | U3 | U3 | U3 | U3 | U3 | **I1** | U3 | U3 |",
    "| U3 → D2 | U3 | gone | U3 | U3 | U3 | **gone** | U3 | **gone** | **gone** | **gone** | U3 | "
    "U3 |",
    "| D2 → U3 | U3 | U3 | U3 | U3 | U3 | **gone** | U3 | U3 | U3 | U3 | U3 | U3 |",
    "| U3 → D4 | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone "
    "|",
    "| D4 → U3 | gone | U3 | gone | **U3** | gone | gone | **U3** | **U3** | **U3** | **U3** | "
    "gone | **U3** |",
    "| I1 → D2 | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone "
    "|",
    "| D2 → I1 | gone | I1 | gone | **I1** | gone | gone | **I1** | **I1** | **I1** | **I1** | "
    "gone | **I1** |",
    "| U3 → I0 | U3 | I0 | U3 | U3 | U3 | U3 | U3 | U3 | U3 | **I0** | U3 | U3 |",
    "| D2 → I0 | gone | I0 | gone | **I0** | gone | gone | **I0** | **I0** | **I0** | **I0** | "
    "gone | **I0** |",
    "| D4 → I0 | gone | I0 | gone | **I0** | gone | gone | **I0** | **I0** | **I0** | **I0** | "
    "gone | **I0** |",
    "| I0 → D4 | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone "
    "|",
    "| U3 → U3' | U3' | U3' | U3' | U3' | U3' | U3' | U3' | U3' | U3' | U3' | U3' | U3' |",
    "| U3' → U3 | U3 | U3 | U3 | U3 | U3 | U3 | U3 | U3 | U3 | U3 | U3 | U3 |",
    "| U3 → D3 | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone "
    "|",
    "| D3 → U3 | U3 | U3 | U3 | U3 | **gone** | **gone** | U3 | U3 | U3 | U3 | U3 | U3 |",
    "| D2 → D4 | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone "
    "|",
    "| D4 → D2 | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone | gone "
    "|",
    "| U3 → D∅ | gone | gone | n/a | n/a | gone | gone | gone | gone | gone | gone | gone | gone |",
    "| D∅ → U3 | U3 | U3 | n/a | n/a | **gone** | **gone** | U3 | U3 | U3 | U3 | U3 | U3 |",
    "| D∅ → I0 | I0 | I0 | n/a | n/a | **gone** | **gone** | I0 | I0 | I0 | I0 | I0 | I0 |",
    "| U3 → N | U3 | N | error | error | error | error | error | error | error | error | U3† | U3† "
    "|",
    "| N → U3 | U3 | U3 | error | error | error | error | error | error | error | error | U3† | "
    "U3† |",
    "| D4 → N | gone | N | error | error | error | error | error | error | error | error | gone† | "
    "**N†** |",
    "| N → D4 | gone | gone | error | error | error | error | error | error | error | error | "
    "gone† | gone† |",
};

/// "error" says that the writer of 0.14 refuses the record (its dedup runs on every upsert).
bool IsRefused(const Profile& profile, ColumnType type, const Names& names) {
  for (const std::string& name : names) {
    if (Path(profile, type).Dedup({name}) == "error") return true;
  }
  return false;
}

void ExpectOf014(const std::string& cell, const Names& names, ColumnType type,
                 const std::string& shown, const char* column, const Profile& profile) {
  if (cell == "n/a") return;  // deletes of SQL are a batch of their own
  if (cell == "error") {
    EXPECT_TRUE(IsRefused(profile, type, names)) << column;
  } else {
    EXPECT_EQ(shown, cell) << column << " " << ColumnTypeName(type);
  }
}

TEST(TruthTableTest, EventTimeAndCommitTimeOfTwoEvents) {
  for (const std::string_view row : kTwoEvents) {
    SCOPED_TRACE(row);
    const Names cells = Cells(row);
    ASSERT_EQ(cells.size(), 13u);
    const Names names = SplitEvents(cells[0]);
    for (const ColumnType type : support::kSevenTypes) {
      EXPECT_EQ(Path(Get("event-time"), type).LogLog(names), cells[1]) << ColumnTypeName(type);
      EXPECT_EQ(Path(Get("commit-time"), type).LogLog(names), cells[2]) << ColumnTypeName(type);
    }
  }
}

TEST(TruthTableTest, Release014OnTwoEvents) {
  const Profile p014 = Get("hudi-0.14");
  const Profile overwrite = Get("hudi-0.14", Payload::kOverwriteWithLatest);
  for (const std::string_view row : kTwoEvents) {
    SCOPED_TRACE(row);
    const Names cells = Cells(row);
    const Names names = SplitEvents(cells[0]);
    for (const ColumnType type : support::kSevenTypes) {
      const bool is_matching = std::ranges::find(kMatching, type) != std::end(kMatching);
      const auto expect = [&](size_t column, const std::string& shown, const char* what) {
        ExpectOf014(cells[column], names, type, shown, what, p014);
      };
      expect(3, Path(p014, type, Op::kDeletedRow).Dedup(names), "dedup, flag");
      expect(4, Path(p014, type).Dedup(names), "dedup, -D");
      expect(is_matching ? 5 : 6, Path(p014, type).OneFlush(names), "one flush");
      expect(is_matching ? 7 : 8, Path(p014, type).LogLog(names), "log-log");
      expect(9, Path(p014, type).BaseOf(1, names), "base-log");
      expect(10, Path(overwrite, type).BaseOf(1, names), "overwrite base-log");
      // "OWL log-log" up to 0.15 equals the log-log columns: preCombine compares.
      expect(is_matching ? 7 : 8, Path(overwrite, type).LogLog(names), "overwrite log-log");
    }
  }
}

TEST(TruthTableTest, Release11OnTwoEvents) {
  const Profile p11 = Get("hudi-1.1");
  for (const std::string_view row : kTwoEvents) {
    SCOPED_TRACE(row);
    const Names cells = Cells(row);
    const Names names = SplitEvents(cells[0]);
    for (const ColumnType type : support::kSevenTypes) {
      const auto expect = [&](std::string cell, const std::string& shown, bool throws_on_null) {
        const size_t mark = cell.find("†");
        if (mark != std::string::npos) {
          cell.erase(mark);
          // Null is Integer 0, which has no order with any class but Integer. Dates are Integers
          // too.
          const bool is_int = type == ColumnType::kInt || type == ColumnType::kDate;
          if (!is_int && throws_on_null) cell = "error";
        }
        EXPECT_EQ(shown, cell) << ColumnTypeName(type);
      };
      // A delete block's record is not compared with another class, so N → D4 does not throw in the
      // logs; a null row in the base is not compared with a delete that is not there (D4 → N).
      expect(cells[11], Path(p11, type).LogLog(names), names != Names{"N", "D4"});
      expect(cells[12], Path(p11, type).BaseOf(1, names), names != Names{"D4", "N"});
    }
  }
}

TEST(TruthTableTest, Release102OnTwoEventsWhereItCanCompare) {
  const Profile p102 = *MakeProfile("hudi-1.0.2", EventTimeSettings(Payload::kNone, 8));
  for (const std::string_view row : kTwoEvents) {
    SCOPED_TRACE(row);
    const Names cells = Cells(row);
    const Names names = SplitEvents(cells[0]);
    if (names[0] == "N" || names[1] == "N" || names[0] == "D∅") continue;  // below
    for (const ColumnType type : kMatching) {
      EXPECT_EQ(Path(p102, type).LogLog(names), cells[11]) << ColumnTypeName(type);
      EXPECT_EQ(Path(p102, type).BaseOf(1, names), cells[12]) << ColumnTypeName(type);
    }
  }
}

TEST(TruthTableTest, Release102ThrowsOnDataAfterADeleteWithoutValue) {
  const Profile p102 = *MakeProfile("hudi-1.0.2", EventTimeSettings(Payload::kNone, 8));
  EXPECT_EQ(Path(p102, ColumnType::kLong).LogLog({"D∅", "U3"}), "error");
  EXPECT_EQ(Path(p102, ColumnType::kInt).LogLog({"D∅", "U3"}), "U3");
  EXPECT_EQ(Path(p102, ColumnType::kLong).BaseOf(1, {"I1", "D∅"}), "gone");
}

// Columns: arrival | event time | commit time | dedup flag | dedup -D | one flush ok | … mis |
// log-log ok | … mis | base = 1st, ok | … mis | base = first two, ok | … mis | compact each | 1.x
// log-log | 1.x compact each. The two mis columns of base come from real tables: what meets in the
// log merges as log-log, so I1→U3→D2 is lost behind a base of one, and U3→D2→I1 comes back behind a
// base of two.
constexpr std::string_view kThreeEvents[] = {
    "|I1→U3→D2|U3|gone|U3|U3|U3|gone|U3|gone|U3|gone|gone|gone|gone|U3|U3|",
    "|I1→D2→U3|U3|U3|U3|U3|U3|gone|U3|U3|U3|U3|U3|U3|U3|U3|U3|",
    "|U3→I1→D2|U3|gone|U3|U3|U3|gone|U3|gone|gone|gone|gone|gone|gone|U3|U3|",
    "|U3→D2→I1|U3|I1|U3|U3|U3|gone|U3|I1|U3|U3|U3|I1|I1|U3|U3|",
    "|D2→I1→U3|U3|U3|U3|U3|U3|gone|U3|U3|U3|U3|U3|U3|U3|U3|U3|",
    "|D2→U3→I1|U3|I1|U3|U3|U3|gone|U3|U3|U3|U3|U3|U3|U3|U3|U3|",
    "|I1→U3→D4|gone|gone|gone|gone|gone|gone|gone|gone|gone|gone|gone|gone|gone|gone|gone|",
    "|I1→D4→U3|gone|U3|gone|U3|gone|gone|U3|U3|U3|U3|U3|U3|U3|gone|U3|",
    "|U3→I1→D4|gone|gone|gone|gone|gone|gone|gone|gone|gone|gone|gone|gone|gone|gone|gone|",
    "|U3→D4→I1|gone|I1|gone|I1|gone|gone|I1|I1|U3|U3|I1|I1|I1|gone|I1|",
    "|D4→I1→U3|gone|U3|gone|U3|gone|gone|U3|U3|U3|U3|U3|U3|U3|gone|U3|",
    "|D4→U3→I1|gone|I1|gone|U3|gone|gone|U3|U3|U3|U3|U3|U3|U3|gone|U3|",
};

TEST(TruthTableTest, AllArrivalOrdersOfThreeEvents) {
  const Profile p014 = Get("hudi-0.14");
  const Profile p11 = Get("hudi-1.1");
  for (const std::string_view row : kThreeEvents) {
    SCOPED_TRACE(row);
    const Names cells = Cells(row);
    ASSERT_EQ(cells.size(), 16u);
    const Names names = SplitEvents(cells[0]);
    for (const ColumnType type : support::kSevenTypes) {
      const bool is_ok = std::ranges::find(kMatching, type) != std::end(kMatching);
      const std::pair<size_t, std::string> checks[] = {
          {1, Path(Get("event-time"), type).LogLog(names)},
          {2, Path(Get("commit-time"), type).LogLog(names)},
          {3, Path(p014, type, Op::kDeletedRow).Dedup(names)},
          {4, Path(p014, type).Dedup(names)},
          {is_ok ? 5 : 6, Path(p014, type).OneFlush(names)},
          {is_ok ? 7 : 8, Path(p014, type).LogLog(names)},
          {is_ok ? 9 : 10, Path(p014, type).BaseOf(1, names)},
          {is_ok ? 11 : 12, Path(p014, type).BaseOf(2, names)},
          {13, Path(p014, type).CompactEach(names)},
          {14, Path(p11, type).LogLog(names)},
          {15, Path(p11, type).CompactEach(names)},
      };
      for (const auto& [column, shown] : checks) {
        EXPECT_EQ(shown, cells[column]) << "column " << column << " " << ColumnTypeName(type);
      }
    }
  }
}

// Real tables of 1.0.2: a delete of a STRING column always wins over data in the logs, so three
// orders that 1.x gets right in every other type are gone; a compaction each keeps them apart.
TEST(TruthTableTest, Release102LosesStringsInTheLogsOnly) {
  const Profile p102 = *MakeProfile("hudi-1.0.2", EventTimeSettings(Payload::kNone, 8));
  size_t lost = 0;
  for (const std::string_view row : kThreeEvents) {
    SCOPED_TRACE(row);
    const Names cells = Cells(row);
    const Names names = SplitEvents(cells[0]);
    const bool is_lost = names == Names{"I1", "U3", "D2"} || names == Names{"U3", "I1", "D2"} ||
                         names == Names{"U3", "D2", "I1"};
    const std::string shown = Path(p102, ColumnType::kString).LogLog(names);
    if (is_lost) {
      ++lost;
      EXPECT_EQ(shown, "gone");
    } else {
      EXPECT_EQ(shown, cells[14]);
    }
    EXPECT_EQ(Path(p102, ColumnType::kString).CompactEach(names), cells[15]);
    for (const ColumnType type : kMatching) {
      EXPECT_EQ(Path(p102, type).LogLog(names), cells[14]);
      EXPECT_EQ(Path(p102, type).CompactEach(names), cells[15]);
    }
  }
  EXPECT_EQ(lost, 3u);
}

// Columns: events | orders | commit time | 0.14 dedup flag | dedup -D | one flush ok | … mis |
// log-log ok | … mis | base = 1st ok | … mis | compact each | 1.x log-log | 1.x compact each. L is
// data below all others, the table's "N as lowest".
constexpr std::string_view kWrongOrders[] = {
    "| I1,U3,D2 | 6 | 4 | 0 | 0 | 0 | 6 | 0 | 3 | 1 | 2 | 3 | 0 | 0 |",
    "| I1,U3,D4 | 6 | 4 | 0 | 4 | 0 | 0 | 4 | 4 | 4 | 4 | 4 | 0 | 4 |",
    "| I1,U3,D2,I0 | 24 | 18 | 0 | 0 | 0 | 24 | 0 | 12 | 2 | 8 | 12 | 0 | 0 |",
    "| I1,U3,U3',D2 | 24 | 12 | 0 | 0 | 0 | 24 | 0 | 8 | 0 | 8 | 8 | 0 | 0 |",
    "| I1,U3,U3',D3 | 24 | 6 | 0 | 2 | 16 | 16 | 2 | 2 | 2 | 2 | 2 | 0 | 2 |",
    "| I1,U3,D2,D4,I0 | 120 | 72 | 0 | 84 | 0 | 0 | 84 | 72 | 84 | 72 | 72 | 0 | 84 |",
    "| I1,U3,U3',D2,D3,D4,I0 | 5040 | 2880 | 0 | 3240 | 0 | 0 | 3240 | 2880 | 3240 | 2880 | 2880 | "
    "0 | 3240 |",
    "| I1,U3,U3',D2,D3,D4,I0,L | 40320 | 25200 | 0 | 27720 | 0 | 0 | 27720 | 25200 | 27720 | 25200 "
    "| 25200 | 0 | 27720 |",
};

TEST(TruthTableTest, NumberOfArrivalOrdersThatEndWrong) {
  const Profile p014 = Get("hudi-0.14");
  const Profile p11 = Get("hudi-1.1");
  constexpr auto kOk = ColumnType::kLong;
  constexpr auto kMis = ColumnType::kString;
  for (const std::string_view row : kWrongOrders) {
    SCOPED_TRACE(row);
    const Names cells = Cells(row);
    ASSERT_EQ(cells.size(), 14u);
    Path truth(Get("event-time"), kOk);
    Path commit(Get("commit-time"), kOk);
    Path flag(p014, kOk, Op::kDeletedRow);
    Path ok(p014, kOk);
    Path mis(p014, kMis);
    Path one(p11, kMis);
    Names names = SplitEvents(cells[0]);
    std::sort(names.begin(), names.end());
    std::vector<size_t> wrong(14, 0);
    do {
      ++wrong[1];
      const std::string right = truth.LogLog(names);
      const std::string shown[] = {
          commit.LogLog(names), flag.Dedup(names),     ok.Dedup(names),   ok.OneFlush(names),
          mis.OneFlush(names),  ok.LogLog(names),      mis.LogLog(names), ok.BaseOf(1, names),
          mis.BaseOf(1, names), ok.CompactEach(names), one.LogLog(names), one.CompactEach(names),
      };
      for (size_t i = 0; i < std::size(shown); ++i) wrong[i + 2] += shown[i] != right;
    } while (std::next_permutation(names.begin(), names.end()));
    for (size_t i = 1; i < cells.size(); ++i) {
      EXPECT_EQ(std::to_string(wrong[i]), cells[i]) << "column " << i;
    }
  }
}

}  // namespace
}  // namespace tidemark::merge
