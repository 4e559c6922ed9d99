// Slices that the table at an earlier instant consisted of and that a clean has removed since.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "lake/hudi/file_slices.h"
#include "support/avro_file.h"
#include "support/hudi_table.h"

namespace tidemark::lake::hudi {
namespace {

using support::AvroFile;
using support::AvroNumber;
using support::AvroText;
using support::IsError;
using support::IsOk;
using ::testing::_;
using ::testing::HasSubstr;

std::string T(size_t i) {
  return "2026010" + std::to_string(i + 1) + "000000000";
}
std::string Base(size_t time, const std::string& id = "g") {
  return id + "_0-1-1_" + T(time) + ".parquet";
}
std::string Log(size_t time, const std::string& id = "g") {
  return "." + id + "_" + T(time) + ".log.1_0-1-1";
}

/// A completed clean of the partition p.
std::string CleanOf(const std::vector<std::string>& files, const std::string& kept_from = T(4)) {
  return support::CleanBody("p", files, kept_from);
}
/// Its plan, whose paths are absolute.
std::string PlanOf(const std::string& file) {
  return AvroFile(
      R"({"type":"record","name":"HoodieCleanerPlan","fields":[
      {"name":"earliestInstantToRetain","type":["null","string"]},
      {"name":"filePathsToBeDeletedPerPartition","type":["null",{"type":"map","values":{
        "type":"array","items":{"type":"record","name":"f","fields":[
          {"name":"filePath","type":["null","string"]},
          {"name":"isBootstrapBaseFile","type":["null","boolean"]}]}}}]}]})",
      AvroNumber(0) + AvroNumber(1) + AvroNumber(1) + AvroText("p") + AvroNumber(1) +
          AvroNumber(1) + AvroText("s3://lake/t/p/" + file) + AvroNumber(0) + AvroNumber(0) +
          AvroNumber(0));
}

class CleanedSlicesTest : public HudiTableTest {
 protected:
  void Commit(size_t time, const std::string& action = "commit",
              const std::string& body = kNoCheckpoint) {
    Write(T(time) + "." + action, body);
  }
  void CommitAt(size_t time, size_t completed, const std::string& action) {
    Write("timeline/" + T(time) + "_" + T(completed) + "." + action, kNoCheckpoint);
  }
  void File(const std::string& name) {
    ASSERT_THAT(memory_.Put("p/.hoodie_partition_metadata", "", Budget()), IsOk());
    ASSERT_THAT(memory_.Put("p/" + name, "x", Budget()), IsOk());
  }
  Result<TableSlices> At(size_t time, SliceOptions options = {}) {
    options.as_of = T(time);
    options.with_clean_check = true;
    const auto table = Open();
    if (!table) return std::unexpected(table.error());
    return table->ReadFileSlices(options, Hurry());
  }
  /// "file clean readable_from" as times, or "whole".
  std::string Cleaned(size_t time, const SliceOptions& options = {}) {
    const auto slices = At(time, options);
    if (!slices) return slices.error().message;
    if (!slices->cleaned) return "whole";
    return slices->cleaned->file + " by " + Day(slices->cleaned->clean) + " from " +
           Day(slices->cleaned->readable_from);
  }
  static std::string Day(const std::string& instant) { return std::to_string(instant[7] - '1'); }
};

TEST_F(CleanedSlicesTest, ACleanedSliceWasTheTableUntilTheNextOneBegan) {
  Properties(1);
  for (const size_t time : {0, 1, 3}) Commit(time);
  Write(T(4) + ".clean", CleanOf({Base(0), Base(1)}, T(3)));
  File(Base(3));
  EXPECT_EQ(Cleaned(0), "p/" + Base(0) + " by 4 from 3");
  EXPECT_EQ(Cleaned(1), "p/" + Base(1) + " by 4 from 3");
  EXPECT_EQ(Cleaned(2), "p/" + Base(1) + " by 4 from 3");
  EXPECT_EQ(Cleaned(3), "whole");
}

TEST_F(CleanedSlicesTest, BeforeItsFirstFileAGroupMissesNothing) {
  Properties(1);
  for (const size_t time : {0, 1, 2}) Commit(time);
  Write(T(4) + ".clean", CleanOf({Base(1)}));
  File(Base(0, "h"));
  File(Base(2));
  EXPECT_EQ(Cleaned(0), "whole");
  EXPECT_EQ(Cleaned(1), "p/" + Base(1) + " by 4 from 2");
}

TEST_F(CleanedSlicesTest, WhatIsStillThereIsNotMissed) {
  Properties(1);
  for (const size_t time : {0, 1}) Commit(time);
  Write(T(4) + ".clean", CleanOf({Base(0)}));  // could not be removed, or is savepointed
  File(Base(0));
  File(Base(1));
  EXPECT_EQ(Cleaned(0), "whole");
}

TEST_F(CleanedSlicesTest, LogsAreMissedWithTheirSlice) {
  MergeOnRead(1);
  Commit(0, "deltacommit");
  Commit(1, "deltacommit");
  Commit(2, "commit");
  Write(T(4) + ".clean", CleanOf({Log(0)}, T(2)));
  File(Base(0));
  File(Base(2));
  EXPECT_EQ(Cleaned(1), "p/" + Log(0) + " by 4 from 2");
  EXPECT_EQ(Cleaned(2), "whole");
}

TEST_F(CleanedSlicesTest, LogsOfVersion8AreMissedFromTheirCommitOn) {
  MergeOnRead(2);
  CommitAt(0, 0, "deltacommit");
  CommitAt(1, 1, "deltacommit");
  CommitAt(2, 3, "commit");
  Write("timeline/" + T(4) + "_" + T(5) + ".clean", CleanOf({Log(1)}, T(2)));
  File(Base(0));
  File(Base(2));
  EXPECT_EQ(Cleaned(0), "whole");
  EXPECT_EQ(Cleaned(1), "p/" + Log(1) + " by 4 from 2");
  EXPECT_EQ(Cleaned(2), "whole");
}

TEST_F(CleanedSlicesTest, ALogOfVersion8WithoutBaseFileIsMissed) {
  MergeOnRead(2);
  CommitAt(0, 1, "deltacommit");
  CommitAt(2, 3, "commit");
  Write("timeline/" + T(4) + "_" + T(5) + ".clean", CleanOf({Log(0)}, T(2)));
  File(Base(2));
  EXPECT_EQ(Cleaned(0), "p/" + Log(0) + " by 4 from 2");
  EXPECT_EQ(Cleaned(2), "whole");
}

TEST_F(CleanedSlicesTest, AReplacedGroupIsMissedBeforeItsReplacement) {
  Properties(1);
  Commit(0);
  Commit(2, "replacecommit", R"({"partitionToReplaceFileIds":{"p":["g"]}})");
  Commit(3);
  Write(T(4) + ".clean", CleanOf({Base(0)}, T(3)));
  File(Base(2, "h"));
  EXPECT_EQ(Cleaned(1), "p/" + Base(0) + " by 4 from 2");
  EXPECT_EQ(Cleaned(2), "whole");
}

TEST_F(CleanedSlicesTest, WhereNothingTellsTheEndTheCleanDoes) {
  Properties(1);
  Commit(0);
  Commit(2, "replacecommit", "{");
  Write(T(4) + ".clean", CleanOf({Base(0)}, T(3)));
  EXPECT_EQ(Cleaned(1), "p/" + Base(0) + " by 4 from 3");
}

TEST_F(CleanedSlicesTest, AnEarlierCleanRemovedNothingOfTheTable) {
  Properties(1);
  for (const size_t time : {0, 1, 3}) Commit(time);
  Write(T(2) + ".clean", "no clean at all");
  File(Base(1));
  File(Base(3));
  EXPECT_EQ(Cleaned(3), "whole");
}

TEST_F(CleanedSlicesTest, ACleanUnderWayHasRemovedWhatIsGone) {
  for (const std::string state : {".clean.inflight", ".clean"}) {
    SCOPED_TRACE(state);
    Properties(1);
    Commit(0);
    Commit(1);
    Write(T(4) + ".clean.requested", PlanOf(Base(0)));
    Write(T(4) + state, "");
    File(Base(1));
    EXPECT_EQ(Cleaned(0), "p/" + Base(0) + " by 4 from 1");
    Remove(T(4) + state);
  }
}

TEST_F(CleanedSlicesTest, OtherPartitionsAreNotAskedAbout) {
  Properties(1);
  Commit(0);
  Commit(1);
  Write(T(4) + ".clean", CleanOf({Base(0)}));
  File(Base(1));
  SliceOptions options;
  options.wants_partition = [](std::string_view path) { return path == "q"; };
  EXPECT_EQ(Cleaned(0, options), "whole");
}

TEST_F(CleanedSlicesTest, ADamagedCleanLeavesItOpenWhatIsGone) {
  Properties(1);
  Commit(0);
  Commit(1);
  const std::string whole = CleanOf({Base(0)});
  File(Base(1));
  for (size_t size = 1; size < whole.size(); ++size) {
    Write(T(4) + ".clean", whole.substr(0, size));
    EXPECT_THAT(At(0), IsError(ErrorKind::kCorrupt, HasSubstr(".clean"))) << size;
  }
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x5a);
    Write(T(4) + ".clean", flipped);
    const auto slices = At(0);
    EXPECT_TRUE(slices || slices.error().kind != ErrorKind::kInternal) << i;
  }
}

}  // namespace
}  // namespace tidemark::lake::hudi
