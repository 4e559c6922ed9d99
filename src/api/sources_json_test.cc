#include "api/sources_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/freshness_facts.h"

namespace tidemark::api {
namespace {

using freshness::PipelineReport;
using nlohmann::ordered_json;
using support::kNow;
using support::Seen;
using support::World;
using namespace std::chrono_literals;

World LaggingBy(Milliseconds lag) {
  return World({Seen(0, 50).Log(0, 100).Record(50, lag)});
}

ordered_json ResultOf(const PipelineReport& report) {
  const auto parsed = ordered_json::parse(SourcesJson({&report, 1}, kNow, 41ms), nullptr, false);
  return parsed["results"].empty() ? ordered_json() : parsed["results"][0];
}

// Written by hand from the published schema v3.
TEST(SourcesJsonTest, ALatePipelineIsAnError) {
  PipelineReport report = LaggingBy(90min).Judge();
  report.probe_duration = 12ms;
  EXPECT_EQ(
      SourcesJson({&report, 1}, kNow, 41ms),
      R"({"metadata":{"dbt_schema_version":"https://schemas.getdbt.com/dbt/sources/v3.json",)"
      R"("generated_at":"2026-11-30T03:00:00.000Z","invocation_id":null,"env":{}},)"
      R"("results":[{"unique_id":"source.tidemark.main.orders",)"
      R"("max_loaded_at":"2026-11-30T01:30:00.000Z","snapshotted_at":"2026-11-30T03:00:00.000Z",)"
      R"("max_loaded_at_time_ago_in_s":5400.0,"status":"error",)"
      R"("criteria":{"warn_after":{"count":42,"period":"minute"},)"
      R"("error_after":{"count":1,"period":"hour"},"filter":null},)"
      R"("adapter_response":{},"timing":[],"thread_id":"main","execution_time":0.012}],)"
      R"("elapsed_time":0.041})");
}

TEST(SourcesJsonTest, FreshAndWarningArePassAndWarn) {
  EXPECT_EQ(ResultOf(LaggingBy(5min).Judge())["status"], "pass");
  EXPECT_EQ(ResultOf(LaggingBy(45min).Judge())["status"], "warn");
}

TEST(SourcesJsonTest, NothingWaitingIsLoadedUpToNow) {
  const ordered_json result = ResultOf(World({Seen(0, 10).Log(0, 10)}).Judge());
  EXPECT_EQ(result["max_loaded_at"], result["snapshotted_at"]);
  EXPECT_EQ(result["max_loaded_at_time_ago_in_s"], 0.0);
  EXPECT_EQ(result["status"], "pass");
}

TEST(SourcesJsonTest, UnknownIsARuntimeErrorWithItsMessageAndNothingElse) {
  PipelineReport report = World({Seen(0, 50).Fault(kafka::ProbeFault::kTimeout)}).Judge();
  report.message = "m";
  EXPECT_EQ(ResultOf(report).dump(),
            R"({"unique_id":"source.tidemark.main.orders","error":"m","status":"runtime error"})");
}

TEST(SourcesJsonTest, ALossOfUnknownAgeIsARuntimeError) {
  const PipelineReport report = World({Seen(0, 50).Log(100, 100).NoRecord()}).Judge();
  EXPECT_EQ(ResultOf(report)["status"], "runtime error");
  EXPECT_EQ(ResultOf(report)["error"], report.message);
}

TEST(SourcesJsonTest, DisabledPipelinesAndMaintenanceAreLeftOut) {
  World world = LaggingBy(90min);
  world.spec.is_in_maintenance = true;
  EXPECT_TRUE(ResultOf(world.Judge()).is_null());
  world.spec.is_disabled = true;
  EXPECT_TRUE(ResultOf(world.Judge()).is_null());
}

TEST(SourcesJsonTest, CriteriaAreWholeMinutesHoursOrDays) {
  const auto error_after = [](Milliseconds sla) {
    return ResultOf(LaggingBy(1s).Sla(sla).Judge())["criteria"]["error_after"].dump();
  };
  EXPECT_EQ(error_after(24h), R"({"count":1,"period":"day"})");
  EXPECT_EQ(error_after(36h), R"({"count":36,"period":"hour"})");
  EXPECT_EQ(error_after(90min), R"({"count":90,"period":"minute"})");
  EXPECT_EQ(error_after(61s), R"({"count":2,"period":"minute"})");
  EXPECT_EQ(error_after(2s), R"({"count":1,"period":"minute"})");
}

TEST(SourcesJsonTest, AClusterWithoutANameIsTheDefault) {
  World world = LaggingBy(1s);
  world.spec.cluster = "";
  EXPECT_EQ(ResultOf(world.Judge())["unique_id"], "source.tidemark.default.orders");
}

}  // namespace
}  // namespace tidemark::api
