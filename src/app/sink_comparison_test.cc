#include "app/sink_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using support::IsError;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

SinkConfig Sink(std::string name, std::string kind, sink::SinkTarget target,
                std::vector<std::string> tables = {}) {
  SinkConfig sink;
  sink.name = std::move(name);
  sink.kind = std::move(kind);
  sink.target = std::move(target);
  sink.tables = std::move(tables);
  return sink;
}

Config WithSinks(std::vector<SinkConfig> sinks) {
  Config config;
  config.mirror.emplace();
  config.mirror->sinks.sinks = std::move(sinks);
  return config;
}

std::vector<std::string> NamesOf(const std::vector<SinkConfig>& sinks) {
  std::vector<std::string> names;
  for (const auto& sink : sinks) names.push_back(sink.name);
  return names;
}

TEST(SinksToCompareTest, EachIsTakenOnceInTheOrderOfTheCommandLine) {
  const auto config = WithSinks({Sink("hive", "hive", sink::HiveSinkOptions{}),
                                 Sink("eu", "glue", sink::GlueSinkOptions{}),
                                 Sink("hook", "webhook", sink::EventSinkOptions{})});
  const auto chosen = SinksToCompare(config, {"eu", "hive", "eu"});
  ASSERT_THAT(chosen, support::IsOk());
  EXPECT_THAT(NamesOf(*chosen), ElementsAre("eu", "hive"));
  EXPECT_THAT(*SinksToCompare(config, {}), IsEmpty());
}

TEST(SinksToCompareTest, AnUnknownNameComesWithTheNearestAndOneWithoutStateIsRefusedByName) {
  struct Case {
    Config config;
    const char* name;
    const char* message;
  };
  const std::vector<SinkConfig> sinks = {
      Sink("metastore", "hive", sink::HiveSinkOptions{}),
      Sink("fast", "trino", sink::TrinoSinkOptions{}),
      Sink("sr", "starrocks", sink::MysqlSinkOptions{}),
      Sink("hook", "webhook", sink::EventSinkOptions{}),
      Sink("line", "openlineage", sink::LineageOptions{}),
  };
  const std::vector<Case> cases = {
      {WithSinks(sinks), "metastroe", "there is no sink 'metastroe', did you mean 'metastore'?"},
      {WithSinks(sinks), "elsewhere", "there is no sink 'elsewhere'"},
      {WithSinks(sinks), "fast", "'fast' keeps nothing to compare with"},
      {WithSinks(sinks), "sr", "kind=starrocks"},
      {WithSinks(sinks), "hook", "kind=webhook"},
      {WithSinks(sinks), "line", "kind=openlineage"},
      {WithSinks({}), "hive", "no 'mirror.sinks', in which the sink 'hive'"},
      {Config{}, "hive", "no 'mirror.sinks', in which the sink 'hive'"},
  };
  for (const auto& [config, name, message] : cases)
    EXPECT_THAT(SinksToCompare(config, {name}),
                IsError(ErrorKind::kInvalidArgument, HasSubstr(message)));
}

TEST(SinkComparisonTest, ATableThatIsNotBroughtThereIsUnknownAndNobodyIsAsked) {
  struct Case {
    std::vector<std::string> mirror_tables;
    std::vector<std::string> sink_tables;
    const char* message;
  };
  sink::TableTruth truth;
  truth.view.identity = {.uid = "0123", .table_id = "lake.orders", .base_path = "s3://l/orders"};
  truth.view.table_name = "orders";
  for (const auto& [mirror_tables, sink_tables, message] :
       {Case{{"lake.clicks"}, {}, "'mirror.tables' leaves the table out"},
        Case{{"lake.*"}, {"s3://l/clicks"}, "'tables' of the sink leaves the table out"},
        // No address and no answer; no column either, and so nothing to ask for.
        Case{{"lake.*"}, {"s3://l/*"}, "schema is not known yet"}}) {
    auto config = WithSinks({Sink("hive", "hive", sink::HiveSinkOptions{}, sink_tables)});
    config.mirror->tables = mirror_tables;
    SinkComparison comparison(config, config.mirror->sinks.sinks);
    const auto results = comparison.Compare(truth, Budget::For(std::chrono::seconds(5)));
    ASSERT_THAT(results, SizeIs(1));
    EXPECT_EQ(results[0].sink, "hive");
    ASSERT_TRUE(results[0].failure);
    EXPECT_THAT(results[0].failure->message, HasSubstr(message));
    EXPECT_EQ(AgreementOf(results[0]), change::Agreement::kUnknown);
  }
}

}  // namespace
}  // namespace tidemark::app
