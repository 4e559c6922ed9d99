// The file slices of tables in testdata/hudi/tables, written by real Hudi releases. Expected are
// the names that the writers gave their files, put together by the rules of
// docs/formats/hudi-log.md as the story of each table wants it, and what the commits themselves say
// they wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "columnar/loader.h"
#include "lake/hudi/table.h"
#include "storage/local_store.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using nlohmann::json;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

std::string TablesFolder() {
  return std::string(TIDEMARK_TESTDATA) + "/hudi/tables";
}

std::vector<std::string> TableNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(TablesFolder()))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

/// The time of day of an instant, which is all that differs within a table.
std::string Short(const std::string& instant) {
  return instant.size() == 17 ? instant.substr(8) : instant;
}

/// "partition/group base [base] logs… [flags]"; the latest slice has a star.
std::string LineOf(const FileSlice& slice) {
  std::string line = slice.group.partition + "/" + slice.group.file_id.substr(0, 8) + " " +
                     Short(slice.base_instant) + (slice.base ? " base" : "");
  for (const LogFile& log : slice.logs)
    line += " " + Short(log.name.instant) + "." + std::to_string(log.name.version);
  for (const LogFile& log : slice.cdc_logs) line += " cdc:" + Short(log.name.instant);
  if (slice.pending_compaction) line += " planned:" + Short(*slice.pending_compaction);
  if (slice.replaced_by) line += " replaced:" + Short(*slice.replaced_by);
  return line + (slice.is_latest ? " *" : "");
}

const std::map<std::string, std::vector<std::string>> kSlicesByStory = {
    // Two upserts, then clustering of p1 (replaced by the insert_overwrite before) and p2.
    {"clustering_mor",
     {"p0/0f8fec15 032115825 base replaced:032133559",
      "p1/0bbe74ab 032115825 base replaced:032125062",
      "p1/1118e5f9 032125062 base replaced:032159407", "p1/6081f49e 032159407 base *",
      "p2/6d0b9bd5 032115825 base 032115825.1 032115825.2 replaced:032159407",
      "p2/d984b439 032159407 base *"}},
    {"b2_clustering_done_v9",
     {"p1/3cd1f6ea 030143983 base 030208661.1 030232781.1 replaced:030318843",
      "p1/604978f1 030318843 base *", "p2/6e3098f6 030232781 base replaced:030318843",
      "p2/df7cf8d0 030318843 base 030445510.1 *",
      "p2/f040e04c 030143983 base 030208661.1 replaced:030318843"}},
    // The plan has groups 11d65d0b and 313cdd6e; the last delta commit came after it.
    {"b2_pendingcompaction_v9",
     {"p1/11d65d0b 024907646 base 024924817.1 024938595.1 025000743.1 planned:024952536 *",
      "p2/313cdd6e 024907646 base 024924817.1 025000743.1 planned:024952536 *",
      "p2/c361bb49 024938595 base *"}},
    {"f014_x_compact_pending",
     {"/00000000 030125922 030125922.1 030125922.2 030137541.1 planned:030137541 *",
      "/00000001 030125922 030125922.1 030125922.2 030137541.1 planned:030137541 *",
      "/00000002 030125922 030125922.1 030125922.2 030137541.1 planned:030137541 *",
      "/00000003 030125922 030125922.1 030125922.2 030137541.1 planned:030137541 *"}},
    // INSERT OVERWRITE of the partition north.
    {"f014_x_overwrite",
     {"region=north/00000000 033503692 base *",
      "region=north/00000000 033459717 033459717.1 033459717.2 replaced:033503692",
      "region=north/00000002 033459717 033459717.1 replaced:033503692",
      "region=south/00000001 033459717 033459717.1 033459717.2 *"}},
    {"b2_delete_partition_v9",
     {"p1/253bbd61 025331159 base 025402819.1 025438837.1 replaced:025527960",
      "p2/4c121360 025438837 base *", "p2/f7d28341 025331159 base 025402819.1 *"}},
    {"b2_insert_overwrite_v9",
     {"p1/4b9c3158 025639514 base 025659767.1 025723754.1 *",
      "p2/92e185b2 025639514 base 025659767.1 replaced:025750817", "p2/adeac828 025750817 base *",
      "p2/df3cadac 025723754 base replaced:025750817"}},
    {"insert_overwrite_delete_partition",
     {"p0/0f8fec15 032115825 base replaced:032133559",
      "p1/0bbe74ab 032115825 base replaced:032125062", "p1/1118e5f9 032125062 base *",
      "p2/6d0b9bd5 032115825 base *"}},
    {"b2_logcompaction_v9",
     {"p1/d2ee7e27 024541054 base 024602992.1 024618868.1 024632273.1 024644206.1 *",
      "p2/47de0864 024541054 base 024602992.1 024618868.1 024644206.1 *",
      "p2/7746e2d4 024632273 base *"}},
    {"b2_rollback_v9",
     {"p1/215e37c5 024033345 base 024120937.1 *", "p2/ffba9a58 024033345 base 024120937.1 *"}},
    {"cdc_cow_data_before",
     {"p1/84577b28 032005275 base", "p1/84577b28 032022175 base cdc:032022175",
      "p1/84577b28 032036090 base cdc:032036090 *", "p2/330ac9b2 032005275 base",
      "p2/330ac9b2 032022175 base cdc:032022175 *"}},
    {"b2_urlencode_v9",
     {"part=a%2Fb c/618f312f 022411925 base *",
      "part=a%2Fb c/b96801f6 022016654 base 022257655.1 022411925.1 *",
      "part=d%3Ae%3Df%2520/d4f83e90 022016654 base 022257655.1 022411925.1 *",
      "part=é中/b1092d49 022016654 base 022257655.1 *"}},
    {"b2_slashpart_v9",
     {"2024/01/31/8a0c1f69 022535646 base 022607019.1 022637729.1 *",
      "2024/02/01/c562a518 022535646 base 022607019.1 *", "2024/02/01/f2baa894 022637729 base *"}},
    {"b2_mdt_v9",
     {"p1/8f94ff1d 023151325 base 023500722.1 023651145.1 *", "p2/f58ac6eb 023651145 base *",
      "p2/ffe2806a 023151325 base 023500722.1 *"}},
    // The write that died left its log files on the slice; their blocks do not count.
    {"failed_deltacommit_inflight", {"p1/00000000 030825410 base 030825410.1 030825410.2 *"}},
};

class HudiSlicesTest : public ::testing::TestWithParam<std::string> {
 protected:
  HudiSlicesTest() : store_(TablesFolder() + "/" + GetParam() + "/table") {}

  Result<Table> Open() const { return Table::Open(store_, columnar::LoadColumnReader, Budget()); }

  /// The files outside `.hoodie`, without those that say nothing.
  std::set<std::string> DataFiles() const {
    std::set<std::string> files;
    const std::filesystem::path root = TablesFolder() + "/" + GetParam() + "/table";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string key = entry.path().lexically_relative(root);
      if (!entry.is_regular_file() || key.starts_with(".hoodie/")) continue;
      if (!entry.path().filename().string().starts_with(".hoodie_partition")) files.insert(key);
    }
    return files;
  }

  storage::LocalStore store_;
};

std::set<std::string> FilesOf(const FileSlice& slice) {
  std::set<std::string> files;
  if (slice.base) files.insert(slice.base->key);
  for (const LogFile& log : slice.logs) files.insert(log.key);
  for (const LogFile& log : slice.cdc_logs) files.insert(log.key);
  return files;
}

TEST_P(HudiSlicesTest, EveryFileIsInOneSliceOrSetAsideForAReason) {
  ASSERT_OK_ASSIGN(const Table table, Open());
  ASSERT_OK_ASSIGN(const TableSlices slices,
                   table.ReadFileSlices({.with_orphan_check = true}, Budget()));
  EXPECT_THAT(slices.findings, IsEmpty());
  std::multiset<std::string> seen;
  for (const FileSlice& slice : slices.slices) seen.merge(FilesOf(slice));
  for (const SetAsideFile& file : slices.set_aside) {
    EXPECT_NE(file.reason, SetAsideReason::kUnknown) << file.key;
    EXPECT_NE(file.reason, SetAsideReason::kLater) << file.key;
    seen.insert(file.key);
  }
  const auto files = DataFiles();
  EXPECT_EQ(seen, std::multiset<std::string>(files.begin(), files.end()));
}

TEST_P(HudiSlicesTest, AGroupHasOneLatestSliceUnlessItIsReplaced) {
  ASSERT_OK_ASSIGN(const Table table, Open());
  ASSERT_OK_ASSIGN(const TableSlices slices, table.ReadFileSlices({}, Budget()));
  std::map<FileGroupId, int> latest;
  std::map<FileGroupId, bool> is_replaced;
  for (const FileSlice& slice : slices.slices) {
    latest[slice.group] += slice.is_latest ? 1 : 0;
    is_replaced[slice.group] = slice.replaced_by.has_value();
  }
  for (const auto& [group, count] : latest)
    EXPECT_EQ(count, is_replaced[group] ? 0 : 1) << group.partition << "/" << group.file_id;
}

TEST_P(HudiSlicesTest, TheSlicesAreThoseOfTheStory) {
  const auto story = kSlicesByStory.find(GetParam());
  if (story == kSlicesByStory.end()) return;
  ASSERT_OK_ASSIGN(const Table table, Open());
  ASSERT_OK_ASSIGN(const TableSlices slices, table.ReadFileSlices({}, Budget()));
  std::vector<std::string> lines;
  for (const FileSlice& slice : slices.slices) lines.push_back(LineOf(slice));
  EXPECT_THAT(lines, ElementsAreArray(story->second));
}

/// The commits of layout 1 that are JSON say which files they wrote.
TEST_P(HudiSlicesTest, FilesThatCommitsWroteAreInSlices) {
  ASSERT_OK_ASSIGN(const Table table, Open());
  if (table.properties().layout != 1) return;
  ASSERT_OK_ASSIGN(const Timeline timeline, table.ReadTimeline({}, Budget()));
  ASSERT_OK_ASSIGN(const TableSlices slices, table.ReadFileSlices({}, Budget()));
  std::set<std::string> in_slices;
  for (const FileSlice& slice : slices.slices) in_slices.merge(FilesOf(slice));
  const auto on_storage = DataFiles();
  for (const Instant& instant : timeline.instants) {
    if (instant.state != State::kCompleted || !IsCommitAction(instant.action)) continue;
    ASSERT_OK_ASSIGN(const std::string body, store_.Read(instant.file, Budget()));
    if (body.empty()) continue;
    for (const auto& [partition, stats] : json::parse(body).at("partitionToWriteStats").items()) {
      for (const json& stat : stats) {
        const std::string path = stat.at("path");
        EXPECT_TRUE(in_slices.contains(path) || !on_storage.contains(path)) << path;
      }
    }
  }
}

/// As of every commit: nothing later is in a slice, and each group ends where that commit left it.
TEST_P(HudiSlicesTest, AsOfEachCommitNothingLaterIsThere) {
  ASSERT_OK_ASSIGN(const Table table, Open());
  ASSERT_OK_ASSIGN(const Timeline timeline, table.ReadTimeline({}, Budget()));
  for (const Instant& instant : timeline.instants) {
    if (instant.state != State::kCompleted || !IsCommitAction(instant.action)) continue;
    ASSERT_OK_ASSIGN(const TableSlices slices,
                     table.ReadFileSlices({.as_of = instant.requested}, Budget()));
    EXPECT_EQ(slices.instants.newest(), instant.requested);
    for (const FileSlice& slice : slices.slices) {
      EXPECT_LE(slice.base_instant, instant.requested);
      EXPECT_LE(slice.replaced_by.value_or(""), instant.requested);
      if (table.properties().layout == 1) continue;
      for (const LogFile& log : slice.logs) EXPECT_LE(log.name.instant, instant.requested);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Testdata, HudiSlicesTest, ::testing::ValuesIn(TableNames()),
                         [](const auto& tested) { return tested.param; });

TEST(HudiSlicesStoriesTest, EveryStoryHasItsTable) {
  const auto names = TableNames();
  for (const auto& [name, ignored] : kSlicesByStory)
    EXPECT_TRUE(std::ranges::binary_search(names, name)) << name;
}

}  // namespace
}  // namespace tidemark::lake::hudi
