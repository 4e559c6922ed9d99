#include "api/freshness_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
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

std::string JsonOf(const PipelineReport& report, bool with_partitions = false) {
  return FreshnessJson(
      {&report, 1},
      {.generated_at = kNow + 41ms, .duration = 41ms, .with_partitions = with_partitions});
}

ordered_json Parsed(const std::string& text) {
  return ordered_json::parse(text, nullptr, false);
}

/// The line breaks of the expectations below stand where none are in the text.
std::string Joined(std::string_view lines) {
  std::string text;
  for (size_t at = 0; at < lines.size(); ++at) {
    if (lines[at] != '\n') {
      text += lines[at];
      continue;
    }
    while (at + 1 < lines.size() && lines[at + 1] == ' ') ++at;
  }
  return text;
}

World LateWorld() {
  World world({Seen(0, 1200).Log(0, 1200), Seen(1, 980).Log(0, 1192).Record(980, 45min),
               Seen(2, 1450).Log(100, 2050).Record(1450, 63200ms, kafka::TimestampType::kAppend)});
  world.Sla(30min).Retention(24h);
  world.commit.instant = "20240101120000123";
  world.commit.checkpoint.key = "deltastreamer.checkpoint.key";
  world.commit.committed_at = kNow - 63200ms;
  return world;
}

// Written by hand from the contract's page.
TEST(FreshnessJsonTest, ALatePipelineLooksLikeTheContract) {
  PipelineReport report = LateWorld().Judge();
  report.message = "m";
  EXPECT_EQ(JsonOf(report), Joined(R"({"schema":"tidemark.freshness/1",
    "generated_at":"2026-11-30T03:00:00.041Z","duration_seconds":0.041,
    "pipelines":[{
    "pipeline":"orders","table":"s3://lake/orders","mode":"streaming","labels":{},
    "status":"breach","reason":"ok","message":"m",
    "lag_seconds":2700.0,"lag_is_lower_bound":false,
    "sla_seconds":1800,"sla_ratio":1.5,"sla_ratio_capped":1.0,
    "checkpoint":{"instant":"20240101120000123","action":"deltacommit","completion_time":null,
    "key":"deltastreamer.checkpoint.key","value":"orders,0:1200,1:980,2:1450",
    "commit_depth":0,"commit_age_seconds":63.2,
    "committed_at":"2026-11-30T02:58:56.800Z","archived":false,"last_change_age_seconds":null},
    "partitions":{"total":3,"fresh":1,"lagging":2,"lost":0,"blocked":0,"ahead":0,"unknown":0},
    "oldest":{"topic":"orders","partition":1,"offset":980,"timestamp_ms":1796004900000,
    "timestamp_type":"create"},
    "uncommitted_records":812,"lost_records":0,"retention_margin_records":980,
    "retention_margin_seconds":83700.0,"clock_skew_seconds":0.0,
    "cluster":"main","observed_at":"2026-11-30T03:00:00.000Z","probe_duration_seconds":0.0,
    "findings":[]}]})"));
}

TEST(FreshnessJsonTest, PartitionDetailIsGivenWhenAskedFor) {
  PipelineReport report = LateWorld().Judge();
  EXPECT_FALSE(Parsed(JsonOf(report))["pipelines"][0].contains("partition_detail"));
  const ordered_json detail = Parsed(JsonOf(report, true))["pipelines"][0]["partition_detail"];
  ASSERT_EQ(detail.size(), 3U);
  EXPECT_EQ(detail[0].dump(), Joined(R"({"topic":"orders","partition":0,"verdict":"FRESH",
    "reason":null,"committed":1200,"log_start":0,"end":1200,"first_uncommitted":null,
    "timestamp_ms":null,"lag_seconds":0.0,"timestamp_type":null,"lag_is_lower_bound":false,
    "lag_is_arrival_bound":false,"blocked_age_seconds":null,"uncommitted_records":0,
    "lost_records":0,"retention_margin_records":null,"retention_margin_seconds":null})"));
  EXPECT_EQ(detail[2].dump(), Joined(R"({"topic":"orders","partition":2,"verdict":"LAGGING",
    "reason":null,"committed":1450,"log_start":100,"end":2050,"first_uncommitted":1450,
    "timestamp_ms":1796007536800,"lag_seconds":63.2,"timestamp_type":"append",
    "lag_is_lower_bound":false,"lag_is_arrival_bound":false,"blocked_age_seconds":null,
    "uncommitted_records":600,"lost_records":0,"retention_margin_records":1350,
    "retention_margin_seconds":86336.8})"));
}

TEST(FreshnessJsonTest, SuppressedNumbersAreNull) {
  const ordered_json pipeline = Parsed(
      JsonOf(World({Seen(0, 50).Fault(kafka::ProbeFault::kTimeout)}).Judge()))["pipelines"][0];
  EXPECT_EQ(pipeline["status"], "unknown");
  EXPECT_EQ(pipeline["reason"], "timeout");
  for (const char* key :
       {"lag_seconds", "sla_ratio", "sla_ratio_capped", "oldest", "uncommitted_records",
        "lost_records", "retention_margin_records", "retention_margin_seconds"})
    EXPECT_TRUE(pipeline[key].is_null()) << key;
  EXPECT_EQ(pipeline["lag_is_lower_bound"], false);
}

TEST(FreshnessJsonTest, AnUnreadableTableHasNoCheckpoint) {
  World world;
  world.table_error = Error{ErrorKind::kNotFound, "no table"};
  world.spec.labels = {{"team", "payments"}, {"area", "a\"b"}};
  const ordered_json pipeline = Parsed(JsonOf(world.Judge()))["pipelines"][0];
  EXPECT_TRUE(pipeline["checkpoint"].is_null());
  EXPECT_TRUE(pipeline["clock_skew_seconds"].is_null());
  EXPECT_EQ(pipeline["labels"].dump(), R"({"area":"a\"b","team":"payments"})");
}

TEST(FreshnessJsonTest, ARecordWithoutAStampHasNone) {
  const World world = World({Seen(0, 50).Log(0, 100).Stamped(50, -1, kafka::TimestampType::kNone)})
                          .SawEnd(50, 4min);
  const ordered_json pipeline = Parsed(JsonOf(world.Judge(), true))["pipelines"][0];
  EXPECT_EQ(
      pipeline["oldest"].dump(),
      R"({"topic":"orders","partition":0,"offset":50,"timestamp_ms":null,"timestamp_type":null})");
  EXPECT_EQ(pipeline["partition_detail"][0]["lag_is_arrival_bound"], true);
}

TEST(FreshnessJsonTest, FindingsOfTheTableAreShown) {
  World world({Seen(0, 10).Log(0, 10)});
  world.search.findings = {{"truncated_commit", ".hoodie/1.commit", "cut short"}};
  EXPECT_EQ(Parsed(JsonOf(world.Judge()))["pipelines"][0]["findings"].dump(),
            R"([{"kind":"truncated_commit","place":".hoodie/1.commit","message":"cut short"}])");
}

TEST(FreshnessJsonTest, NoPipelinesAreAnEmptyList) {
  EXPECT_EQ(FreshnessJson({}, {}),
            R"({"schema":"tidemark.freshness/1","generated_at":"1970-01-01T00:00:00.000Z",)"
            R"("duration_seconds":0.0,"pipelines":[]})");
}

TEST(FreshnessJsonTest, BytesThatAreNoTextStillGiveValidJson) {
  World world({Seen(0, 50)
                   .In("or\xFF"
                       "ders")
                   .Log(0, 100)
                   .Record(50, 45min)});
  world.spec.table = "s3://lake/\xC3(";
  world.spec.labels = {{"\x80", "\xED\xA0\x80"}};
  const ordered_json parsed = Parsed(JsonOf(world.Judge(), true));
  ASSERT_FALSE(parsed.is_discarded());
  EXPECT_EQ(parsed["pipelines"][0]["table"], "s3://lake/\xEF\xBF\xBD(");
}

}  // namespace
}  // namespace tidemark::api
