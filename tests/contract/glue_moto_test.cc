// The Glue sink against moto, somebody else's idea of Glue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <memory>

#include "sink/catalog_comparison.h"
#include "sink/catalog_sink.h"
#include "sink/glue_catalog.h"
#include "support/change_column.h"
#include "support/result_matchers.h"
#include "support/s3_server.h"

namespace tidemark::sink {
namespace {

using support::ColumnOf;
using support::IsOk;
using testing::Contains;
using testing::Pair;

// Started by main(): a child ends with the thread that started it.
std::unique_ptr<support::S3Server> server;

Budget Ample() {
  return Budget::For(std::chrono::minutes(2));
}

class GlueMotoTest : public testing::Test {
 protected:
  void SetUp() override {
    static int count = 0;
    view_.table_name = "orders" + std::to_string(++count);
    view_.identity.base_path = "s3://lake/" + view_.table_name;
    view_.partition_columns = {"dt"};
    view_.schema.columns = {ColumnOf("id", "int"), ColumnOf("dt", "string")};
    view_.partitions = [this] { return partitions_; };
    for (int i = 0; i < 130; ++i) partitions_.push_back(Day(i));
  }
  static PartitionView Day(int number) {
    const std::string value = std::to_string(number);
    return {.path = "dt=" + value, .values = {value}};
  }
  static GlueOptions Options() {
    return {.endpoint = server->Options().endpoint, .region = "us-east-1"};
  }
  SinkOutcome Apply(SinkStamp stamp, const TableDelta* delta = nullptr,
                    std::optional<SinkStamp> applied = std::nullopt) {
    CatalogSink sink(std::make_unique<GlueCatalog>(Options()),
                     {.naming = {.database = "lake"}, .stamping = Stamping::kWithChanges});
    return sink.Apply({.now = view_, .stamp = stamp, .delta = delta, .applied = applied}, Ample());
  }
  std::optional<CatalogTable> There() {
    auto table = reader_.ReadTable("lake", view_.table_name, Ample());
    EXPECT_THAT(table, IsOk());
    return table ? *table : std::nullopt;
  }
  size_t PartitionsThere() {
    auto list = reader_.ListPartitions(*There(), Ample());
    EXPECT_THAT(list, IsOk());
    return list ? list->size() : 0;
  }

  TableView view_;
  std::vector<PartitionView> partitions_;
  GlueCatalog reader_{
      {.endpoint = server->Options().endpoint, .region = "us-east-1", .at_once = 1}};
};

TEST_F(GlueMotoTest, TheServerAnswersAndChecksOurSignature) {
  EXPECT_THAT(reader_.Check(Ample()), IsOk());
}

TEST_F(GlueMotoTest, ATableIsMadeChangedAndFilled) {
  auto outcome = Apply({1, 1});
  ASSERT_EQ(outcome.kind, OutcomeKind::kApplied) << outcome.reason;
  EXPECT_EQ(PartitionsThere(), 130U);
  EXPECT_THAT(There()->properties, Contains(Pair("hudi_sync_seq", "1")));
  view_.schema.columns[0].type = "bigint";
  TableDelta delta{.from = {1, 1}, .to = {1, 2}, .has_schema_change = true};
  delta.added = {Day(200)};
  delta.dropped = {Day(0), Day(1)};
  outcome = Apply({1, 2}, &delta, SinkStamp{1, 1});
  ASSERT_EQ(outcome.kind, OutcomeKind::kApplied) << outcome.reason;
  EXPECT_EQ(PartitionsThere(), 129U);
  EXPECT_EQ(There()->columns.back().type, "bigint");
  EXPECT_THAT(There()->properties, Contains(Pair("hudi_sync_seq", "2")));
  EXPECT_EQ(Apply({1, 1}).kind, OutcomeKind::kStale);
}

TEST_F(GlueMotoTest, WhatOthersDidBehindTheSinksBackIsNamed) {
  ASSERT_EQ(Apply({1, 4}).kind, OutcomeKind::kApplied);
  const auto compare = [&](SinkStamp told, std::map<std::string, int64_t, std::less<>> named) {
    const TableTruth truth{
        .view = view_, .partitions = partitions_, .told = told, .named = std::move(named)};
    auto found = CompareCatalog(
        reader_, {.naming = {.database = "lake"}, .stamping = Stamping::kWithChanges}, truth,
        Ample());
    EXPECT_THAT(found, IsOk());
    return found ? found->at(0) : CatalogComparison{};
  };
  auto found = compare({1, 4}, {});
  EXPECT_EQ(found.agreement, change::Agreement::kEqual)
      << found.message << testing::PrintToString(found.differences);
  // Groups that changed no table leave the stamp where it was.
  EXPECT_EQ(compare({1, 9}, {}).agreement, change::Agreement::kEqual);
  const std::vector<PartitionView> lost = {Day(100)};
  const std::vector<PartitionView> foreign = {Day(500)};
  ASSERT_THAT(reader_.DropPartitions(*There(), lost, Ample()), IsOk());
  ASSERT_THAT(reader_.AddPartitions(*There(), foreign, Ample()), IsOk());
  found = compare({1, 4}, {});
  EXPECT_EQ(found.agreement, change::Agreement::kDifferent);
  EXPECT_THAT(found.missing, testing::ElementsAre("dt=100"));
  EXPECT_THAT(found.surplus, testing::ElementsAre("dt=500"));
  EXPECT_EQ(compare({1, 9}, {}).agreement, change::Agreement::kBehind);
  EXPECT_EQ(compare({1, 9}, {{"dt=100", 5}}).agreement, change::Agreement::kBehind);
  EXPECT_EQ(compare({1, 9}, {{"dt=100", 4}}).agreement, change::Agreement::kDifferent);
  CatalogSink sink(std::make_unique<GlueCatalog>(Options()),
                   {.naming = {.database = "lake"}, .stamping = Stamping::kWithChanges});
  EXPECT_EQ(sink.Apply({.now = view_, .stamp = {1, 4}, .compares_all = true}, Ample()).kind,
            OutcomeKind::kApplied);
  EXPECT_EQ(compare({1, 4}, {}).agreement, change::Agreement::kEqual);
}

TEST_F(GlueMotoTest, WhatIsThereAlreadyOrGoneAlreadyIsNoError) {
  ASSERT_EQ(Apply({1, 1}).kind, OutcomeKind::kApplied);
  TableDelta delta{.from = {1, 1}, .to = {1, 2}};
  delta.added = {Day(1), Day(2), Day(300)};
  delta.dropped = {Day(400)};
  const auto outcome = Apply({1, 2}, &delta, SinkStamp{1, 1});
  EXPECT_EQ(outcome.kind, OutcomeKind::kApplied) << outcome.reason;
  EXPECT_EQ(PartitionsThere(), 131U);
}

}  // namespace
}  // namespace tidemark::sink

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  auto started = tidemark::support::S3Server::StartMoto({});
  if (!started) {
    std::cerr << started.error().message << '\n';
    return 1;
  }
  tidemark::sink::server = *std::move(started);
  tidemark::sink::server->ExportKeys();
  const int code = RUN_ALL_TESTS();
  tidemark::sink::server.reset();
  return code;
}
