#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lake/hudi/file_slices.h"
#include "support/hudi_table.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string T(size_t i) {
  return "2026010" + std::to_string(i + 1) + "000000000";
}
std::string BasePath(size_t time, const std::string& id = "g") {
  return "p/" + id + "_0-1-1_" + T(time) + ".parquet";
}
std::string LogPath(size_t time, int version = 1, const std::string& id = "g") {
  return "p/." + id + "_" + T(time) + ".log." + std::to_string(version) + "_0-1-1";
}

struct Wrote {
  std::string path;
  uint64_t size = 10;
  uint64_t offset = 0;
  std::string previous = {};
};

class LostFilesTest : public HudiTableTest {
 protected:
  void Commit(const std::string& name, const std::vector<Wrote>& files,
              const std::string& more = "") {
    std::string stats;
    for (const Wrote& file : files) {
      stats += (stats.empty() ? "" : ",") + ("{\"path\":\"" + file.path) +
               "\",\"fileSizeInBytes\":" + std::to_string(file.size) +
               ",\"logOffset\":" + std::to_string(file.offset) + ",\"prevCommit\":\"" +
               (file.previous.empty() ? "null" : file.previous) + "\"}";
    }
    Write(name, "{\"partitionToWriteStats\":{\"p\":[" + stats + "]}" + more + "}");
  }
  void File(const std::string& path, size_t size = 10) {
    ASSERT_THAT(memory_.Put("p/.hoodie_partition_metadata", "", Budget()), IsOk());
    ASSERT_THAT(memory_.Put(path, std::string(size, 'x'), Budget()), IsOk());
  }
  /// "kind path"
  std::vector<std::string> Lost(SliceOptions options = {}) {
    if (options.loss_check == LossCheck::kNone) options.loss_check = LossCheck::kAllFiles;
    const auto table = Open();
    if (!table) return {table.error().message};
    const auto slices = table->ReadFileSlices(options, Hurry());
    if (!slices) return {slices.error().message};
    std::vector<std::string> lines;
    for (const Finding& finding : slices->findings)
      lines.push_back(finding.kind + " " + finding.place);
    return lines;
  }
};

TEST_F(LostFilesTest, AWholeTableHasLostNothing) {
  MergeOnRead(1);
  Commit(T(0) + ".deltacommit", {{BasePath(0)}});
  Commit(T(1) + ".deltacommit", {{LogPath(0), 4}});
  Commit(T(2) + ".deltacommit", {{LogPath(0), 6, 4}});
  File(BasePath(0));
  File(LogPath(0));
  EXPECT_THAT(Lost(), IsEmpty());
}

TEST_F(LostFilesTest, FilesOfTheLatestSliceMustBeThere) {
  MergeOnRead(1);
  Commit(T(0) + ".deltacommit", {{BasePath(0)}, {BasePath(0, "h")}});
  Commit(T(1) + ".deltacommit", {{LogPath(0)}});
  Commit(T(2) + ".deltacommit", {{LogPath(0, 2)}});
  File(BasePath(0));
  File(LogPath(0, 2));
  EXPECT_THAT(Lost(),
              ElementsAre("missing_file " + BasePath(0, "h"), "missing_file " + LogPath(0)));
  SliceOptions bases;
  bases.loss_check = LossCheck::kBaseFiles;
  EXPECT_THAT(Lost(bases), ElementsAre("missing_file " + BasePath(0, "h")));
}

TEST_F(LostFilesTest, ABaseFileBeneathItsLogsIsMissed) {
  for (const int layout : {1, 2}) {
    SCOPED_TRACE(layout);
    MergeOnRead(layout);
    const auto name = [&](size_t time) {
      return layout == 1 ? T(time) + ".deltacommit"
                         : "timeline/" + T(time) + "_" + T(time) + ".deltacommit";
    };
    const std::string log = layout == 1 ? LogPath(0) : LogPath(1);
    Commit(name(0), {{BasePath(0)}});
    Commit(name(1), {{log}});
    File(log);
    EXPECT_THAT(Lost(), ElementsAre("missing_file " + BasePath(0)));
    ASSERT_THAT(memory_.Remove(log, Budget()), IsOk());
  }
}

TEST_F(LostFilesTest, TheFirstOfTheLogsOfAGroupWithoutBaseFileIsMissed) {
  MergeOnRead(2);
  Commit("timeline/" + T(0) + "_" + T(1) + ".deltacommit", {{LogPath(0)}});
  Commit("timeline/" + T(2) + "_" + T(3) + ".deltacommit", {{LogPath(2)}});
  File(LogPath(2));
  EXPECT_THAT(Lost(), ElementsAre("missing_file " + LogPath(0)));
}

TEST_F(LostFilesTest, OlderSlicesMayHaveBeenCleaned) {
  MergeOnRead(1);
  Commit(T(0) + ".deltacommit", {{BasePath(0)}});
  Commit(T(1) + ".deltacommit", {{LogPath(0)}});
  Commit(T(2) + ".commit", {{BasePath(2)}});
  Commit(T(3) + ".deltacommit", {{LogPath(2)}});
  File(BasePath(2));
  File(LogPath(2));
  EXPECT_THAT(Lost(), IsEmpty());
  ASSERT_THAT(memory_.Remove(LogPath(2), Budget()), IsOk());
  EXPECT_THAT(Lost(), ElementsAre("missing_file " + LogPath(2)));
  ASSERT_THAT(memory_.Remove(BasePath(2), Budget()), IsOk());
  EXPECT_THAT(Lost(), ElementsAre("missing_file " + BasePath(2), "missing_file " + LogPath(2)));
}

TEST_F(LostFilesTest, LogsThatACompactionTookInMayHaveBeenCleaned) {
  MergeOnRead(2);
  Commit("timeline/" + T(0) + "_" + T(1) + ".deltacommit", {{BasePath(0)}});
  Commit("timeline/" + T(1) + "_" + T(2) + ".deltacommit", {{LogPath(1)}});
  Commit("timeline/" + T(3) + "_" + T(5) + ".commit", {{BasePath(3)}});
  // Requested before the compaction, completed after it: it lies on the new slice.
  Commit("timeline/" + T(2) + "_" + T(4) + ".deltacommit", {{LogPath(2)}});
  File(BasePath(3));
  EXPECT_THAT(Lost(), ElementsAre("missing_file " + LogPath(2)));
}

TEST_F(LostFilesTest, ReplacedGroupsMayHaveBeenCleaned) {
  Properties(1);
  Commit(T(0) + ".commit", {{BasePath(0)}});
  Commit(T(1) + ".replacecommit", {{BasePath(1, "h")}},
         R"(,"partitionToReplaceFileIds":{"p":["g"]})");
  File(BasePath(1, "h"));
  EXPECT_THAT(Lost(), IsEmpty());
  SliceOptions before;
  before.as_of = T(0);
  EXPECT_THAT(Lost(before), ElementsAre("missing_file " + BasePath(0)));
}

TEST_F(LostFilesTest, WhatIsNotCommittedIsNotMissed) {
  Properties(1);
  Commit(T(0) + ".inflight", {{BasePath(0)}});
  Commit(T(1) + ".commit", {{BasePath(1, "h")}});
  Commit(T(2) + ".commit", {{BasePath(2, "h")}});
  File(BasePath(1, "h"));
  SliceOptions before;
  before.as_of = T(1);
  EXPECT_THAT(Lost(before), IsEmpty());
}

/// Without its file a completed commit looks like a write that never completed.
TEST_F(LostFilesTest, ACommitThatOthersBuiltUponMustBeOnTheTimeline) {
  MergeOnRead(1);
  Commit(T(1) + ".deltacommit", {{BasePath(1, "h")}});
  Commit(T(2) + ".deltacommit.inflight", {{BasePath(2)}});
  Write(".temp/" + T(2) + "/MARKERS0", "");
  Commit(T(4) + ".deltacommit", {{LogPath(2), 10, 0, T(2)},
                                 {BasePath(4, "h"), 10, 0, T(3)},
                                 // Archived.
                                 {BasePath(4, "i"), 10, 0, T(0)}});
  Write(T(5) + ".compaction.requested", "");
  Commit("20260107000000000.deltacommit", {{LogPath(5), 10, 0, T(5)}});
  for (const auto& path : {BasePath(2), LogPath(2), BasePath(4, "h"), BasePath(4, "i"), LogPath(5)})
    File(path);
  EXPECT_THAT(Lost(), ElementsAre("missing_commit " + T(2), "missing_commit " + T(3)));
}

/// The files of the timeline alone cannot tell it from a write that is under way.
TEST_F(LostFilesTest, AnInflightWriteWithTracesOfCompletionIsDoubtful) {
  MergeOnRead(2);
  const std::string inflight = "timeline/" + T(1) + ".deltacommit.inflight";
  const std::string doubt = "doubtful_commit .hoodie/" + inflight;
  Commit("timeline/" + T(0) + "_" + T(0) + ".deltacommit", {{BasePath(0)}});
  File(BasePath(0));
  Write("timeline/" + T(1) + ".deltacommit.requested", "");
  Write(inflight, "");
  EXPECT_THAT(Lost(), IsEmpty());
  // Its file, while it is under way and afterwards.
  Write(".temp/" + T(1) + "/MARKERS0", "");
  File(LogPath(1));
  EXPECT_THAT(Lost(), IsEmpty());
  Remove(".temp/" + T(1) + "/MARKERS0");
  EXPECT_THAT(Lost(), ElementsAre(doubt));
  // A rollback removes markers too.
  Write("timeline/" + T(2) + ".rollback.requested", "");
  EXPECT_THAT(Lost(), IsEmpty());
  Remove("timeline/" + T(2) + ".rollback.requested");
  ASSERT_THAT(memory_.Remove(LogPath(1), Budget()), IsOk());
  EXPECT_THAT(Lost(), IsEmpty());
  Write("metadata/.hoodie/timeline/" + T(1) + "_" + T(2) + ".deltacommit", "");
  EXPECT_THAT(Lost(), ElementsAre(doubt));
  SliceOptions before;
  before.as_of = T(0);
  EXPECT_THAT(Lost(before), IsEmpty());
}

/// Below table version 8 no marker is made for a log that is appended to.
TEST_F(LostFilesTest, AnAppendWithoutMarkersIsNotDoubtfulWhereNoneAreMade) {
  MergeOnRead(1);
  Commit(T(0) + ".deltacommit", {{BasePath(0)}});
  Write(T(1) + ".deltacommit.inflight", "");
  File(BasePath(0));
  File(LogPath(0));
  EXPECT_THAT(Lost(), IsEmpty());
  File(BasePath(1, "h"));
  EXPECT_THAT(Lost(), ElementsAre("doubtful_commit .hoodie/" + T(1) + ".deltacommit.inflight"));
}

TEST_F(LostFilesTest, OtherPartitionsAreNotAskedAbout) {
  Properties(1);
  Commit(T(0) + ".commit", {{BasePath(0)}});
  SliceOptions options;
  options.wants_partition = [](std::string_view path) { return path == "q"; };
  EXPECT_THAT(Lost(options), IsEmpty());
}

TEST_F(LostFilesTest, FilesAreAsLongAsTheirCommitsLeftThem) {
  struct Case {
    size_t base_size, log_size;
    std::vector<std::string> lost;
  };
  const std::vector<Case> cases = {
      {10, 10, {}},
      {10, 11, {}},  // a write that is under way
      {10, 9, {"wrong_size " + LogPath(0)}},
      {10, 0, {"wrong_size " + LogPath(0)}},
      {9, 10, {"wrong_size " + BasePath(0)}},
      {11, 10, {"wrong_size " + BasePath(0)}},
  };
  MergeOnRead(1);
  Commit(T(0) + ".deltacommit", {{BasePath(0)}});
  Commit(T(1) + ".deltacommit", {{LogPath(0), 4}});
  Commit(T(2) + ".deltacommit", {{LogPath(0), 6, 4}});
  for (const Case& each : cases) {
    File(BasePath(0), each.base_size);
    File(LogPath(0), each.log_size);
    EXPECT_THAT(Lost(), testing::ElementsAreArray(each.lost));
  }
}

TEST_F(LostFilesTest, ACommitThatCannotBeReadIsSaid) {
  Properties(1);
  Write(T(0) + ".commit", "{\"partitionToWriteStats\":");
  Write(T(1) + ".commit", "");
  EXPECT_THAT(Lost(), ElementsAre("unreadable_commit .hoodie/" + T(0) + ".commit",
                                  "empty_commit .hoodie/" + T(1) + ".commit"));
  EXPECT_TRUE(IsDamage("unreadable_commit"));
  EXPECT_TRUE(IsDamage("empty_commit"));
}

TEST_F(LostFilesTest, ACommitThatDoesNotSayWhatItWroteMayHaveLostIt) {
  const std::string told = R"({"partitionToWriteStats":{},"operationType":"UPSERT"})";
  struct Case {
    std::string name, body;
    std::vector<std::string> kinds;
  };
  const std::vector<Case> cases = {
      {".commit", "", {"empty_commit"}},
      {".commit", "{}", {"empty_commit"}},
      {".deltacommit", R"({"partitionToWriteStats":null})", {"empty_commit"}},
      {".commit", told, {}},
      {".replacecommit", "", {"empty_replacecommit"}},
      {".replacecommit", R"({"partitionToReplaceFileIds":{}})", {"empty_commit"}},
      {".replacecommit",
       R"({"partitionToWriteStats":{},"partitionToReplaceFileIds":{},"operationType":"CLUSTER"})",
       {}},
  };
  MergeOnRead(1);
  for (const Case& each : cases) {
    Write(T(1) + each.name, each.body);
    std::vector<std::string> lost;
    for (const std::string& kind : each.kinds)
      lost.push_back(kind + " .hoodie/" + T(1) + each.name);
    EXPECT_THAT(Lost(), testing::ElementsAreArray(lost)) << each.name << each.body;
    Remove(T(1) + each.name);
  }
}

/// The inflight file of a Spark writer says which groups are to be written.
TEST_F(LostFilesTest, AnEmptyCommitMattersNoMoreOnceAllItWroteWasWrittenAnew) {
  const auto plan = [](const std::string& stats) {
    return R"({"partitionToWriteStats":{"p":[)" + stats + R"(]},"operationType":"UPSERT"})";
  };
  const std::string of_g = R"({"fileId":"g","path":null,"numInserts":0})";
  const std::string of_new = R"({"fileId":"","path":null,"numInserts":2})";
  Properties(1);
  Commit(T(0) + ".commit", {{BasePath(0)}, {BasePath(0, "h")}});
  Write(T(1) + ".commit", "");
  Commit(T(2) + ".commit", {{BasePath(2)}});
  File(BasePath(0, "h"));
  File(BasePath(2));
  const std::string empty = "empty_commit .hoodie/" + T(1) + ".commit";
  EXPECT_THAT(Lost(), ElementsAre(empty));
  Write(T(1) + ".inflight", plan(of_g));
  EXPECT_THAT(Lost(), IsEmpty());
  Write(T(1) + ".inflight", plan(of_g + "," + of_new));
  EXPECT_THAT(Lost(), ElementsAre(empty));
  Write(T(1) + ".inflight", plan(R"({"fileId":"h","path":null})"));
  EXPECT_THAT(Lost(), ElementsAre(empty));
  Write(T(1) + ".inflight", plan(""));
  EXPECT_THAT(Lost(), ElementsAre(empty));
}

TEST_F(LostFilesTest, AWriteThatLaterOnesOvertookIsSaid) {
  for (const int layout : {1, 2}) {
    SCOPED_TRACE(layout);
    MergeOnRead(layout);
    const std::string folder = layout == 1 ? "" : "timeline/";
    const auto done = [&](size_t time) {
      return folder + T(time) + (layout == 1 ? "" : "_" + T(time)) + ".deltacommit";
    };
    const std::string log = layout == 1 ? LogPath(0) : LogPath(3);
    Commit(done(0), {{BasePath(0)}});
    Write(folder + T(2) + ".deltacommit.inflight", "");
    Write(folder + T(1) + ".compaction.requested", "");
    File(BasePath(0));
    File(BasePath(2, "h"));
    File(BasePath(1));
    // The newest of all may be under way.
    EXPECT_THAT(Lost(), testing::Not(testing::Contains("unfinished_write " + BasePath(2, "h"))));
    Commit(done(3), {{log}});
    File(log);
    EXPECT_THAT(Lost(), testing::Contains("unfinished_write " + BasePath(2, "h")));
    EXPECT_THAT(Lost(), testing::Not(testing::Contains("unfinished_write " + BasePath(1))));
    // What lies upon it was written by somebody who saw it committed.
    const std::string upon = layout == 1 ? LogPath(2, 1, "h") : LogPath(3, 1, "h");
    File(upon);
    EXPECT_THAT(Lost(), testing::Contains("missing_commit " + T(2)));
    EXPECT_FALSE(IsDamage("unfinished_write"));
    for (const auto& path : {BasePath(0), BasePath(2, "h"), BasePath(1), log, upon})
      ASSERT_THAT(memory_.Remove(path, Budget()), IsOk());
  }
}

}  // namespace
}  // namespace tidemark::lake::hudi
