#include "app/pipelines.h"

#include <gtest/gtest.h>

#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using support::IsError;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

ConfigSources Sources() {
  return {.environment = [](const std::string&) -> std::optional<std::string> { return {}; },
          .check_property = [](const std::string& name, const std::string&, auto) -> Status {
            if (name == "security.protocol" || name == "sasl.password") return {};
            return Fail(ErrorKind::kInvalidArgument, "no such property");
          }};
}

SinglePipeline Single() {
  return {.table = "/lake/orders", .bootstrap = "b:9092"};
}

TEST(PipelinesTest, ATableAndABrokerAreAWholeConfiguration) {
  ASSERT_OK_ASSIGN(const Config config, ConfigOf(Single(), Sources()));
  ASSERT_EQ(config.pipelines.size(), 1U);
  const auto& spec = config.pipelines[0].spec;
  EXPECT_EQ(spec.name, "orders");
  EXPECT_EQ(spec.table, "/lake/orders");
  EXPECT_EQ(spec.sla, 60min);
  EXPECT_EQ(spec.topic, std::nullopt);
  EXPECT_EQ(config.clusters.at(spec.cluster).options.bootstrap_servers, "b:9092");
}

TEST(PipelinesTest, ModeDecidesTheDefaultSla) {
  auto single = Single();
  single.mode = "batch";
  ASSERT_OK_ASSIGN(const Config config, ConfigOf(single, Sources()));
  EXPECT_EQ(config.pipelines[0].spec.sla, 1440min);
  single.sla = "5m";
  ASSERT_OK_ASSIGN(const Config given, ConfigOf(single, Sources()));
  EXPECT_EQ(given.pipelines[0].spec.sla, 5min);
}

TEST(PipelinesTest, WrongFlagsAreNamed) {
  const struct {
    void (*change)(SinglePipeline&);
    const char* message;
  } cases[] = {
      {[](SinglePipeline& s) { s.sla = "soon"; }, "--sla: 'soon' is not a duration"},
      {[](SinglePipeline& s) { s.sla = "0m"; }, "--sla: an SLA must be longer than zero"},
      {[](SinglePipeline& s) { s.table = ""; }, ""},
      {[](SinglePipeline& s) { s.table = "ftp://x/y"; }, "ftp"},
      {[](SinglePipeline& s) { s.properties = {"nonsense=1"}; }, "--property nonsense"},
      {[](SinglePipeline& s) { s.kafka_client = "java"; }, "--kafka-client"},
      {[](SinglePipeline& s) { s.record_access = "write"; }, "--record-access"},
  };
  for (const auto& c : cases) {
    auto single = Single();
    c.change(single);
    EXPECT_THAT(ConfigOf(single, Sources()),
                IsError(ErrorKind::kInvalidArgument, HasSubstr(c.message)));
  }
}

TEST(PipelinesTest, APropertyWithoutItsKeyIsNotRepeated) {
  auto single = Single();
  single.properties = {"sasl.password=x", "hunter2"};
  EXPECT_THAT(ConfigOf(single, Sources()),
              IsError(ErrorKind::kInvalidArgument,
                      AllOf(HasSubstr("--property wants key=value, number 2 of 2 is none"),
                            Not(HasSubstr("hunter2")))));
}

TEST(PipelinesTest, APropertyThatIsGivenTwiceIsNamedWithoutItsValues) {
  auto single = Single();
  single.properties = {"sasl.password=x", "sasl.password=hunter2"};
  EXPECT_THAT(ConfigOf(single, Sources()),
              IsError(ErrorKind::kInvalidArgument,
                      AllOf(HasSubstr("--property sasl.password is given twice"),
                            Not(HasSubstr("hunter2")))));
}

TEST(PipelinesTest, SelectionKeepsTheOrderOfTheFile) {
  Config config;
  for (const char* name : {"a", "b", "c"}) {
    config.pipelines.emplace_back().spec.name = name;
  }
  ASSERT_OK_ASSIGN(const auto all, SelectPipelines(config, {}));
  EXPECT_EQ(all.size(), 3U);
  ASSERT_OK_ASSIGN(const auto some, SelectPipelines(config, {"c", "a"}));
  ASSERT_EQ(some.size(), 2U);
  EXPECT_EQ(some[0].spec.name, "a");
  EXPECT_EQ(some[1].spec.name, "c");
}

TEST(PipelinesTest, NothingToLookAtIsNoHealth) {
  EXPECT_THAT(SelectPipelines({}, {}),
              IsError(ErrorKind::kInvalidArgument, "the configuration holds no pipeline"));
}

TEST(PipelinesTest, ThatAllAreSwitchedOffIsKnown) {
  std::vector<PipelineConfig> pipelines(2);
  pipelines[0].spec.is_disabled = true;
  EXPECT_FALSE(AreAllDisabled(pipelines));
  pipelines[1].spec.is_disabled = true;
  EXPECT_TRUE(AreAllDisabled(pipelines));
}

TEST(PipelinesTest, RulesAreForThoseThatAreNotSwitchedOff) {
  std::vector<PipelineConfig> pipelines(2);
  pipelines[0].spec.name = "retired";
  pipelines[0].spec.is_disabled = true;
  pipelines[1].spec.name = "orders";
  pipelines[1].spec.sla = std::chrono::minutes(5);
  const auto watched = WatchedPipelines(pipelines);
  ASSERT_EQ(watched.size(), 1U);
  EXPECT_EQ(watched[0].name, "orders");
  EXPECT_EQ(watched[0].sla, std::chrono::minutes(5));
}

TEST(PipelinesTest, AnUnknownNameComesWithTheNearestOne) {
  Config config;
  config.pipelines.emplace_back().spec.name = "orders";
  EXPECT_THAT(
      SelectPipelines(config, {"order"}),
      IsError(ErrorKind::kInvalidArgument, "there is no pipeline 'order', did you mean 'orders'?"));
}

}  // namespace
}  // namespace tidemark::app
