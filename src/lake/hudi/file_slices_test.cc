#include "lake/hudi/file_slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/hudi_table.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kTimes[] = {"20260101000000000", "20260102000000000",
                                       "20260103000000000", "20260104000000000",
                                       "20260105000000000", "20260106000000000"};
std::string T(size_t i) {
  return std::string(kTimes[i]);
}
/// The last part of an instant: "1" for the first.
std::string Short(const std::string& instant) {
  for (size_t i = 0; i < std::size(kTimes); ++i)
    if (instant == kTimes[i]) return std::to_string(i);
  return instant;
}

class FileSlicesTest : public HudiTableTest {
 protected:
  void Base(size_t time, const std::string& partition = "p", const std::string& id = "g") {
    Data(partition, id + "_0-1-1_" + T(time) + ".parquet");
  }
  void Log(size_t time, int version, const std::string& partition = "p",
           const std::string& id = "g") {
    Data(partition, "." + id + "_" + T(time) + ".log." + std::to_string(version) + "_0-1-1");
  }
  void Data(const std::string& partition, const std::string& name, const std::string& bytes = "") {
    ASSERT_THAT(memory_.Put(partition + "/.hoodie_partition_metadata", "", Budget()), IsOk());
    ASSERT_THAT(memory_.Put(partition + "/" + name, bytes, Budget()), IsOk());
  }
  /// A completed instant of layout 1.
  void Complete(size_t time, const std::string& action, const std::string& body = kNoCheckpoint) {
    Write(T(time) + "." + action, body);
  }
  /// One of layout 2, completed at the second time.
  void CompleteAt(size_t time, const std::string& completed, const std::string& action,
                  const std::string& body = kNoCheckpoint) {
    Write("timeline/" + T(time) + "_" + completed + "." + action, body);
  }

  Result<TableSlices> Slices(const SliceOptions& options = {}) {
    auto table = Open();
    if (!table) return std::unexpected(table.error());
    return table->ReadFileSlices(options, Hurry());
  }
  /// One line per slice: "group base_instant [b] logs…[*]", '*' for the latest.
  std::vector<std::string> Lines(const SliceOptions& options = {}) {
    const auto table = Slices(options);
    if (!table) return {"error: " + table.error().message};
    std::vector<std::string> lines;
    for (const FileSlice& slice : table->slices) {
      std::string line = slice.group.partition + "/" + slice.group.file_id + " " +
                         Short(slice.base_instant) + (slice.base ? " base" : "");
      for (const LogFile& log : slice.logs)
        line += " " + Short(log.name.instant) + "." + std::to_string(log.name.version);
      if (!slice.cdc_logs.empty()) line += " cdc";
      if (slice.replaced_by) line += " replaced by " + Short(*slice.replaced_by);
      if (slice.pending_compaction) line += " planned " + Short(*slice.pending_compaction);
      lines.push_back(line + (slice.is_latest ? " *" : ""));
    }
    return lines;
  }
  std::vector<std::string> SetAside(const SliceOptions& options = {}) {
    const auto table = Slices(options);
    if (!table) return {"error: " + table.error().message};
    std::vector<std::string> lines;
    for (const SetAsideFile& file : table->set_aside)
      lines.push_back(file.key + " " + std::string(SetAsideReasonName(file.reason)));
    return lines;
  }
  std::vector<std::string> Kinds(const SliceOptions& options = {}) {
    const auto table = Slices(options);
    if (!table) return {"error: " + table.error().message};
    std::vector<std::string> kinds;
    for (const Finding& finding : table->findings) kinds.push_back(finding.kind);
    return kinds;
  }
};

const std::string kReplacesG =
    R"({"partitionToReplaceFileIds":{"p":["g"],"q":[]},"operationType":"CLUSTER"})";

TEST_F(FileSlicesTest, AnEmptyTableHasNoSlices) {
  Properties(1);
  EXPECT_THAT(Lines(), IsEmpty());
  EXPECT_THAT(Kinds(), IsEmpty());
}

TEST_F(FileSlicesTest, LogsLieOnTheBaseFileTheyName) {
  MergeOnRead(1);
  Complete(0, "deltacommit");
  Complete(1, "deltacommit");
  Complete(3, "commit");
  Base(0);
  Log(0, 10);
  Log(0, 9);
  Base(3);
  Log(3, 1);
  EXPECT_THAT(Lines(), ElementsAre("p/g 0 base 0.9 0.10", "p/g 3 base 3.1 *"));
  EXPECT_THAT(SetAside(), IsEmpty());
}

TEST_F(FileSlicesTest, AGroupMayHaveLogsOnly) {
  MergeOnRead(1);
  Complete(0, "deltacommit");
  Log(0, 1);
  Log(0, 2);
  EXPECT_THAT(Lines(), ElementsAre("p/g 0 0.1 0.2 *"));
}

TEST_F(FileSlicesTest, BaseFilesOfWritesThatDoNotCountAreSetAside) {
  Properties(1);
  Complete(1, "commit");
  Write(T(2) + ".inflight", "");
  Base(0);
  Base(1);
  Base(2);
  Base(3);
  EXPECT_THAT(Lines(), ElementsAre("p/g 0 base", "p/g 1 base *"));
  EXPECT_THAT(SetAside(), ElementsAre("p/g_0-1-1_" + T(2) + ".parquet uncommitted",
                                      "p/g_0-1-1_" + T(3) + ".parquet rolled_back"));
}

TEST_F(FileSlicesTest, LogsOfAPlannedCompactionLieOnTheSliceItWillCompact) {
  MergeOnRead(1);
  Complete(0, "deltacommit");
  Write(T(2) + ".compaction.requested", "");
  Complete(3, "deltacommit");
  Base(0);
  Log(0, 1);
  Log(2, 1);
  // Half of the compaction's work.
  Base(2);
  EXPECT_THAT(Lines(), ElementsAre("p/g 0 base 0.1 2.1 planned 2 *"));
  EXPECT_THAT(SetAside(), ElementsAre("p/g_0-1-1_" + T(2) + ".parquet uncommitted"));
}

TEST_F(FileSlicesTest, LogsOfAPlanAloneAreASlice) {
  MergeOnRead(1);
  Complete(0, "deltacommit");
  Write(T(2) + ".compaction.requested", "");
  Log(2, 1);
  EXPECT_THAT(Lines(), ElementsAre("p/g 2 2.1 planned 2 *"));
}

TEST_F(FileSlicesTest, ReplacedGroupsStayButAreNotTheTable) {
  MergeOnRead(1);
  Complete(0, "deltacommit");
  Complete(2, "replacecommit", kReplacesG);
  Base(0);
  Base(2, "p", "h");
  Base(0, "q", "g");
  EXPECT_THAT(Lines(), ElementsAre("p/g 0 base replaced by 2", "p/h 2 base *", "q/g 0 base *"));
}

TEST_F(FileSlicesTest, BeforeItsReplaceCommitAGroupIsTheTable) {
  MergeOnRead(1);
  Complete(0, "deltacommit");
  Complete(2, "replacecommit", kReplacesG);
  Base(0);
  Base(2, "p", "h");
  EXPECT_THAT(Lines({.as_of = T(1)}), ElementsAre("p/g 0 base *"));
  EXPECT_THAT(SetAside({.as_of = T(1)}), ElementsAre("p/h_0-1-1_" + T(2) + ".parquet later"));
}

TEST_F(FileSlicesTest, AnUnreadableReplaceCommitIsAnError) {
  Properties(1);
  Complete(0, "replacecommit", R"({"partitionToReplaceFileIds":{"p":["g")");
  EXPECT_THAT(Slices(), IsError(ErrorKind::kCorrupt, _));
}

TEST_F(FileSlicesTest, AReplacecommitThatDoesNotSayWhatItReplacedIsDamage) {
  Properties(1);
  Complete(1, "replacecommit", "");
  Complete(2, "replacecommit", R"({"partitionToWriteStats":{}})");
  Complete(3, "replacecommit", R"({"partitionToReplaceFileIds":null})");
  EXPECT_THAT(Kinds(), ElementsAre("empty_replacecommit", "empty_replacecommit"));
}

TEST_F(FileSlicesTest, LogsOfVersion8LieOnTheSliceThatHadBegunWhenTheyCompleted) {
  MergeOnRead(2);
  CompleteAt(0, T(0), "deltacommit");
  // Requested before the compaction, completed after it.
  CompleteAt(1, T(4), "deltacommit");
  CompleteAt(2, T(2), "deltacommit");
  CompleteAt(3, T(5), "commit");
  Base(0);
  Log(1, 1);
  Log(2, 1);
  Base(3);
  EXPECT_THAT(Lines(), ElementsAre("p/g 0 base 2.1", "p/g 3 base 1.1 *"));
}

TEST_F(FileSlicesTest, LogsOfVersion8ApplyInTheOrderTheyCompleted) {
  MergeOnRead(2);
  CompleteAt(0, T(0), "deltacommit");
  CompleteAt(1, T(5), "deltacommit");
  CompleteAt(2, T(3), "deltacommit");
  Base(0);
  Log(1, 1);
  Log(2, 1);
  ASSERT_OK_ASSIGN(auto table, Slices());
  ASSERT_EQ(table.slices.size(), 1u);
  auto& logs = table.slices[0].logs;
  ASSERT_EQ(logs.size(), 2u);
  EXPECT_EQ(logs[0].name.instant, T(2));
  EXPECT_EQ(logs[1].completed, T(5));
  OrderLogs(logs, LogOrder::kByName);
  EXPECT_EQ(logs[0].name.instant, T(1));
}

TEST_F(FileSlicesTest, TheFirstLogOfVersion8BeginsTheSliceOfAGroupWithoutBaseFile) {
  MergeOnRead(2);
  CompleteAt(0, T(1), "deltacommit");
  CompleteAt(2, T(2), "deltacommit");
  Write("timeline/" + T(3) + ".deltacommit.inflight", "");
  Log(0, 1);
  Log(2, 1);
  Log(3, 1);
  Log(4, 1);
  EXPECT_THAT(Lines(), ElementsAre("p/g 0 0.1 2.1 *"));
  EXPECT_THAT(SetAside(), ElementsAre("p/.g_" + T(3) + ".log.1_0-1-1 uncommitted",
                                      "p/.g_" + T(4) + ".log.1_0-1-1 rolled_back"));
}

TEST_F(FileSlicesTest, ChangeDataIsKeptApart) {
  MergeOnRead(1);
  Complete(0, "deltacommit");
  Base(0);
  Data("p", ".g_" + T(0) + ".log.1_0-1-1.cdc");
  EXPECT_THAT(Lines(), ElementsAre("p/g 0 base cdc *"));
}

std::string Wrote(const std::vector<std::string>& paths) {
  std::string stats;
  for (const std::string& path : paths) {
    stats += stats.empty() ? "" : ",";
    stats += "{\"path\":\"" + path + "\",\"fileSizeInBytes\":10}";
  }
  return "{\"partitionToWriteStats\":{\"p\":[" + stats + "]}}";
}

TEST_F(FileSlicesTest, OfTwoFilesOfOneWriteTheOneItsCommitNamesCounts) {
  struct Case {
    std::vector<std::string> named;
    std::string token, set_aside, kind;
  };
  const std::string first = "p/g_0-1-1_" + T(0) + ".parquet";
  const std::string second = "p/g_0-1-2_" + T(0) + ".parquet";
  const std::vector<Case> cases = {
      {{first}, "0-1-1", second, "duplicate_base_file"},
      {{second}, "0-1-2", first, "duplicate_base_file"},
      {{"p/h_0-1-1_" + T(0) + ".parquet"}, "0-1-2", first, "ambiguous_base_file"},
      {{first, second}, "0-1-2", first, "ambiguous_base_file"},
  };
  Properties(1);
  for (const Case& each : cases) {
    Complete(0, "commit", Wrote(each.named));
    Data("p", "g_0-1-1_" + T(0) + ".parquet");
    Data("p", "g_0-1-2_" + T(0) + ".parquet");
    ASSERT_OK_ASSIGN(const auto table, Slices());
    ASSERT_EQ(table.slices.size(), 1u);
    EXPECT_EQ(table.slices[0].base->name.write_token, each.token);
    EXPECT_THAT(SetAside(), ElementsAre(each.set_aside + " duplicate"));
    EXPECT_THAT(Kinds(), ElementsAre(each.kind));
  }
}

TEST_F(FileSlicesTest, WhichOfTwoFilesCountsIsUnknownWithoutTheirCommit) {
  Properties(1);
  Complete(1, "commit");
  for (const auto* const token : {"0-1-1", "0-1-2", "0-1-3"})
    Data("p", "g_" + std::string(token) + "_" + T(0) + ".parquet");
  ASSERT_OK_ASSIGN(const auto table, Slices());
  ASSERT_EQ(table.slices.size(), 1u);
  EXPECT_EQ(table.slices[0].base->name.write_token, "0-1-3");
  EXPECT_THAT(Kinds(), ElementsAre("ambiguous_base_file", "ambiguous_base_file"));
  Complete(0, "commit", "{");
  EXPECT_THAT(Kinds(), ElementsAre("ambiguous_base_file", "ambiguous_base_file"));
  // Readers of the latest slice do not mind any more.
  Base(1);
  EXPECT_THAT(Kinds(), ElementsAre("duplicate_base_file", "duplicate_base_file"));
}

TEST_F(FileSlicesTest, OtherFilesAndFormatsAreFindings) {
  Properties(1);
  Complete(0, "commit");
  Data("p", "g_0-1-1_" + T(0) + ".orc");
  Data("p", "notes.txt");
  Data("p", ".g_0-1-1_" + T(0) + ".orc.crc");
  EXPECT_THAT(Kinds(), ElementsAre("unsupported_base_file", "unknown_file"));
  EXPECT_THAT(Lines(), ElementsAre("p/g 0 base *"));
}

TEST_F(FileSlicesTest, ManyFindingsOfOneKindAreCounted) {
  Properties(1);
  Complete(0, "commit");
  for (size_t i = 0; i < kSliceFindingsMax + 5; ++i) Data("p", "notes" + std::to_string(i));
  ASSERT_OK_ASSIGN(const auto table, Slices());
  ASSERT_EQ(table.findings.size(), kSliceFindingsMax + 1);
  EXPECT_THAT(table.findings.back().message, ::testing::HasSubstr("all=105"));
}

TEST_F(FileSlicesTest, SkeletonsOfABootstrapAreNamed) {
  Properties(1);
  Write("00000000000001.commit", kNoCheckpoint);
  Data("p", "g_0-1-1_00000000000001.parquet");
  ASSERT_OK_ASSIGN(const auto table, Slices());
  ASSERT_EQ(table.slices.size(), 1u);
  EXPECT_TRUE(table.slices[0].base->is_skeleton);
}

TEST_F(FileSlicesTest, ASliceThatIsNotOnTheTimelineButHoldsCommittedBlocksIsAnOrphan) {
  MergeOnRead(1);
  Complete(0, "deltacommit");
  // Block: an empty delete block of the committed instant.
  const std::string header = std::string("\0\0\0\1\0\0\0\0\0\0\0\x11", 12) + T(0);
  const std::string body =
      std::string("\0\0\0\1\0\0\0\1", 8) + header + std::string(8, '\0') + std::string(4, '\0');
  const auto number = [](uint64_t value) {
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
    return bytes;
  };
  const std::string block = "#HUDI#" + number(body.size() + 8) + body + number(body.size() + 8 + 6);
  Data("p", ".g_" + T(3) + ".log.1_0-1-1", block);
  EXPECT_THAT(Kinds(), IsEmpty());
  EXPECT_THAT(Kinds({.with_orphan_check = true}), ElementsAre("orphan_log_file"));
}

TEST_F(FileSlicesTest, AnArchiveThatCannotBeReadIsAnErrorWhenItIsNeeded) {
  MergeOnRead(2);
  CompleteAt(3, T(3), "deltacommit");
  Write("timeline/history/_version_", "1");
  Write("timeline/history/manifest_1", R"({"files":[{"fileName":"1_2_0.parquet","fileLen":1}]})");
  Write("timeline/history/1_2_0.parquet", "x");
  Base(3);
  EXPECT_THAT(Lines(), ElementsAre("p/g 3 base *"));
  Base(1);
  EXPECT_THAT(Slices(), IsError(ErrorKind::kUnavailable, _));
  EXPECT_THAT(Lines({.with_archived = false}), ElementsAre("p/g 1 base", "p/g 3 base *"));
}

TEST_F(FileSlicesTest, ACleanUnderTheListingStartsOver) {
  Properties(1);
  Complete(0, "commit");
  Complete(1, "replacecommit", R"({"partitionToReplaceFileIds":{}})");
  Base(0);
  int cleans = 0;
  store_.before_read = [&](std::string_view key) {
    if (key.ends_with(".replacecommit") && cleans == 0) {
      ++cleans;
      Write(T(2) + ".clean.requested", "");
    }
  };
  EXPECT_THAT(Lines(), ElementsAre("p/g 0 base *"));
  EXPECT_EQ(std::ranges::count(store_.reads, ".hoodie/" + T(1) + ".replacecommit"), 2);
}

TEST_F(FileSlicesTest, ATimelineThatNeverRestsIsAConflict) {
  Properties(1);
  Complete(1, "replacecommit", R"({"partitionToReplaceFileIds":{}})");
  int cleans = 0;
  store_.before_read = [&](std::string_view key) {
    if (key.ends_with(".replacecommit"))
      Write("2027010100000000" + std::to_string(++cleans) + ".clean.requested", "");
  };
  EXPECT_THAT(Slices(), IsError(ErrorKind::kConflict, _));
}

}  // namespace
}  // namespace tidemark::lake::hudi
