// The walk where the active timeline has no answer: on the archives of real tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "lake/hudi/commit_walk.h"
#include "support/hudi_table.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ArchivedCheckpointTest : public HudiTableTest {
 protected:
  /// Copies the `.hoodie` of a table of testdata, without the metadata table.
  void CopyTable(const std::string& name) {
    const std::string below = "hudi/tables/" + name + "/table/.hoodie";
    const std::filesystem::path root = std::string(TIDEMARK_TESTDATA) + "/" + below;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string key = std::filesystem::relative(entry.path(), root);
      if (entry.is_regular_file() && !key.starts_with("metadata/"))
        Write(key, support::ReadTestdata(below + "/" + key));
    }
  }
};

// Two syncs, then eight batch upserts without a checkpoint; four of them and both syncs are
// archived, in logs of layout 1.
constexpr const char* kLogArchive = "fresh_a8_archived";
// The same with twelve, in Parquet files of layout 2.
constexpr const char* kParquetArchive = "a08_archived_cow_v9";

TEST_F(ArchivedCheckpointTest, IsFoundAndCountsAllCommitsBeforeIt) {
  CopyTable(kLogArchive);
  ASSERT_OK_ASSIGN(const auto search, Find());
  ASSERT_TRUE(search.found.has_value());
  EXPECT_EQ(search.found->checkpoint.value, "fresh-a8,0:4,1:2,2:1");
  EXPECT_TRUE(search.found->is_archived);
  EXPECT_EQ(search.found->commit_depth, 8);
  EXPECT_EQ(search.commits_examined, 9);
  EXPECT_EQ(search.last_change->instant, search.found->instant);
  EXPECT_EQ(search.found->committed_at, std::nullopt);
  EXPECT_THAT(search.findings, IsEmpty());
}

TEST_F(ArchivedCheckpointTest, IsNotLookedForWhenNotAsked) {
  CopyTable(kLogArchive);
  ASSERT_OK_ASSIGN(const auto search, Find({.with_archived = false}));
  EXPECT_FALSE(search.found.has_value());
  EXPECT_EQ(search.commits_examined, 4);
  EXPECT_FALSE(search.is_depth_exhausted);
}

TEST_F(ArchivedCheckpointTest, TheBoundOnDepthHoldsInTheArchiveToo) {
  CopyTable(kLogArchive);
  EXPECT_THAT(Found({.commit_depth_max = 8}), HasSubstr("depth 8"));
  for (const int64_t depth : {7, 5, 4, 3, 0}) {
    SCOPED_TRACE(depth);
    ASSERT_OK_ASSIGN(const auto search, Find({.commit_depth_max = depth}));
    EXPECT_FALSE(search.found.has_value());
    EXPECT_TRUE(search.is_depth_exhausted);
    EXPECT_EQ(search.commits_examined, depth + 1);
  }
  // At the bound the archive is not even opened.
  store_.reads.clear();
  ASSERT_THAT(Find({.commit_depth_max = 3}), IsOk());
  EXPECT_THAT(store_.reads, Not(Contains(HasSubstr("archived"))));
}

TEST_F(ArchivedCheckpointTest, AnInstantThatStillStandsInBothIsCountedOnce) {
  CopyTable(kLogArchive);
  ASSERT_OK_ASSIGN(const Table table, Open());
  ASSERT_OK_ASSIGN(const Timeline before, table.ReadTimeline({.with_archived = true}, Hurry()));
  const auto newest_archived =
      std::find_if(before.instants.rbegin(), before.instants.rend(), [](const Instant& instant) {
        return instant.is_archived && instant.action == Action::kCommit;
      });
  ASSERT_NE(newest_archived, before.instants.rend());
  Write(newest_archived->requested + ".commit", kNoCheckpoint);
  EXPECT_THAT(Found(), HasSubstr("depth 8"));
  ASSERT_OK_ASSIGN(const Timeline after, table.ReadTimeline({.with_archived = true}, Hurry()));
  EXPECT_EQ(after.instants.size(), before.instants.size());
}

TEST_F(ArchivedCheckpointTest, TheLastChangeIsFollowedIntoTheArchive) {
  CopyTable(kLogArchive);
  Write("20261130235959999.commit",
        JsonCommit(std::string(kStreamerKeyV1), "fresh-a8,0:4,1:2,2:1"));
  ASSERT_OK_ASSIGN(const auto search, Find());
  EXPECT_EQ(search.found->instant, "20261130235959999");
  EXPECT_FALSE(search.found->is_archived);
  ASSERT_TRUE(search.last_change.has_value());
  EXPECT_TRUE(search.last_change->is_archived);
  EXPECT_EQ(search.last_change->instant, "20261130024846843");
}

TEST_F(ArchivedCheckpointTest, ADamagedArchiveIsNamedAndProvesNothing) {
  CopyTable(kLogArchive);
  for (const char* file :
       {".commits_.archive.1_1-0-1", ".commits_.archive.2_1-0-1", ".commits_.archive.3_1-0-1"})
    Write("archived/" + std::string(file), "no log file at all");
  ASSERT_OK_ASSIGN(const auto search, Find());
  EXPECT_FALSE(search.found.has_value());
  EXPECT_EQ(search.commits_unreadable, 1);
  EXPECT_THAT(search.findings, Not(IsEmpty()));
}

TEST_F(ArchivedCheckpointTest, DamageOfOneFileIsADoubtOnWhatTheOthersSay) {
  CopyTable(kLogArchive);
  Write("archived/.commits_.archive.9_1-0-1", "no log file at all");
  ASSERT_OK_ASSIGN(const auto search, Find());
  ASSERT_TRUE(search.found.has_value());
  EXPECT_EQ(search.found->checkpoint.value, "fresh-a8,0:4,1:2,2:1");
  EXPECT_EQ(search.commits_unreadable, 1);
}

TEST_F(ArchivedCheckpointTest, AFileMergedAwayWhileWeReadStartsTheWalkOver) {
  CopyTable(kLogArchive);
  ASSERT_OK_ASSIGN(const auto bytes,
                   memory_.Read(".hoodie/archived/.commits_.archive.1_1-0-1", Budget()));
  store_.before_read = [&, is_done = false](std::string_view key) mutable {
    if (is_done || key.find(".archive.1_") == key.npos) return;
    is_done = true;
    Write("archived/.commits_.archive.9_1-0-1", bytes);
    Remove("archived/.commits_.archive.1_1-0-1");
  };
  EXPECT_THAT(Found(), HasSubstr("fresh-a8,0:4,1:2,2:1 depth 8"));
}

TEST_F(ArchivedCheckpointTest, WithoutTheParquetModuleTheAnswerIsAnError) {
  CopyTable(kParquetArchive);
  EXPECT_THAT(Find(), IsError(ErrorKind::kUnavailable, HasSubstr("no columns in this test")));
}

TEST_F(ArchivedCheckpointTest, ACheckpointInHandSurvivesAnArchiveThatCannotBeRead) {
  CopyTable(kParquetArchive);
  Write("timeline/20261130235958000_20261130235959999.commit",
        JsonCommit(std::string(kStreamerKeyV2), "orders,0:1"));
  ASSERT_OK_ASSIGN(const auto search, Find());
  EXPECT_EQ(search.found->checkpoint.value, "orders,0:1");
  EXPECT_EQ(search.last_change, std::nullopt);
  EXPECT_THAT(search.findings,
              ElementsAre(AllOf(Field(&Finding::kind, "unreadable_archive"),
                                Field(&Finding::place, ".hoodie/timeline/history"),
                                Field(&Finding::message, HasSubstr("no columns in this test")))));
}

}  // namespace
}  // namespace tidemark::lake::hudi
