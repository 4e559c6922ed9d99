// What compactions passed over, and what a pending one will not find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lake/hudi/file_slices.h"
#include "support/avro_file.h"
#include "support/hudi_table.h"

namespace tidemark::lake::hudi {
namespace {

using support::AvroFile;
using support::AvroNumber;
using support::AvroText;
using support::AvroTexts;
using support::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string T(size_t i) {
  return "2026010" + std::to_string(i + 1) + "000000000";
}
std::string Base(size_t time) {
  return "g_0-1-1_" + T(time) + ".parquet";
}
std::string Log(size_t time, int version = 1) {
  return ".g_" + T(time) + ".log." + std::to_string(version) + "_0-1-1";
}

/// A plan to compact one slice of the group g.
std::string PlanOf(const std::string& base, const std::vector<std::string>& logs) {
  return AvroFile(
      R"({"type":"record","name":"HoodieCompactionPlan","fields":[{"name":"operations","type":
      {"type":"array","items":{"type":"record","name":"o","fields":[
        {"name":"partitionPath","type":"string"},{"name":"fileId","type":"string"},
        {"name":"dataFilePath","type":"string"},
        {"name":"deltaFilePaths","type":{"type":"array","items":"string"}}]}}}]})",
      AvroNumber(1) + AvroText("p") + AvroText("g") + AvroText(base) + AvroTexts(logs) +
          AvroNumber(0));
}

class SliceOrphansTest : public HudiTableTest {
 protected:
  void File(const std::string& name) {
    ASSERT_THAT(memory_.Put("p/.hoodie_partition_metadata", "", Budget()), IsOk());
    ASSERT_THAT(memory_.Put("p/" + name, "x", Budget()), IsOk());
  }
  /// "kind place: message"
  std::vector<std::string> Findings(SliceOptions options = {}) {
    options.with_orphan_check = true;
    const auto table = Open();
    if (!table) return {table.error().message};
    const auto slices = table->ReadFileSlices(options, Hurry());
    if (!slices) return {slices.error().message};
    std::vector<std::string> lines;
    for (const Finding& finding : slices->findings)
      lines.push_back(finding.kind + " " + finding.place + ": " + finding.message);
    return lines;
  }
};

TEST_F(SliceOrphansTest, ACommittedLogThatTheCompactionDidNotPlanIsAnOrphan) {
  MergeOnRead(1);
  for (const size_t time : {0, 1}) Write(T(time) + ".deltacommit", kNoCheckpoint);
  Write(T(2) + ".compaction.requested", PlanOf(Base(0), {Log(0, 1)}));
  Write(T(2) + ".commit", kNoCheckpoint);
  for (const auto& name : {Base(0), Log(0, 1), Log(0, 2), Base(2)}) File(name);
  EXPECT_THAT(Findings(), ElementsAre("orphan_log_file p/" + Log(0, 2) +
                                      ": a compaction passed over this log file, no reader looks "
                                      "at it any more compaction=" +
                                      T(2)));
  Write(T(2) + ".compaction.requested", PlanOf(Base(0), {Log(0, 1), Log(0, 2)}));
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(SliceOrphansTest, APendingCompactionThatNamesARemovedFileIsSaid) {
  MergeOnRead(1);
  for (const size_t time : {0, 1}) Write(T(time) + ".deltacommit", kNoCheckpoint);
  Write(T(2) + ".compaction.requested", PlanOf(Base(0), {Log(0, 1), Log(0, 2)}));
  Write(T(3) + ".clean", support::CleanBody("p", {Log(0, 1)}, T(1)));
  File(Base(0));
  const std::string said =
      ": a pending compaction names this file, and it is not there compaction=";
  EXPECT_THAT(
      Findings(),
      ElementsAre("planned_file_gone p/" + Log(0, 1) + said + T(2) + " removed_by_clean=" + T(3),
                  "planned_file_gone p/" + Log(0, 2) + said + T(2) + " removed_by_clean=unknown"));
  // Who removed it stays open then.
  Write(T(3) + ".clean", "damaged");
  EXPECT_THAT(Findings(), ElementsAre("planned_file_gone p/" + Log(0, 1) + said + T(2) +
                                          " removed_by_clean=unknown",
                                      testing::_));
  SliceOptions others;
  others.wants_partition = [](std::string_view path) { return path == "q"; };
  EXPECT_THAT(Findings(others), IsEmpty());
}

TEST_F(SliceOrphansTest, ThePlannedBaseFileIsMissedToo) {
  MergeOnRead(1);
  Write(T(0) + ".deltacommit", kNoCheckpoint);
  Write(T(2) + ".compaction.requested", PlanOf(Base(0), {Log(0)}));
  File(Log(0));
  EXPECT_THAT(Findings(), ElementsAre(testing::StartsWith("planned_file_gone p/" + Base(0))));
}

TEST_F(SliceOrphansTest, ACompletedCompactionMayHaveItsFilesCleaned) {
  MergeOnRead(1);
  Write(T(0) + ".deltacommit", kNoCheckpoint);
  Write(T(2) + ".compaction.requested", PlanOf(Base(0), {Log(0)}));
  Write(T(2) + ".commit", kNoCheckpoint);
  Write(T(3) + ".clean", support::CleanBody("p", {Base(0), Log(0)}, T(2)));
  File(Base(2));
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(SliceOrphansTest, APendingCompactionWhoseFilesAreThereIsQuiet) {
  MergeOnRead(1);
  Write(T(0) + ".deltacommit", kNoCheckpoint);
  Write(T(2) + ".compaction.requested", PlanOf(Base(0), {Log(0)}));
  File(Base(0));
  File(Log(0));
  EXPECT_THAT(Findings(), IsEmpty());
}

}  // namespace
}  // namespace tidemark::lake::hudi
