#include "api/checkpoint_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace tidemark::api {
namespace {

using lake::CheckpointKind;
using lake::CheckpointSearch;
using lake::CommitPoint;
using nlohmann::ordered_json;

CheckpointSearch Found(lake::SourceCheckpoint checkpoint) {
  CheckpointSearch search;
  search.found = CommitPoint{.instant = "20240101120000123",
                             .action = "deltacommit",
                             .completion = {},
                             .commit_depth = 2,
                             .committed_at = {},
                             .checkpoint = std::move(checkpoint)};
  search.commits_examined = 3;
  return search;
}

// Written by hand from the contract's page.
TEST(CheckpointJsonTest, AKafkaCheckpointLooksLikeTheContract) {
  const CheckpointSearch search =
      Found({.key = "deltastreamer.checkpoint.key",
             .value = "orders,0:1200,10:3",
             .kind = CheckpointKind::kKafka,
             .topics = {{.topic = "orders", .offsets = {{0, 1200}, {10, 3}}, .writer = ""}}});
  EXPECT_EQ(CheckpointJson("s3://lake/orders", search),
            R"({"schema":"tidemark.checkpoint/1","table":"s3://lake/orders","found":true,)"
            R"("instant":"20240101120000123","action":"deltacommit",)"
            R"("key":"deltastreamer.checkpoint.key","value":"orders,0:1200,10:3",)"
            R"("commit_depth":2,"kind":"kafka","topic":"orders","offsets":{"0":1200,"10":3},)"
            R"("completion_time":null,"archived":false,"committed_at":null,)"
            R"("last_change_instant":null,"writers":null,"defect":null,"commits_examined":3,)"
            R"("commits_unreadable":0,"depth_exhausted":false,"findings":[]})");
}

TEST(CheckpointJsonTest, NothingFoundSaysHowManyCommitsWereLookedAt) {
  CheckpointSearch search;
  search.commits_examined = 100;
  search.is_depth_exhausted = true;
  EXPECT_EQ(CheckpointJson("t", search),
            R"({"schema":"tidemark.checkpoint/1","table":"t","found":false,)"
            R"("commits_examined":100,"commits_unreadable":0,"depth_exhausted":true,)"
            R"("findings":[]})");
}

ordered_json Parsed(lake::SourceCheckpoint checkpoint) {
  return ordered_json::parse(CheckpointJson("t", Found(std::move(checkpoint))), nullptr, false);
}

TEST(CheckpointJsonTest, AForeignKindHasNoTopicAndNoOffsets) {
  const ordered_json shown =
      Parsed({.key = "k", .value = "v", .kind = CheckpointKind::kFlink, .topics = {}});
  EXPECT_EQ(shown["kind"], "other");
  EXPECT_TRUE(shown["topic"].is_null());
  EXPECT_TRUE(shown["offsets"].is_null());
}

TEST(CheckpointJsonTest, KafkaConnectHasOffsetsWithoutATopic) {
  const ordered_json shown = Parsed({.key = "k",
                                     .value = "1=7",
                                     .kind = CheckpointKind::kKafkaConnect,
                                     .topics = {{.topic = "", .offsets = {{1, 7}}, .writer = ""}}});
  EXPECT_EQ(shown["kind"], "kafka_connect");
  EXPECT_TRUE(shown["topic"].is_null());
  EXPECT_EQ(shown["offsets"].dump(), R"({"1":7})");
}

TEST(CheckpointJsonTest, WritersOfOneTopicAreMergedToTheLowestAndListed) {
  const ordered_json shown =
      Parsed({.key = "k",
              .value = "{}",
              .kind = CheckpointKind::kKafka,
              .topics = {{.topic = "t", .offsets = {{0, 9}, {1, 2}}, .writer = "a"},
                         {.topic = "t", .offsets = {{0, 5}}, .writer = "b"}}});
  EXPECT_EQ(shown["topic"], "t");
  EXPECT_EQ(shown["offsets"].dump(), R"({"0":5,"1":2})");
  EXPECT_EQ(shown["writers"].dump(), R"([{"writer":"a","topic":"t","offsets":{"0":9,"1":2}},)"
                                     R"({"writer":"b","topic":"t","offsets":{"0":5}}])");
}

TEST(CheckpointJsonTest, WritersOfSeveralTopicsHaveNoCommonOffsets) {
  const ordered_json shown =
      Parsed({.key = "k",
              .value = "{}",
              .kind = CheckpointKind::kKafka,
              .topics = {{.topic = "t", .offsets = {{0, 9}}, .writer = "a"},
                         {.topic = "u", .offsets = {{0, 5}}, .writer = "b"}}});
  EXPECT_TRUE(shown["topic"].is_null());
  EXPECT_TRUE(shown["offsets"].is_null());
  EXPECT_EQ(shown["writers"].size(), 2U);
}

}  // namespace
}  // namespace tidemark::api
