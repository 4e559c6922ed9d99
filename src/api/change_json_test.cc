#include "api/change_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace tidemark::api {
namespace {

using change::Group;
using change::PartitionOp;
using nlohmann::json;
using ::testing::ElementsAre;

class ChangeJsonTest : public ::testing::Test {
 protected:
  ChangeJsonTest() {
    properties_.name = "orders";
    properties_.all = {{"hoodie.database.name", "lake"}, {"hoodie.table.partition.fields", "dt"}};
    group_.epoch = 2;
    group_.seq = 7;
    group_.previous =
        change::Previous{.seq = 6, .instant = change::InstantKey{"20240115", "commit"}};
    group_.instant = change::InstantKey{"20240115103000", "commit"};
    group_.time = WallTimeFromMillis(1'705'300'200'000);
    group_.commit = change::CommitChange{.type = change::CommitType::kCommit};
  }

  void AddPartitions(size_t count, size_t name_size = 10) {
    for (size_t i = 0; i < count; ++i) {
      auto& change = group_.partitions.emplace_back();
      change.path = fmt::format("dt={:0{}}", i, name_size);
      change.op = PartitionOp::kAdd;
    }
  }
  std::vector<json> Render(const EventLimits& limits = {}) const {
    std::vector<json> events;
    for (const auto& event :
         ChangeEvents(IdentityOf("s3://lake/orders/", properties_), properties_, group_, limits)) {
      EXPECT_EQ(json::parse(event.body).at("id"), event.id);
      events.push_back(json::parse(event.body));
    }
    return events;
  }

  lake::hudi::TableProperties properties_;
  Group group_;
};

TEST_F(ChangeJsonTest, AnEventBearsTheTableTheInstantAndItsPlaceInTheOrder) {
  const auto events = Render();
  ASSERT_EQ(events.size(), 1u);
  const json& event = events[0];
  EXPECT_EQ(event.at("source"), "/hudi/lake/orders");
  EXPECT_EQ(event.at("type"), "hudi.metadata.commit.v1");
  EXPECT_EQ(event.at("time"), "2024-01-15T06:30:00.000Z");
  EXPECT_EQ(event.at("sequence"), "00000000000000000007");
  const json& data = event.at("data");
  // The names and forms of the sample body (change-feed R21).
  EXPECT_EQ(data.at("tableId"), "lake.orders");
  EXPECT_EQ(data.at("instantTime"), "20240115103000");
  EXPECT_EQ(data.at("timestamp"), 1'705'300'200'000);
  EXPECT_EQ(data.at("prev"),
            json({{"seq", 6}, {"requestedTime", "20240115"}, {"action", "commit"}}));
  EXPECT_EQ(data.at("basePath"), "s3://lake/orders");
  EXPECT_EQ(event.at("partitionkey"), data.at("uid"));
}

TEST_F(ChangeJsonTest, PartsComeInTheOrderOfRuleThree) {
  AddPartitions(1);
  group_.schema.emplace();
  group_.retracted.push_back({.instant = {"1", "commit"}, .seq = 3});
  std::vector<std::string> types;
  std::set<json> digests;
  for (const json& event : Render()) {
    types.push_back(event.at("data").at("changeType"));
    EXPECT_EQ(event.at("data").at("part").at("count"), 4);
    digests.insert(event.at("data").at("part").at("groupDigest"));
  }
  EXPECT_THAT(types, ElementsAre("RESTORE", "SCHEMA", "PARTITION", "COMMIT"));
  EXPECT_EQ(digests.size(), 1u);
}

TEST_F(ChangeJsonTest, PartitionsAreSpreadByTheirNumberAndByTheirSize) {
  AddPartitions(12'001);
  const auto by_number = Render();
  ASSERT_EQ(by_number.size(), 4u);
  EXPECT_EQ(by_number[0].at("data").at("changeDetail").at("partitions").size(), 5000u);
  EXPECT_EQ(by_number[2].at("data").at("changeDetail").at("partitions").size(), 2001u);
  group_.partitions.clear();
  AddPartitions(3000, 400);
  const auto table = IdentityOf("s3://lake/orders", properties_);
  size_t partitions = 0;
  const auto events = ChangeEvents(table, properties_, group_, {});
  EXPECT_GT(events.size(), 4u);
  for (const auto& event : events) {
    EXPECT_LE(event.body.size(), EventLimits{}.body_size_max);
    const json detail = json::parse(event.body).at("data").at("changeDetail");
    if (detail.contains("partitions")) partitions += detail.at("partitions").size();
  }
  EXPECT_EQ(partitions, 3000u);
}

TEST_F(ChangeJsonTest, APartitionLargerThanTheLimitIsAPartOfItsOwn) {
  AddPartitions(2, 300);
  const auto events = Render({.body_size_max = 100, .partitions_max = 5000});
  EXPECT_EQ(events.size(), 3u);
}

TEST_F(ChangeJsonTest, NamesCannotChangeTheShapeOfTheSource) {
  properties_.name = "a/b c?\xc3\xa9";
  EXPECT_EQ(Render()[0].at("source"), "/hudi/lake/a%2Fb%20c%3F%C3%A9");
  properties_.all.erase("hoodie.database.name");
  EXPECT_EQ(Render()[0].at("source"), "/hudi/a%2Fb%20c%3F%C3%A9");
  EXPECT_EQ(Render()[0].at("data").at("tableId"), properties_.name);
}

TEST_F(ChangeJsonTest, WhatIsNotKnownIsNullAndATimeIsLeftOut) {
  group_.instant.reset();
  group_.time.reset();
  group_.previous.reset();
  group_.commit.reset();
  group_.table = change::TableChange{.reason = change::TableReason::kCreated};
  const json event = Render().at(0);
  EXPECT_FALSE(event.contains("time"));
  for (const char* key :
       {"instantTime", "timestamp", "prev", "action", "operation", "requestedTime",
        "completionTime", "observedMtime", "schemaFingerprint"}) {
    EXPECT_TRUE(event.at("data").at(key).is_null()) << key;
  }
  EXPECT_EQ(event.at("data").at("changeDetail").at("reason"), "CREATED");
}

TEST_F(ChangeJsonTest, TheUidIsOfThePlaceAlone) {
  EXPECT_EQ(IdentityOf("s3://lake/orders", properties_).uid,
            IdentityOf("s3://lake/orders///", properties_).uid);
  EXPECT_NE(IdentityOf("s3://lake/orders", properties_).uid,
            IdentityOf("s3://lake/orders2", properties_).uid);
}

TEST_F(ChangeJsonTest, ASnapshotHasItsSchemaOnTheFirstPageAndAPageAtLeast) {
  change::Snapshot snapshot;
  snapshot.epoch = 3;
  snapshot.as_of_seq = 1;
  const auto table = IdentityOf("s3://lake/orders", properties_);
  EXPECT_EQ(SnapshotEvents(table, properties_, snapshot, {}).size(), 1u);
  for (int i = 0; i < 5001; ++i) snapshot.partitions.push_back(fmt::format("dt={}", i));
  const auto pages = SnapshotEvents(table, properties_, snapshot, {});
  ASSERT_EQ(pages.size(), 2u);
  EXPECT_EQ(pages[1].id, table.uid + "/3/1/snapshot/1");
  EXPECT_TRUE(json::parse(pages[0].body).at("data").at("changeDetail").contains("fields"));
  EXPECT_FALSE(json::parse(pages[1].body).at("data").at("changeDetail").contains("fields"));
}

}  // namespace
}  // namespace tidemark::api
