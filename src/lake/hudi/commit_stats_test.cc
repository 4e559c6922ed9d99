#include "lake/hudi/commit_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "lake/hudi/written_files.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using support::IsOkAnd;
using ::testing::_;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Expected values stand in the JSON of the file itself.
const std::string kOverwrite =
    "hudi/tables/timeline_story_cow/table/.hoodie/20261130022438222.replacecommit";
const std::string kDelta =
    "hudi/tables/timeline_story_mor/table/.hoodie/20261130023539258.deltacommit";
// Read off the Avro body with another reader.
const std::string kAvro =
    "hudi/tables/c_story_mor_v9/table/.hoodie/timeline/"
    "20261130020902851_20261130020915587.replacecommit";

TEST(CommitStatsTest, ABaseFileOfANewGroupIsInserted) {
  ASSERT_OK_ASSIGN(const auto stats, ParseCommitStats(support::ReadTestdata(kOverwrite)));
  const WriteStat written = {
      .file_id = "b3e744f7-7ce3-482f-bcff-a66cc99d1cec-0",
      .path = "part=p2/b3e744f7-7ce3-482f-bcff-a66cc99d1cec-0_0-74-75_20261130022438222.parquet",
      .previous = "",
      .records_written = 2,
      .inserted = 2,
      .updated = 0,
      .deleted = 0,
      .bytes = 5028,
      .is_log = false};
  EXPECT_THAT(stats.partitions, ElementsAre(Pair("part=p2", ElementsAre(written))));
  EXPECT_THAT(stats.metadata.replaced,
              ElementsAre(Pair("part=p2", ElementsAre("801f906a-15d8-440e-931b-3c9f43618afb-0"))));
  EXPECT_EQ(stats.metadata.operation, "INSERT_OVERWRITE");
  EXPECT_TRUE(stats.is_told);
}

TEST(CommitStatsTest, ALogFileIsAppendedToItsBase) {
  ASSERT_OK_ASSIGN(const auto stats, ParseCommitStats(support::ReadTestdata(kDelta)));
  const WriteStat written = {
      .file_id = "dc1dc346-eb3b-4a63-ae44-f41ae4203469-0",
      .path = "part=p3/.dc1dc346-eb3b-4a63-ae44-f41ae4203469-0_20261130023203287.log.1_0-312-364",
      .previous = "20261130023203287",
      .records_written = 1,
      .inserted = 0,
      .updated = 1,
      .deleted = 0,
      .bytes = 1044,
      .is_log = true};
  EXPECT_THAT(stats.partitions, ElementsAre(Pair("part=p3", ElementsAre(written))));
}

TEST(CommitStatsTest, ARealAvroCommitIsRead) {
  ASSERT_OK_ASSIGN(const auto stats, ParseCommitStats(support::ReadTestdata(kAvro)));
  const WriteStat written = {
      .file_id = "34ca202d-b5cb-4585-8425-773918e85987-0",
      .path = "part=p2/34ca202d-b5cb-4585-8425-773918e85987-0_0-197-317_20261130020902851.parquet",
      .previous = "",
      .records_written = 1,
      .inserted = 1,
      .updated = 0,
      .deleted = 0,
      .bytes = 4128,
      .is_log = false};
  EXPECT_THAT(stats.partitions, ElementsAre(Pair("part=p2", ElementsAre(written))));
  EXPECT_THAT(stats.metadata.replaced,
              ElementsAre(Pair("part=p2", ElementsAre("b8cc5b85-bb8c-404f-a7a9-b7e5f79c15b9-0"))));
  EXPECT_TRUE(stats.metadata.extra.contains("latest_schema"));
}

TEST(CommitStatsTest, WhatIsAbsentIsNothing) {
  EXPECT_THAT(ParseCommitStats(""), IsOkAnd(CommitStats{}));
  EXPECT_THAT(ParseCommitStats(R"({"partitionToWriteStats":null})"), IsOkAnd(CommitStats{}));
  ASSERT_OK_ASSIGN(const auto stats, ParseCommitStats(R"({"operationType":"DELETE",
      "partitionToWriteStats":{"a":[],"b":[{},{"numWrites":-1,"path":null,"fileId":"f",
        "totalWriteBytes":null,"fileSizeInBytes":7}]}})"));
  EXPECT_THAT(
      stats.partitions,
      ElementsAre(
          Pair("a", IsEmpty()),
          Pair("b",
               ElementsAre(WriteStat{},
                           WriteStat{.file_id = "f", .path = "", .previous = "", .bytes = 7}))));
  EXPECT_TRUE(stats.is_told);
}

TEST(CommitStatsTest, APathOutOfTheTableIsTheFileInItsPartition) {
  ASSERT_OK_ASSIGN(const auto stats, ParseCommitStats(R"({"partitionToWriteStats":{"p/q":[
      {"path":"file:///lake/t/p/q/a.parquet"},{"path":"./p//q/b.parquet"},{"path":"../x/.c.log.1_0"}]}})"));
  std::vector<std::string> paths;
  for (const auto& stat : stats.partitions.at("p/q")) paths.push_back(stat.path);
  EXPECT_THAT(paths, ElementsAre("p/q/a.parquet", "p/q/b.parquet", "p/q/.c.log.1_0"));
  EXPECT_TRUE(stats.partitions.at("p/q")[2].is_log);
}

/// The rest of the stats of one member count when it comes again.
TEST(CommitStatsTest, TheLastOfEqualMembersWins) {
  ASSERT_OK_ASSIGN(const auto stats, ParseCommitStats(R"({"partitionToWriteStats":{"a":[{}]},
                                        "partitionToWriteStats":{"b":[]}})"));
  EXPECT_THAT(stats.partitions, ElementsAre(Pair("b", IsEmpty())));
}

TEST(CommitStatsTest, AStatOfAnotherShapeIsCorrupt) {
  for (const std::string body :
       {R"({"partitionToWriteStats":[]})", R"({"partitionToWriteStats":{"a":{}}})",
        R"({"partitionToWriteStats":{"a":[1]}})",
        R"({"partitionToWriteStats":{"a":[{"numWrites":"1"}]}})",
        R"({"partitionToWriteStats":{"a":[{"path":1}]}})"}) {
    EXPECT_THAT(ParseCommitStats(body), IsError(ErrorKind::kCorrupt, _)) << body;
  }
}

TEST(CommitStatsTest, EveryTruncationIsAnError) {
  for (const auto& file : {kOverwrite, kAvro}) {
    const std::string body = support::ReadTestdata(file);
    for (size_t size = 1; size < body.size(); ++size)
      EXPECT_THAT(ParseCommitStats(body.substr(0, size)), IsError(ErrorKind::kCorrupt, _)) << size;
  }
}

TEST(CommitStatsTest, AFlippedByteIsAnErrorOrAnotherText) {
  for (const auto& file : {kOverwrite, kAvro}) {
    const std::string body = support::ReadTestdata(file);
    for (size_t i = 0; i < body.size(); ++i) {
      for (const int mask : {0x01, 0x80}) {
        std::string flipped = body;
        flipped[i] = static_cast<char>(flipped[i] ^ mask);
        const auto stats = ParseCommitStats(std::move(flipped));
        if (stats) continue;
        EXPECT_THAT(stats.error().kind,
                    AnyOf(ErrorKind::kCorrupt, ErrorKind::kUnsupported, ErrorKind::kExhausted))
            << i;
      }
    }
  }
}

/// The three readings of a body agree, on every commit of every table.
TEST(CommitStatsTest, ItSaysWhatTheLeanerReadersSay) {
  namespace fs = std::filesystem;
  size_t commits = 0;
  for (const auto* folder : {"hudi/tables", "hudi/rows"}) {
    const fs::path root = fs::path(TIDEMARK_TESTDATA) / folder;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const std::string path = entry.path().string();
      if (!entry.is_regular_file() || !path.ends_with("commit") || path.contains("schemacommit"))
        continue;
      const std::string body = support::ReadTestdata(fs::relative(entry.path(), TIDEMARK_TESTDATA));
      ASSERT_OK_ASSIGN(const auto stats, ParseCommitStats(body));
      EXPECT_THAT(ParseCommitMetadata(body), IsOkAnd(stats.metadata)) << path;
      ASSERT_OK_ASSIGN(const auto writes, ParseCommitWrites(body));
      EXPECT_EQ(writes.is_told, stats.is_told) << path;
      std::vector<WrittenFile> files;
      for (const auto& [partition, list] : stats.partitions) {
        for (const auto& stat : list)
          if (!stat.path.empty()) files.push_back({stat.path, stat.bytes, stat.previous});
      }
      std::vector<WrittenFile> written = writes.files;
      std::ranges::sort(files, {}, &WrittenFile::path);
      std::ranges::sort(written, {}, &WrittenFile::path);
      ASSERT_EQ(files.size(), written.size()) << path;
      for (size_t i = 0; i < files.size(); ++i) {
        EXPECT_EQ(files[i].path, written[i].path);
        EXPECT_EQ(files[i].previous, written[i].previous);
        EXPECT_LE(files[i].size, written[i].size);  // a log file may have begun before
      }
      ++commits;
    }
  }
  EXPECT_GT(commits, 300U);
}

}  // namespace
}  // namespace tidemark::lake::hudi
