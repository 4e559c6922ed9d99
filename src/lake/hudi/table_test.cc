#include "lake/hudi/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "lake/hudi/checkpoint.h"
#include "lake/hudi/commit_walk.h"
#include "storage/memory_store.h"
#include "support/result_matchers.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Property;

ColumnReaderSource NoColumns() {
  return []() -> Result<const ColumnReader*> {
    return Fail(ErrorKind::kUnavailable, "no columns in this test");
  };
}

/// Waits cost nothing that a test would notice.
Budget Hurry() {
  Budget budget = Budget::For(std::chrono::minutes(1));
  budget.retry_delay = std::chrono::milliseconds(1);
  return budget;
}

/// A store that does something just before each read, as a writer beside us would.
class WatchedStore final : public storage::ObjectStore {
 public:
  explicit WatchedStore(storage::MemoryStore& store) : store_(store) {}
  std::function<void(std::string_view key)> before_read;
  mutable std::vector<std::string> reads;

  const std::string& uri() const override { return store_.uri(); }
  Result<storage::Listing> List(std::string_view folder, const storage::ListOptions& options,
                                const Budget& budget) const override {
    return store_.List(folder, options, budget);
  }
  Result<std::string> Read(std::string_view key, const Budget& budget) const override {
    reads.emplace_back(key);
    if (before_read) before_read(key);
    return store_.Read(key, budget);
  }
  Result<std::string> ReadRange(std::string_view key, uint64_t offset, uint64_t length,
                                const Budget& budget) const override {
    return store_.ReadRange(key, offset, length, budget);
  }
  Result<storage::ObjectInfo> Stat(std::string_view key, const Budget& budget) const override {
    return store_.Stat(key, budget);
  }
  Status Put(std::string_view key, std::string_view bytes, const Budget& budget) override {
    return store_.Put(key, bytes, budget);
  }
  Status PutIfAbsent(std::string_view key, std::string_view bytes, const Budget& budget) override {
    return store_.PutIfAbsent(key, bytes, budget);
  }
  Status Remove(std::string_view key, const Budget& budget) override {
    return store_.Remove(key, budget);
  }

 private:
  storage::MemoryStore& store_;
};

std::string JsonCommit(const std::string& key, const std::string& value,
                       const std::string& operation = "UPSERT") {
  std::string escaped;
  for (const char c : value) escaped += c == '"' ? std::string("\\\"") : std::string(1, c);
  return "{\"partitionToWriteStats\":{},\"compacted\":false,\"extraMetadata\":{\"schema\":\"\",\"" +
         key + "\":\"" + escaped + "\"},\"operationType\":\"" + operation + "\"}";
}
std::string Offsets(int offset) {
  return "orders,0:" + std::to_string(offset);
}
std::string CommitAt(int offset) {
  return JsonCommit(std::string(kStreamerKeyV1), Offsets(offset));
}
const std::string kNoCheckpoint = R"({"extraMetadata":{"schema":""},"operationType":"UPSERT"})";

/// A table made of the files a test writes.
class HudiTableTest : public ::testing::Test {
 protected:
  void Properties(int layout, const std::string& more = "") {
    Write("hoodie.properties",
          "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\n"
          "hoodie.table.checksum=498511606\nhoodie.table.version=" +
              std::string(layout == 2 ? "9" : "6") + "\n" + more);
  }
  void MergeOnRead(int layout) { Properties(layout, "hoodie.table.type=MERGE_ON_READ\n"); }

  /// A file below `.hoodie`.
  void Write(const std::string& name, const std::string& bytes) {
    ASSERT_THAT(memory_.Put(".hoodie/" + name, bytes, Budget()), IsOk());
  }
  void Remove(const std::string& name) {
    ASSERT_THAT(memory_.Remove(".hoodie/" + name, Budget()), IsOk());
  }

  Result<Table> Open() { return Table::Open(store_, NoColumns(), Hurry()); }
  Result<CheckpointSearch> Find(CheckpointOptions options = {}) {
    auto table = Open();
    if (!table) return std::unexpected(table.error());
    return table->FindCheckpoint(options, Hurry());
  }
  /// "instant value depth" of what was found, "none" else; with "; changed instant" or "; change
  /// unknown" behind it.
  std::string Found(CheckpointOptions options = {}) {
    const auto search = Find(options);
    if (!search) return "error: " + search.error().message;
    if (!search->found) return search->is_depth_exhausted ? "none, exhausted" : "none";
    const CommitPoint& found = *search->found;
    std::string text = found.instant + " " + found.checkpoint.value + " depth " +
                       std::to_string(found.commit_depth);
    text += search->last_change ? "; changed " + search->last_change->instant : "; change unknown";
    return text;
  }
  std::vector<std::string> FindingKinds() {
    std::vector<std::string> kinds;
    const auto search = Find();
    EXPECT_THAT(search, IsOk());
    if (search) {
      for (const Finding& finding : search->findings) kinds.push_back(finding.kind);
    }
    return kinds;
  }

  storage::MemoryStore memory_;
  WatchedStore store_{memory_};
};

using OpenTableTest = HudiTableTest;

TEST_F(OpenTableTest, AFolderWithoutPropertiesIsNoTable) {
  EXPECT_THAT(Open(), IsError(ErrorKind::kNotFound,
                              "no Hudi table is here table=memory://test "
                              "missing=.hoodie/hoodie.properties"));
}

TEST_F(OpenTableTest, TheBackupServesWhileTheMainFileIsAway) {
  Properties(1);
  ASSERT_OK_ASSIGN(const auto bytes, memory_.Read(".hoodie/hoodie.properties", Budget()));
  const std::string defects[] = {"", bytes.substr(0, bytes.size() / 2),
                                 "hoodie.table.name=t\nhoodie.table.checksum=1\n"};
  Write("hoodie.properties.backup", bytes);
  for (const std::string& defect : defects) {
    SCOPED_TRACE(defect);
    Write("hoodie.properties", defect);
    ASSERT_OK_ASSIGN(const Table table, Open());
    EXPECT_EQ(table.properties().version, 6);
  }
  Remove("hoodie.properties");
  EXPECT_THAT(Open(), IsOk());
}

TEST_F(OpenTableTest, LinesThatATornFileLostAreTakenFromTheBackup) {
  Properties(2);
  ASSERT_OK_ASSIGN(const auto bytes, memory_.Read(".hoodie/hoodie.properties", Budget()));
  Write("hoodie.properties.backup", bytes);
  Write("hoodie.properties",
        "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\n"
        "hoodie.table.checksum=498511606\n");
  ASSERT_OK_ASSIGN(const Table table, Open());
  EXPECT_EQ(table.properties().version, 9);
}

TEST_F(OpenTableTest, AnOldTableNeedsNeitherChecksumNorVersion) {
  Write("hoodie.properties", "hoodie.table.name=t\n");
  ASSERT_OK_ASSIGN(const Table table, Open());
  EXPECT_EQ(table.properties().version, 0);
}

TEST_F(OpenTableTest, AnUpdateThatEndsWhileWeLookIsNoMissingTable) {
  store_.before_read = [&](std::string_view key) {
    if (key.ends_with(".backup")) Properties(1);  // the update is over: main is back, backup gone
  };
  EXPECT_THAT(Open(), IsOk());
}

TEST_F(OpenTableTest, UnreadablePropertiesAreCorruptAfterAFewTries) {
  Write("hoodie.properties", "hoodie.table.name=t\nhoodie.table.checksum=1\n");
  EXPECT_THAT(Open(), IsError(ErrorKind::kCorrupt,
                              "memory://test/.hoodie/hoodie.properties: properties checksum does "
                              "not match stored=1 computed=498511606"));
  EXPECT_LE(store_.reads.size(), 8u);
}

TEST_F(OpenTableTest, ANewerTableIsUnsupported) {
  Write("hoodie.properties", "hoodie.table.name=t\nhoodie.table.version=10\n");
  EXPECT_THAT(Open(), IsError(ErrorKind::kUnsupported, HasSubstr("newest_readable=9")));
}

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
  EXPECT_EQ(Found(), "001 orders,0:1 depth 1; change unknown");
}

TEST_F(CheckpointWalkTest, TheBoundOnDepthEndsTheWalkAndSaysSo) {
  Properties(1);
  for (int i = 100; i < 201; ++i) Write(std::to_string(i) + ".commit", kNoCheckpoint);
  EXPECT_EQ(Found(), "none, exhausted") << "the archive may hold more";
  Write("099.commit", CommitAt(1));
  EXPECT_EQ(Found(), "none, exhausted");
  ASSERT_OK_ASSIGN(const auto search, Find());
  EXPECT_EQ(search.commits_examined, 101);
  EXPECT_EQ(Found({.commit_depth_max = 101}), "099 orders,0:1 depth 101; change unknown");
  Remove("200.commit");
  EXPECT_EQ(Found(), "099 orders,0:1 depth 100; change unknown");
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
  Write("001.commit", CommitAt(3));
  Write("000.commit", CommitAt(0));
  EXPECT_EQ(Found(), "003 orders,0:3 depth 0; changed 001");
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

TEST_F(ListingRaceTest, ATableBeingMovedToAnotherLayoutIsAConflict) {
  Properties(1);
  Write("timeline/001_002.commit", CommitAt(1));
  EXPECT_THAT(Find(), IsError(ErrorKind::kConflict, HasSubstr("moved to another")));
}

using OperationsTest = HudiTableTest;

TEST_F(OperationsTest, CompletedCommitsAreFilledAndTheRestLeftAlone) {
  Properties(1);
  Write("001.commit", JsonCommit("k", "v", "BULK_INSERT"));
  Write("002.clean", "x");
  Write("003.replacecommit", "{");
  Write("004.inflight", JsonCommit("k", "v"));
  Write("005.commit", "");
  ASSERT_OK_ASSIGN(const Table table, Open());
  ASSERT_OK_ASSIGN(Timeline timeline, table.ReadTimeline({}, Hurry()));
  ASSERT_EQ(timeline.instants.size(), 5u);
  ASSERT_OK_ASSIGN(const auto findings, table.ReadOperations(timeline.instants, Hurry()));
  EXPECT_EQ(timeline.instants[0].operation, "BULK_INSERT");
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(timeline.instants[i].operation, std::nullopt) << i;
  EXPECT_THAT(findings, ElementsAre(AllOf(Field(&Finding::kind, "unreadable_commit"),
                                          Field(&Finding::place, ".hoodie/003.replacecommit"))));
}

TEST_F(OperationsTest, ACommitThatIsGoneStaysWithout) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  ASSERT_OK_ASSIGN(const Table table, Open());
  ASSERT_OK_ASSIGN(Timeline timeline, table.ReadTimeline({}, Hurry()));
  Remove("001.commit");
  EXPECT_THAT(table.ReadOperations(timeline.instants, Hurry()), IsOk());
  EXPECT_EQ(timeline.instants[0].operation, std::nullopt);
}

}  // namespace
}  // namespace tidemark::lake::hudi
