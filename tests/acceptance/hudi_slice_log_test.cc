// The log blocks of tables in testdata/hudi/tables, written by real Hudi releases: which of them a
// right reader applies, what the plain scan of 0.14 makes of the same files, and whether the
// deletes in them are those of the story.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "columnar/loader.h"
#include "lake/hudi/block_plan.h"
#include "lake/hudi/delete_block.h"
#include "lake/hudi/slice_log.h"
#include "lake/hudi/table.h"
#include "storage/local_store.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using nlohmann::json;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

/// The slices of one table with the blocks of each.
struct TableBlocks {
  std::unique_ptr<storage::LocalStore> store;
  int version = 0;
  TableSlices slices;
  std::vector<SliceLog> logs;  // of each slice
};

Result<TableBlocks> ReadTable(const std::string& name) {
  TableBlocks table;
  table.store = std::make_unique<storage::LocalStore>(std::string(TIDEMARK_TESTDATA) +
                                                      "/hudi/tables/" + name + "/table");
  TRY_ASSIGN(const Table opened, Table::Open(*table.store, columnar::LoadColumnReader, Budget()));
  table.version = opened.properties().version;
  TRY_ASSIGN(table.slices, opened.ReadFileSlices({}, Budget()));
  for (const FileSlice& slice : table.slices.slices) {
    TRY_ASSIGN(auto log, SliceLog::Read(*table.store, slice.logs, {}, Budget()));
    table.logs.push_back(std::move(log));
  }
  return table;
}

/// "group: version KIND fate …" of one slice, in block order, then the order of what applies.
std::string PlanLine(const TableBlocks& table, size_t slice, const BlockRules& rules) {
  const SliceLog& log = table.logs[slice];
  const BlockPlan plan = PlanBlocks(log.blocks(), log.files(), table.slices.instants, rules);
  std::string line = table.slices.slices[slice].group.file_id.substr(0, 8) + ":";
  for (size_t place = 0; place < log.blocks().size(); ++place) {
    const SliceBlock& block = log.blocks()[place];
    line +=
        fmt::format(" {}{}={}", log.files()[block.file].name.version,
                    LogBlockKindName(block.kind).substr(0, 1), BlockFateName(plan.fates[place]));
  }
  line += " /";
  for (const size_t place : plan.order) line += " " + std::to_string(place);
  return line;
}

std::vector<std::string> PlanLines(const std::string& name, bool is_plain_scan) {
  const auto table = ReadTable(name);
  if (!table) return {"error: " + table.error().message};
  const auto rules = is_plain_scan ? PlainScanBlockRules(table->slices.instants, false)
                                   : EventTimeBlockRules(table->version, table->slices.instants);
  std::vector<std::string> lines;
  for (size_t slice = 0; slice < table->logs.size(); ++slice) {
    if (!table->logs[slice].blocks().empty()) lines.push_back(PlanLine(*table, slice, rules));
    EXPECT_THAT(table->logs[slice].findings(), IsEmpty());
  }
  return lines;
}

struct Story {
  std::vector<std::string> right;
  std::vector<std::string> plain_scan;
};

const std::map<std::string, Story> kStories = {
    // The third commit died with its blocks written.
    {"failed_deltacommit_inflight",
     {{"00000000: 1A=applies 2A=uncommitted 2D=uncommitted / 0"},
      {"00000000: 1A=applies 2A=later 2D=hidden / 0"}}},
    // The next write took its instant, rolled the dead one back under a later instant, and wrote:
    // release 0.14.0 shows b1 where b4 is right.
    {"failed_deltacommit_rolled_back",
     {{"00000000: 1A=applies 2A=uncommitted 2D=uncommitted 3C=command 4A=applies / 0 4"},
      {"00000000: 1A=applies 2A=uncommitted 2D=uncommitted 3C=command 4A=hidden / 0"}}},
    // One more commit, and it shows b4 too.
    {"failed_deltacommit_rolled_back_then_commit",
     {{"00000000: 1A=applies 2A=uncommitted 2D=uncommitted 3C=command 4A=applies 5A=applies / 0 4 "
       "5"},
      {"00000000: 1A=applies 2A=uncommitted 2D=uncommitted 3C=command 4A=applies 5A=applies / 0 4 "
       "5"}}},
    // Rolled back after it had committed: its instant is gone from the timeline.
    {"rollback_committed_then_upsert",
     {{"00000000: 1A=applies 2A=uncommitted 2D=uncommitted 3C=command 4A=applies / 0 4"},
      {"00000000: 1A=applies 2A=uncommitted 2D=uncommitted 3C=command 4A=applies / 0 4"}}},
    // Five log commits, their compaction, and one more.
    {"log_compaction",
     {{"00000000: 1A=compacted 2A=compacted 3A=compacted 4A=compacted 5A=compacted "
       "5D=compacted 6A=applies 6D=applies 7A=applies / 6 7 8"},
      {"00000000: 1A=applies 2A=applies 3A=applies 4A=applies 5A=applies 5D=applies 6A=applies "
       "6D=applies 7A=applies / 0 1 2 3 4 5 6 7 8"}}},
    {"parquet_log_blocks",
     {{"00000000: 1P=applies 2P=applies 2D=applies / 0 1 2"},
      {"00000000: 1P=applies 2P=applies 2D=applies / 0 1 2"}}},
};

class HudiSliceLogTest : public ::testing::TestWithParam<std::string> {};

TEST_P(HudiSliceLogTest, TheBlocksApplyAsTheStoryWants) {
  const Story& story = kStories.at(GetParam());
  EXPECT_THAT(PlanLines(GetParam(), false), ElementsAreArray(story.right));
  EXPECT_THAT(PlanLines(GetParam(), true), ElementsAreArray(story.plain_scan));
}

std::vector<std::string> StoryNames() {
  std::vector<std::string> names;
  for (const auto& [name, ignored] : kStories) names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Testdata, HudiSliceLogTest, ::testing::ValuesIn(StoryNames()),
                         [](const auto& tested) { return tested.param; });

/// Every delete of a table that applies: "key type value".
Result<std::multiset<std::string>> DeletesOf(const TableBlocks& table,
                                             std::string (*text)(const DeleteOrdering&)) {
  std::multiset<std::string> deletes;
  for (const SliceLog& log : table.logs) {
    const auto plan = PlanBlocks(log.blocks(), log.files(), table.slices.instants,
                                 EventTimeBlockRules(table.version, table.slices.instants));
    for (const size_t place : plan.order) {
      if (log.blocks()[place].kind != LogBlockKind::kDelete) continue;
      TRY_ASSIGN(const LoadedBlock loaded, log.Load(place, Budget()));
      TRY_ASSIGN(auto records, DeleteRecords::Open(loaded.block));
      while (true) {
        TRY_ASSIGN(const auto record, records.Next());
        if (!record) break;
        deletes.insert(std::string(record->key.value_or("null")) + " " + text(record->ordering));
      }
    }
  }
  return deletes;
}

json Events(const std::string& name) {
  return json::parse(support::ReadTestdata("hudi/tables/" + name + "/fixture.json")).at("events");
}

TEST(HudiDeletesTest, FlinksDecimalsAreThoseOfTheEventsAtScale15) {
  ASSERT_OK_ASSIGN(const auto table, ReadTable("f014_decimal_sep_flag"));
  ASSERT_OK_ASSIGN(const auto deletes, DeletesOf(table, [](const DeleteOrdering& ordering) {
                     int64_t unscaled = 0;
                     for (const char c : ordering.bytes)
                       unscaled = unscaled << 8 | static_cast<unsigned char>(c);
                     EXPECT_EQ(ordering.scale, 15);
                     return std::string(DeleteBranchName(ordering.branch)) + " " +
                            std::to_string(unscaled);
                   }));
  std::multiset<std::string> expected;
  for (const auto& commit : Events("f014_decimal_sep_flag")) {
    for (const auto& event : commit) {
      if (event.at("_hoodie_is_deleted") != true) continue;
      std::string digits = event.at("ts");  // six places
      digits.erase(digits.find('.'), 1);
      expected.insert(event.at("id").dump() + " DecimalWrapper " + digits + std::string(9, '0'));
    }
  }
  EXPECT_EQ(deletes, expected);
  EXPECT_EQ(expected.size(), 12u);
}

TEST(HudiDeletesTest, FlinksDatesAreDays) {
  ASSERT_OK_ASSIGN(const auto table, ReadTable("f014_date_sep_d"));
  ASSERT_OK_ASSIGN(const auto deletes, DeletesOf(table, [](const DeleteOrdering& ordering) {
                     return std::string(DeleteBranchName(ordering.branch)) + " " +
                            std::to_string(ordering.integer);
                   }));
  // Days since 1970: 2025-10-01 and 2025-12-01.
  const std::map<std::string, std::string> days = {{"2025-10-01", "20362"},
                                                   {"2025-12-01", "20423"}};
  std::multiset<std::string> expected;
  for (const auto& commit : Events("f014_date_sep_d")) {
    for (const auto& event : commit) {
      if (event.at("kind") == "-D")
        expected.insert(event.at("id").dump() + " DateWrapper " + days.at(event.at("ts")));
    }
  }
  EXPECT_EQ(deletes, expected);
  EXPECT_EQ(expected.size(), 12u);
}

TEST(HudiDeletesTest, SeveralOrderingFieldsAreAnArray) {
  ASSERT_OK_ASSIGN(const auto table, ReadTable("b_multiord_v9"));
  ASSERT_OK_ASSIGN(const auto deletes, DeletesOf(table, [](const DeleteOrdering& ordering) {
                     std::string text(DeleteBranchName(ordering.branch));
                     for (const auto& item : ordering.items) {
                       text +=
                           " " + std::string(DeleteBranchName(item.branch)) + "=" +
                           (item.branch == DeleteBranch::kString ? std::string(item.bytes)
                                                                 : std::to_string(item.integer));
                     }
                     return text;
                   }));
  EXPECT_EQ(deletes, (std::multiset<std::string>{"d ArrayWrapper LongWrapper=2 StringWrapper=b",
                                                 "e ArrayWrapper LongWrapper=1 StringWrapper=z"}));
}

}  // namespace
}  // namespace tidemark::lake::hudi
