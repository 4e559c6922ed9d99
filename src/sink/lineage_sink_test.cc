#include "sink/lineage_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/change_column.h"
#include "support/scripted_http_server.h"

namespace tidemark::sink {
namespace {

using nlohmann::json;
using support::ColumnOf;

// The naming page of OpenLineage.
TEST(DatasetNameTest, IsTheBucketAndThePath) {
  EXPECT_EQ(DatasetNameOf("s3://lake/warehouse/orders"),
            (DatasetName{"s3://lake", "warehouse/orders"}));
  EXPECT_EQ(DatasetNameOf("s3a://lake/orders"), (DatasetName{"s3://lake", "orders"}));
  EXPECT_EQ(DatasetNameOf("gs://lake/orders"), (DatasetName{"gs://lake", "orders"}));
  EXPECT_EQ(DatasetNameOf("/data/orders"), (DatasetName{"file", "/data/orders"}));
  EXPECT_EQ(DatasetNameOf("file:///data/orders"), (DatasetName{"file", "/data/orders"}));
  EXPECT_EQ(DatasetNameOf("s3://lake"), (DatasetName{"s3://lake", "/"}));
}

class LineageEventTest : public testing::Test {
 protected:
  json Event(const TableDelta* delta) const {
    return json::parse(LineageEvent({.now = view_, .stamp = {1, 7}, .delta = delta},
                                    "https://example.org/tidemark/0.1.0",
                                    WallTimeFromMillis(1'767'225'600'000)));
  }
  TableView view_;
};

TEST_F(LineageEventTest, SaysWhatBecameOfTheTable) {
  TableDelta delta{.from = {1, 6}, .to = {1, 7}};
  EXPECT_FALSE(Event(&delta)["dataset"]["facets"].contains("lifecycleStateChange"));
  EXPECT_FALSE(Event(nullptr)["dataset"]["facets"].contains("lifecycleStateChange"));
  const auto word = [&] {
    return Event(&delta)["dataset"]["facets"]["lifecycleStateChange"]["lifecycleStateChange"];
  };
  delta.has_schema_change = true;
  EXPECT_EQ(word(), "ALTER");
  delta.is_new = true;
  EXPECT_EQ(word(), "CREATE");
  view_.is_dropped = true;
  EXPECT_EQ(word(), "DROP");
}

TEST_F(LineageEventTest, HasTheCommitsTimeElseTheMomentsAndTheStampAsVersion) {
  EXPECT_EQ(Event(nullptr)["eventTime"], "2026-01-01T00:00:00.000Z");
  view_.last_commit_at = WallTimeFromMillis(1'767'225'601'500);
  EXPECT_EQ(Event(nullptr)["eventTime"], "2026-01-01T00:00:01.500Z");
  EXPECT_EQ(Event(nullptr)["dataset"]["facets"]["version"]["datasetVersion"], "1/7");
}

// testdata/openlineage/event.json is checked against OpenLineage's own schemas by
// tests/system/test_sinks.py.
TEST_F(LineageEventTest, IsTheOneThatTheSchemasWereHeldAgainst) {
  view_.identity.base_path = "s3://lake/sales/orders";
  view_.last_commit_at = WallTimeFromMillis(1'767'225'601'500);
  view_.schema.columns = {ColumnOf("id", "bigint"), ColumnOf("place", "struct<lat:double>")};
  view_.schema.columns[0].comment = "the key";
  view_.schema.columns[1].children = {ColumnOf("lat", "double")};
  const TableDelta delta{.from = {1, 6}, .to = {1, 7}, .has_schema_change = true};
  std::ifstream file(TIDEMARK_TESTDATA "/openlineage/event.json");
  const json expected = json::parse(file, nullptr, /*allow_exceptions=*/false);
  EXPECT_EQ(Event(&delta), expected);
}

TEST(LineageSinkTest, AnEventGoesToTheLineageEndpoint) {
  support::ScriptedHttpServer server(
      [](const support::ScriptedRequest&, int) { return support::HttpReply(201, ""); });
  LineageSink sink({.url = server.endpoint() + "/", .producer = "https://example.org/t"});
  const TableView view;
  EXPECT_EQ(sink.Apply({.now = view, .stamp = {1, 1}}, Budget::For(std::chrono::seconds(10))).kind,
            OutcomeKind::kApplied);
  EXPECT_EQ(server.Requests().at(0).target, "/api/v1/lineage");
  EXPECT_EQ(server.Requests().at(0).method, "POST");
}

}  // namespace
}  // namespace tidemark::sink
