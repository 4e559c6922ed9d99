#include "api/plain_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tidemark::api {
namespace {

using change::PartitionOp;
using nlohmann::json;
using ::testing::ElementsAre;

change::Group GroupOf(std::string instant) {
  change::Group group;
  group.epoch = 1;
  group.seq = 2;
  group.instant = change::InstantKey{std::move(instant), "commit"};
  group.time = WallTimeFromMillis(1'705'300'200'000);
  group.schema_version = 3;
  return group;
}

void Add(change::Group& group, const std::string& path, PartitionOp op) {
  auto& change = group.partitions.emplace_back();
  change.path = path;
  change.op = op;
}

const TableIdentity kOrders{.uid = "0123456789abcdef",
                            .table_id = "lake.orders",
                            .database = "lake",
                            .base_path = "s3://lake/orders"};

// The sample body of change-feed R21, with the fields of R14 and R61 around it.
TEST(PlainJsonTest, APartitionEventIsTheSampleOfTheFirstDesign) {
  auto group = GroupOf("20240115103000");
  Add(group, "dt=2024-01-15", PartitionOp::kAdd);
  Add(group, "dt=2023-01-15", PartitionOp::kDrop);
  const auto events = PlainEvents(kOrders, group, {});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].body,
            R"({"tableId":"lake.orders","instantTime":"20240115103000","changeType":"PARTITION",)"
            R"("changeDetail":{"partitions":[{"path":"dt=2024-01-15","op":"ADD"},)"
            R"({"path":"dt=2023-01-15","op":"DELETE"}]},"timestamp":1705300200000,)"
            R"("schemaVersion":3,"source":"incremental"})");
}

TEST(PlainJsonTest, SchemaPartitionsAndCommitAreEventsOfTheirOwn) {
  auto group = GroupOf("1");
  auto schema = change::ParseAvroColumns(
      R"({"type":"record","name":"r","fields":[{"name":"x","type":["null","int"],"default":null}]})");
  ASSERT_TRUE(schema.has_value());
  group.schema = change::SchemaChange{
      .schema = *schema,
      .diff = {{.op = change::SchemaOp::kAdd, .path = "x", .from = "", .to = "int"}}};
  Add(group, "p", PartitionOp::kTouch);
  group.commit = change::CommitChange{.type = change::CommitType::kCompaction, .files_added = 4};
  std::vector<std::string> types;
  for (const auto& event : PlainEvents(kOrders, group, {})) types.push_back(event.type);
  EXPECT_THAT(types, ElementsAre("SCHEMA", "PARTITION", "COMMIT"));
  const auto events = PlainEvents(kOrders, group, {});
  const json field = json::parse(events[0].body).at("changeDetail").at("fields").at(0);
  EXPECT_EQ(field.at("name"), "x");
  EXPECT_EQ(field.at("type"), "int");
  EXPECT_EQ(field.at("nullable"), true);
  EXPECT_TRUE(field.at("default").is_null());
  EXPECT_EQ(json::parse(events[2].body).at("changeDetail"),
            json({{"commitType", "COMPACTION"}, {"fileCount", 4}}));
}

TEST(PlainJsonTest, ShardsSayWhichTheyAreAndHowManyThereAre) {
  auto group = GroupOf("1");
  for (int i = 0; i < 5; ++i) Add(group, fmt::format("p{}", i), PartitionOp::kAdd);
  const auto events = PlainEvents(kOrders, group, {.body_size_max = 1 << 20, .partitions_max = 2});
  ASSERT_EQ(events.size(), 3u);
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(json::parse(events[i].body).at("shardIndex"), i);
    EXPECT_EQ(json::parse(events[i].body).at("shardTotal"), 3);
  }
}

}  // namespace
}  // namespace tidemark::api
