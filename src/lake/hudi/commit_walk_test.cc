#include "lake/hudi/commit_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "storage/local_store.h"
#include "support/hudi_table.h"
#include "support/result_matchers.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using CheckpointWalkTest = HudiTableTest;

TEST_F(CheckpointWalkTest, TheNewestCommitsCheckpointIsFound) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", CommitAt(2));
  Write("003.commit.requested", "");
  Write("003.inflight", CommitAt(3));
  ASSERT_OK_ASSIGN(const auto search, Find());
  ASSERT_TRUE(search.found.has_value());
  EXPECT_EQ(search.found->instant, "002");
  EXPECT_EQ(search.found->action, "commit");
  EXPECT_EQ(search.found->completion, std::nullopt);
  EXPECT_EQ(search.found->commit_depth, 0);
  EXPECT_FALSE(search.found->is_archived);
  EXPECT_EQ(search.found->committed_at, std::nullopt);
  EXPECT_EQ(search.found->checkpoint.kind, CheckpointKind::kKafka);
  EXPECT_EQ(search.commits_examined, 1);
  EXPECT_FALSE(search.is_depth_exhausted);
  EXPECT_THAT(search.findings, IsEmpty());
}

TEST_F(CheckpointWalkTest, CommitsWithoutCheckpointArePassedOverAndCounted) {
  Properties(2);
  Write("timeline/001_002.commit", CommitAt(1));
  Write("timeline/003_004.commit", kNoCheckpoint);
  Write("timeline/005_006.replacecommit", kNoCheckpoint);
  Write("timeline/007_008.clean", "not read");
  ASSERT_OK_ASSIGN(const auto search, Find());
  ASSERT_TRUE(search.found.has_value());
  EXPECT_EQ(search.found->completion, "002");
  EXPECT_EQ(search.found->commit_depth, 2);
  EXPECT_EQ(search.commits_examined, 3);
}

TEST_F(CheckpointWalkTest, ATableThatStreamersNeverWroteHasNone) {
  Properties(1);
  EXPECT_EQ(Found(), "none");
  Write("001.commit", kNoCheckpoint);
  ASSERT_OK_ASSIGN(const auto search, Find());
  EXPECT_FALSE(search.found.has_value());
  EXPECT_EQ(search.commits_examined, 1);
  EXPECT_FALSE(search.is_depth_exhausted);
}

TEST_F(CheckpointWalkTest, AnEmptyCheckpointIsNone) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", JsonCommit(std::string(kStreamerKeyV1), ""));
  EXPECT_EQ(Found(), "001 orders,0:1 depth 1; changed 001");
}

TEST_F(CheckpointWalkTest, TheBoundOnDepthEndsTheWalkAndSaysSo) {
  Properties(1);
  for (int i = 100; i < 201; ++i) Write(std::to_string(i) + ".commit", kNoCheckpoint);
  EXPECT_EQ(Found(), "none, exhausted") << "the archive may hold more";
  Write("099.commit", CommitAt(1));
  EXPECT_EQ(Found(), "none, exhausted");
  ASSERT_OK_ASSIGN(const auto search, Find());
  EXPECT_EQ(search.commits_examined, 101);
  EXPECT_EQ(Found({.commit_depth_max = 101}), "099 orders,0:1 depth 101; changed 099");
  Remove("200.commit");
  EXPECT_EQ(Found(), "099 orders,0:1 depth 100; changed 099");
}

TEST_F(CheckpointWalkTest, DepthZeroLooksAtTheNewestCommitOnly) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  EXPECT_EQ(Found({.commit_depth_max = 0, .with_last_change = false}),
            "001 orders,0:1 depth 0; change unknown");
  Write("002.commit", kNoCheckpoint);
  EXPECT_EQ(Found({.commit_depth_max = 0}), "none, exhausted");
}

TEST_F(CheckpointWalkTest, OnMergeOnReadOnlyDeltaCommitsCountOnceThereIsOne) {
  MergeOnRead(2);
  Write("timeline/001_002.commit", CommitAt(1));
  EXPECT_EQ(Found({.with_last_change = false}), "001 orders,0:1 depth 0; change unknown");
  Write("timeline/003.deltacommit.requested", "");
  EXPECT_EQ(Found({.with_last_change = false}), "001 orders,0:1 depth 0; change unknown");
  Write("timeline/004_005.deltacommit", CommitAt(4));
  Write("timeline/006.compaction.requested", "");
  Write("timeline/006_007.commit", kNoCheckpoint);
  Write("timeline/008_009.replacecommit", CommitAt(8));
  EXPECT_EQ(Found({.with_last_change = false}), "004 orders,0:4 depth 0; change unknown");
  Write("timeline/010_011.deltacommit", kNoCheckpoint);
  EXPECT_EQ(Found({.with_last_change = false}), "004 orders,0:4 depth 1; change unknown");
}

TEST_F(CheckpointWalkTest, ACompletedLogCompactionIsADeltaCommitToo) {
  MergeOnRead(1);
  Write("001.deltacommit", CommitAt(1));
  Write("002.logcompaction.requested", "");
  Write("002.deltacommit", kNoCheckpoint);
  EXPECT_EQ(Found({.with_last_change = false}), "001 orders,0:1 depth 1; change unknown");
}

TEST_F(CheckpointWalkTest, ALegacyInstantOfLayoutTwoIsReadAsWhatItIs) {
  Properties(2);
  Write("timeline/001.commit", CommitAt(1));
  EXPECT_EQ(Found({.with_last_change = false}), "001 orders,0:1 depth 0; change unknown");
  // A body that an upgrade could not rewrite stays where layout 1 had it; Hudi does not see it.
  Write("009.commit", CommitAt(9));
  EXPECT_EQ(Found({.with_last_change = false}), "001 orders,0:1 depth 0; change unknown");
}

TEST_F(CheckpointWalkTest, AnInterruptedRestoreLeavesWhatIsStillThere) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("001.savepoint.inflight", "");
  Write("001.savepoint", "");
  Write("004.restore.requested", "");
  Write("004.restore.inflight", "");
  Write("005.rollback.requested", "");
  Write("005.rollback.inflight", "");
  EXPECT_EQ(Found({.with_last_change = false}), "001 orders,0:1 depth 0; change unknown");
}

TEST_F(CheckpointWalkTest, TheNewestOfForeignAndStreamerCheckpointsCounts) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", JsonCommit(std::string(kSparkSinkKey), R"({"q":"7"})"));
  ASSERT_OK_ASSIGN(const auto search, Find());
  EXPECT_EQ(search.found->checkpoint.kind, CheckpointKind::kSparkBatch);
  EXPECT_EQ(search.last_change->instant, "002");
  Write("003.commit", CommitAt(3));
  EXPECT_EQ(Found(), "003 orders,0:3 depth 0; changed 003");
}

TEST_F(CheckpointWalkTest, WritersOfAMapAreToldApart) {
  Properties(1);
  Write("001.commit",
        JsonCommit(std::string(kStreamerKeyV1), R"({"w1":"orders,0:4","w2":"orders,0:5"})"));
  ASSERT_OK_ASSIGN(const auto search, Find());
  EXPECT_THAT(search.found->checkpoint.topics, ElementsAre(TopicOffsets{"orders", {{0, 4}}, "w1"},
                                                           TopicOffsets{"orders", {{0, 5}}, "w2"}));
}

using DamagedCommitTest = HudiTableTest;

TEST_F(DamagedCommitTest, ATruncatedNewestCommitIsNamedAndPassedOver) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  const std::string body = CommitAt(2);
  for (size_t size = 1; size < body.size(); ++size) {
    Write("002.commit", body.substr(0, size));
    ASSERT_OK_ASSIGN(const auto search, Find({.with_last_change = false}));
    ASSERT_TRUE(search.found.has_value());
    EXPECT_EQ(search.found->checkpoint.value, "orders,0:1") << size;
    EXPECT_EQ(search.found->commit_depth, 1);
    EXPECT_EQ(search.commits_unreadable, 1);
    EXPECT_THAT(search.findings, ElementsAre(AllOf(Field(&Finding::kind, "unreadable_commit"),
                                                   Field(&Finding::place, ".hoodie/002.commit"))));
  }
}

TEST_F(DamagedCommitTest, ABodyStillBeingWrittenIsReadAgain) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", CommitAt(2).substr(0, 50));
  store_.before_read = [&, reads = 0](std::string_view key) mutable {
    if (key == ".hoodie/002.commit" && ++reads == 2) Write("002.commit", CommitAt(2));
  };
  EXPECT_EQ(Found({.with_last_change = false}), "002 orders,0:2 depth 0; change unknown");
}

TEST_F(DamagedCommitTest, AnEmptyCommitIsEmptyMetadata) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", "");
  EXPECT_EQ(Found({.with_last_change = false}), "001 orders,0:1 depth 1; change unknown");
  EXPECT_THAT(FindingKinds(), ElementsAre("empty_commit"));
  // Hudi takes it for a commit without anything, so it hides no checkpoint.
  ASSERT_OK_ASSIGN(const auto search, Find());
  EXPECT_EQ(search.commits_unreadable, 0);
}

TEST_F(DamagedCommitTest, OnlyDamageBeforeTheEndOfTheWalkIsCounted) {
  Properties(1);
  Write("001.commit", kNoCheckpoint);
  Write("002.commit", "{");
  Write("003.commit", "PAR1");
  ASSERT_OK_ASSIGN(const auto search, Find());
  EXPECT_FALSE(search.found.has_value());
  EXPECT_EQ(search.commits_unreadable, 2);
  EXPECT_EQ(search.commits_examined, 3);
}

TEST_F(DamagedCommitTest, AnUnknownActionIsNamedAndDoesNotHinder) {
  Properties(2);
  Write("timeline/20240101000000000_20240101000001000.commit", CommitAt(1));
  Write("timeline/20240101000002000_20240101000003000.vacuum", "?");
  Write("timeline/junk", "?");
  EXPECT_THAT(FindingKinds(), ElementsAre("unknown_action"));
  ASSERT_OK_ASSIGN(const Table table, Open());
  ASSERT_OK_ASSIGN(const Timeline timeline, table.ReadTimeline({}, Hurry()));
  EXPECT_EQ(timeline.instants.size(), 2u);
  EXPECT_EQ(timeline.ignored_files, 1u);
}

TEST_F(DamagedCommitTest, AnUnreadableCheckpointEndsTheWalkAsHudisDoes) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", JsonCommit(std::string(kStreamerKeyV1), "orders,0:"));
  ASSERT_OK_ASSIGN(const auto search, Find());
  ASSERT_TRUE(search.found.has_value());
  EXPECT_EQ(search.found->instant, "002");
  EXPECT_EQ(search.found->checkpoint.kind, CheckpointKind::kOther);
  EXPECT_EQ(search.found->checkpoint.defect, "offset is no number text=''");
  EXPECT_THAT(search.findings,
              ElementsAre(Finding{"unreadable_checkpoint", ".hoodie/002.commit",
                                  "offset is no number text='' key=deltastreamer.checkpoint.key"}));
}

TEST_F(DamagedCommitTest, AResetKeyAloneIsAPositionWithAFinding) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", JsonCommit(std::string(kStreamerResetKeyV1), "orders,0:0"));
  EXPECT_EQ(Found({.with_last_change = false}), "002 orders,0:0 depth 0; change unknown");
  EXPECT_THAT(FindingKinds(), ElementsAre("reset_checkpoint_only"));
}

using LastChangeTest = HudiTableTest;

TEST_F(LastChangeTest, ACheckpointCopiedForwardIsAsOldAsItsFirstCommit) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", CommitAt(2));
  Write("003.commit", kNoCheckpoint);
  // Another writer carries it on under the other key.
  Write("004.commit", JsonCommit(std::string(kStreamerKeyV2), Offsets(2)));
  Write("005.commit", CommitAt(2));
  EXPECT_EQ(Found(), "005 orders,0:2 depth 0; changed 002");
  EXPECT_EQ(Found({.with_last_change = false}), "005 orders,0:2 depth 0; change unknown");
  ASSERT_OK_ASSIGN(const auto search, Find());
  EXPECT_EQ(search.commits_examined, 1) << "the search for the change does not count";
  EXPECT_EQ(search.last_change->commit_depth, 3);
}

TEST_F(LastChangeTest, ADifferentValueBeforeMakesTheFoundOneTheChange) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", CommitAt(2));
  Write("003.commit", CommitAt(1));
  EXPECT_EQ(Found(), "003 orders,0:1 depth 0; changed 003");
}

TEST_F(LastChangeTest, AnUnreadableCommitBesideTheChangeHidesIt) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", "{");
  Write("003.commit", CommitAt(3));
  EXPECT_EQ(Found(), "003 orders,0:3 depth 0; change unknown");
  ASSERT_OK_ASSIGN(const auto search, Find());
  EXPECT_EQ(search.commits_unreadable, 0) << "older than what was found";
  Write("001.commit", CommitAt(3));
  Write("000.commit", CommitAt(0));
  EXPECT_EQ(Found(), "003 orders,0:3 depth 0; changed 001");
}

TEST_F(LastChangeTest, TheFirstCommitOfAYoungTableIsTheChange) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", CommitAt(1));
  EXPECT_EQ(Found(), "002 orders,0:1 depth 0; changed 001");
  // An archive that cannot be read may hold an older one.
  Write("archived/.commits_.archive.1_1-0-1", "not a log file");
  EXPECT_EQ(Found(), "002 orders,0:1 depth 0; change unknown");
}

TEST_F(LastChangeTest, TheBoundOnDepthEndsTheSearchForTheChange) {
  Properties(1);
  for (int i = 100; i < 120; ++i) Write(std::to_string(i) + ".commit", CommitAt(7));
  Write("099.commit", CommitAt(6));
  EXPECT_EQ(Found({.commit_depth_max = 19}), "119 orders,0:7 depth 0; changed 100");
  EXPECT_EQ(Found({.commit_depth_max = 18}), "119 orders,0:7 depth 0; change unknown");
}

using ListingRaceTest = HudiTableTest;

TEST_F(ListingRaceTest, ACommitRolledBackWhileWeReadIsNoHole) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", CommitAt(2));
  store_.before_read = [&](std::string_view key) {
    if (key == ".hoodie/002.commit") Remove("002.commit");
  };
  EXPECT_EQ(Found({.with_last_change = false}), "001 orders,0:1 depth 0; change unknown");
}

TEST_F(ListingRaceTest, WhatIsCommittedMeanwhileIsSeenInTheNewListing) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", kNoCheckpoint);
  store_.before_read = [&](std::string_view key) {
    if (key != ".hoodie/001.commit") return;
    Remove("001.commit");
    Write("003.commit", CommitAt(3));
  };
  EXPECT_EQ(Found({.with_last_change = false}), "003 orders,0:3 depth 0; change unknown");
}

TEST_F(ListingRaceTest, ABodyIsReadOnceHoweverOftenTheTimelineIsListed) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", kNoCheckpoint);
  Write("003.commit", kNoCheckpoint);
  store_.before_read = [&](std::string_view key) {
    if (key == ".hoodie/002.commit") Remove("002.commit");
  };
  EXPECT_EQ(Found({.with_last_change = false}), "001 orders,0:1 depth 1; change unknown");
  EXPECT_EQ(std::ranges::count(store_.reads, ".hoodie/003.commit"), 1);
}

TEST_F(ListingRaceTest, ATimelineThatNeverHoldsStillIsAConflict) {
  Properties(1);
  int next = 100;
  Write(std::to_string(next) + ".commit", CommitAt(1));
  store_.before_read = [&](std::string_view key) {
    if (!key.ends_with(".commit")) return;
    Remove(std::to_string(next) + ".commit");
    Write(std::to_string(++next) + ".commit", CommitAt(1));
  };
  EXPECT_THAT(Find(), IsError(ErrorKind::kConflict, HasSubstr("changes faster")));
  EXPECT_EQ(next, 100 + kRelistMax + 1);
}

TEST(ListedCommitTest, WhatIsNoFileIsNamedAndNoRace) {
  namespace fs = std::filesystem;
  std::string folder = fs::temp_directory_path() / "tidemark-walk-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const fs::path timeline = fs::path(folder) / ".hoodie";
  fs::create_directory(timeline);
  std::ofstream(timeline / "hoodie.properties")
      << "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\n";
  std::ofstream(timeline / "001.commit") << CommitAt(1);
  const std::function<void(const fs::path&)> makers[] = {
      [](const fs::path& path) { fs::create_directory(path); },
      [](const fs::path& path) { fs::create_symlink("nowhere", path); },
      [](const fs::path& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); },
  };
  const storage::LocalStore store(folder);
  for (const auto& make : makers) {
    make(timeline / "002.commit");
    ASSERT_OK_ASSIGN(const auto table, Table::Open(store, NoColumns(), Hurry()));
    EXPECT_THAT(table.FindCheckpoint({}, Hurry()),
                IsError(ErrorKind::kCorrupt, HasSubstr(".hoodie/002.commit")));
    fs::remove(timeline / "002.commit");
  }
  fs::remove_all(folder);
}

TEST_F(ListingRaceTest, ATableBeingMovedToAnotherLayoutIsAConflict) {
  Properties(1);
  Write("timeline/001_002.commit", CommitAt(1));
  EXPECT_THAT(Find(), IsError(ErrorKind::kConflict, HasSubstr("moved to another")));
}

using LayoutMismatchTest = HudiTableTest;

TEST_F(LayoutMismatchTest, InstantsInTheFolderOfTheOtherLayoutAreNotATableWithoutCommits) {
  Properties(1, "hoodie.timeline.layout.version=2\n");
  Write("001.commit", CommitAt(1));
  EXPECT_THAT(Find(), IsError(ErrorKind::kCorrupt,
                              AllOf(HasSubstr("hoodie.timeline.layout.version"),
                                    HasSubstr("table_version=6 layout=2"),
                                    HasSubstr("other_folder=.hoodie completed_instants=1"))));
  Properties(2, "hoodie.timeline.layout.version=1\n");
  Remove("001.commit");
  Write("timeline/001_002.commit", CommitAt(1));
  EXPECT_THAT(Find(), IsError(ErrorKind::kCorrupt, AllOf(HasSubstr("table_version=9 layout=1"),
                                                         HasSubstr("other_folder=.hoodie/timeline "
                                                                   "completed_instants=1"))));
}

TEST_F(LayoutMismatchTest, ADowngradeUnderWayIsNotATableWithoutCommits) {
  Properties(2);
  Write("001.commit", CommitAt(1));
  EXPECT_THAT(Find(), IsError(ErrorKind::kConflict, HasSubstr("moved to another")));
}

TEST_F(LayoutMismatchTest, PropertiesThatContradictThemselvesAreNamedBesideWhatIsRead) {
  Properties(1, "hoodie.timeline.layout.version=2\n");
  Write("timeline/001_002.commit", CommitAt(1));
  EXPECT_EQ(Found(), "001 orders,0:1 depth 0; changed 001");
  EXPECT_THAT(FindingKinds(), ElementsAre("layout_mismatch"));
  Write("003.commit", CommitAt(3));
  ASSERT_OK_ASSIGN(const auto search, Find());
  EXPECT_EQ(search.found->instant, "001");
  EXPECT_THAT(search.findings,
              ElementsAre(Field(&Finding::message, HasSubstr("completed_instants=1"))));
}

TEST_F(LayoutMismatchTest, ATableWithoutAnyCommitStaysOne) {
  for (const int layout : {1, 2}) {
    Properties(layout);
    Write("notes.txt", "");
    Write("001.commit.requested", "");
    EXPECT_EQ(Found(), "none");
    EXPECT_THAT(FindingKinds(), IsEmpty());
  }
}

}  // namespace
}  // namespace tidemark::lake::hudi
