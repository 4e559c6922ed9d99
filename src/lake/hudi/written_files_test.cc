#include "lake/hudi/written_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using support::IsOkAnd;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kBody = R"({
  "partitionToWriteStats" : {
    "p1" : [ {
      "fileId" : "a-0", "prevCommit" : "null", "path" : "p1/a-0_0-1-1_20260101000000000.parquet",
      "cdcStats" : { "p1/x" : 3 }, "fileSizeInBytes" : 435,
      "runtimeStats" : { "totalScanTime" : 0, "path" : "no" } }, {
      "path" : "p1/.a-0_20260101000000000.log.1_0-1-1", "logOffset" : 100,
      "prevCommit" : "20260101000000000",
      "fileSizeInBytes" : 20, "logFiles" : [ "x" ] } ],
    "" : [ { "path" : "b.parquet", "fileSizeInBytes" : 7 } ]
  },
  "extraMetadata" : { "schema" : "" } })";

TEST(WrittenFilesTest, ALogEndsBehindWhatWasAppended) {
  EXPECT_THAT(ParseWrittenFiles(kBody),
              IsOkAnd(ElementsAre(
                  WrittenFile{"p1/a-0_0-1-1_20260101000000000.parquet", 435, ""},
                  WrittenFile{"p1/.a-0_20260101000000000.log.1_0-1-1", 120, "20260101000000000"},
                  WrittenFile{"b.parquet", 7, ""})));
}

TEST(WrittenFilesTest, WhatLeavesNoFileIsLeftOut) {
  for (const std::string stat :
       {R"({"path":null,"fileSizeInBytes":1})", R"({"fileSizeInBytes":1})",
        R"({"path":"p/a","fileSizeInBytes":0})", R"({"path":"p/a","fileSizeInBytes":-1})",
        R"({"path":"p/a","fileSizeInBytes":null})", R"({"path":"p/a"})",
        R"({"path":"","fileSizeInBytes":1})",
        R"({"path":"p/a","fileSizeInBytes":1,"logOffset":-1})"}) {
    EXPECT_THAT(ParseWrittenFiles("{\"partitionToWriteStats\":{\"p\":[" + stat + "]}}"),
                IsOkAnd(IsEmpty()))
        << stat;
  }
  EXPECT_THAT(ParseWrittenFiles(""), IsOkAnd(IsEmpty()));
  EXPECT_THAT(ParseWrittenFiles(R"({"partitionToWriteStats":null})"), IsOkAnd(IsEmpty()));
  EXPECT_THAT(ParseWrittenFiles("{}"), IsOkAnd(IsEmpty()));
}

TEST(WrittenFilesTest, EveryPathIsOneOfTheTable) {
  struct Case {
    std::string partition, path, file;
  };
  const std::vector<Case> cases = {
      {"p", "./p/a", "p/a"},      {"p", "p//a", "p/a"},        {"p", "p/./a", "p/a"},
      {"p", "/t/p/a", "p/a"},     {"p", "s3://b/p/a", "p/a"},  {"p", "../t/p/a", "p/a"},
      {"p", "p/../../a", "p/a"},  {"", "/t/a", "a"},           {"p/q", "/t/p/q/a", "p/q/a"},
  };
  for (const Case& each : cases) {
    EXPECT_THAT(ParseWrittenFiles("{\"partitionToWriteStats\":{\"" + each.partition +
                                  "\":[{\"path\":\"" + each.path +
                                  "\",\"fileSizeInBytes\":1}]}}"),
                IsOkAnd(ElementsAre(WrittenFile{each.file, 1, ""})))
        << each.path;
  }
}

/// The bodies that say nothing are what a writer leaves that dies, and what is left of one.
TEST(WrittenFilesTest, ACommitSaysThatItWroteNothing) {
  struct Case {
    std::string body;
    bool is_told;
  };
  const std::vector<Case> cases = {
      {"", false},
      {"{}", false},
      {R"({"partitionToWriteStats":null,"operationType":"UPSERT"})", false},
      {R"({"operationType":"UPSERT","extraMetadata":{"schema":"x"}})", false},
      {R"({"partitionToWriteStats":{}})", false},
      {R"({"partitionToWriteStats":{},"extraMetadata":{},"operationType":null})", false},
      {R"({"partitionToWriteStats":{},"extraMetadata":{},"operationType":"UPSERT"})", true},
      {R"({"extraMetadata":{"schema":"x"},"partitionToWriteStats":{}})", true},
      {R"({"partitionToWriteStats":{"p":[{"path":"p/a","fileSizeInBytes":1}]}})", true},
  };
  for (const Case& each : cases) {
    ASSERT_OK_ASSIGN(const auto writes, ParseCommitWrites(each.body));
    EXPECT_EQ(writes.is_told, each.is_told) << each.body;
  }
}

TEST(WrittenFilesTest, AnInflightBodySaysWhichGroupsAreToBeWritten) {
  ASSERT_OK_ASSIGN(const auto writes, ParseCommitWrites(R"({"partitionToWriteStats":{"p":[
      {"numInserts":0,"fileId":"","path":null}, {"numInserts":2,"fileId":"","path":null},
      {"numInserts":0,"fileId":"a-0","path":null,"prevCommit":"20260101000000000"}]}})"));
  EXPECT_THAT(writes.planned, ElementsAre(PlannedWrite{"p", ""}, PlannedWrite{"p", "a-0"}));
  EXPECT_THAT(writes.files, IsEmpty());
}

TEST(WrittenFilesTest, ACutOffBodyNeverGivesFiles) {
  for (size_t size = 1; size < kBody.size(); ++size)
    EXPECT_THAT(ParseWrittenFiles(kBody.substr(0, size)), IsError(ErrorKind::kCorrupt, _)) << size;
}

TEST(WrittenFilesTest, NoByteFlipCrashes) {
  for (size_t i = 0; i < kBody.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = kBody;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      const auto files = ParseWrittenFiles(flipped);
      if (!files) {
        EXPECT_EQ(files.error().kind, ErrorKind::kCorrupt) << flipped;
      }
    }
  }
}

/// Written by Hudi 1.1.1. The sizes are those of the files that lie in the table.
TEST(WrittenFilesTest, ARealAvroCommitIsRead) {
  const std::string body = support::ReadTestdata(
      "hudi/rows/b_corrupt_tail_v9/table/.hoodie/timeline/"
      "20261130015752217_20261130015804297.deltacommit");
  ASSERT_OK_ASSIGN(auto files, ParseWrittenFiles(body));
  std::ranges::sort(files, {}, &WrittenFile::path);
  EXPECT_THAT(
      files,
      ElementsAre(WrittenFile{"p1/.00000000-ed2f-4165-a2f8-34c4a0f6eba2-0_20261130015752217.log.1_"
                              "0-266-339",
                              2226, "20261130015752217"},
                  WrittenFile{"p2/.00000000-b691-40ea-9d58-5c4158d0a824-0_20261130015752217.log.1_"
                              "1-266-340",
                              2228, "20261130015752217"}));
  for (size_t size = 1; size < body.size(); ++size)
    EXPECT_THAT(ParseWrittenFiles(body.substr(0, size)), IsError(ErrorKind::kCorrupt, _)) << size;
}

}  // namespace
}  // namespace tidemark::lake::hudi
