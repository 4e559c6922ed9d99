#include "push/otlp_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "metrics/family.h"
#include "push/otlp.h"
#include "support/result_matchers.h"
#include "support/scripted_http_server.h"

namespace tidemark::push {
namespace {

using namespace std::chrono_literals;
using metrics::Family;
using metrics::FamilyType;
using nlohmann::ordered_json;
using support::HttpReply;
using support::IsError;
using support::IsOkAnd;
using support::ScriptedHttpServer;
using support::ScriptedRequest;
using testing::_;

constexpr Family kAge{"t_age_seconds", "seconds", "An age.", "", ""};
constexpr Family kSent{"t_sent_total", "", "What was \"sent\".", "", "", FamilyType::kCounter};

Values SomeValues() {
  Values values;
  values.points = {
      {&kAge, {{"pipeline", "a\"b"}}, "2.5"}, {&kAge, {{"pipeline", "c"}}, "3"}, {&kSent, {}, "7"}};
  values.taken_at = WallTimeFromMillis(1'700'000'000'123);
  values.counting_since = WallTimeFromMillis(1'600'000'000'000);
  return values;
}

// Written by hand from opentelemetry-proto's metrics.proto and the OTLP specification's "JSON
// Protobuf Encoding": 64-bit numbers are strings, enumerations are numbers.
TEST(OtlpJsonTest, GaugesAndSumsAreAsTheSchemaWantsThem) {
  const auto requests = OtlpRequests(SomeValues(), {{"service.name", "tidemark"}});
  ASSERT_EQ(requests.size(), 1U);
  const auto parsed = ordered_json::parse(requests[0], nullptr, false);
  EXPECT_EQ(parsed, ordered_json::parse(R"({"resourceMetrics":[{
    "resource":{"attributes":[{"key":"service.name","value":{"stringValue":"tidemark"}}]},
    "scopeMetrics":[{"scope":{"name":"tidemark"},"metrics":[
      {"name":"t_age_seconds","description":"An age.","unit":"s","gauge":{"dataPoints":[
        {"attributes":[{"key":"pipeline","value":{"stringValue":"a\"b"}}],
         "timeUnixNano":"1700000000123000000","asDouble":2.5},
        {"attributes":[{"key":"pipeline","value":{"stringValue":"c"}}],
         "timeUnixNano":"1700000000123000000","asDouble":3}]}},
      {"name":"t_sent_total","description":"What was \"sent\".","unit":"","sum":{"dataPoints":[
        {"attributes":[],"startTimeUnixNano":"1600000000000000000",
         "timeUnixNano":"1700000000123000000","asDouble":7}],
        "aggregationTemporality":2,"isMonotonic":true}}]}]}]})"))
      << requests[0];
}

TEST(OtlpJsonTest, NothingKnownIsNothingSent) {
  EXPECT_TRUE(OtlpRequests(Values{}, {}).empty());
}

TEST(OtlpJsonTest, ManyPointsAreSplitAndNoneIsLost) {
  const Values values = SomeValues();
  for (const size_t points_max : {1U, 2U, 3U}) {
    size_t points = 0;
    const auto requests = OtlpRequests(values, {}, points_max);
    EXPECT_EQ(requests.size(), (values.points.size() + points_max - 1) / points_max);
    for (const std::string& request : requests) {
      for (size_t at = request.find("asDouble"); at != std::string::npos;
           at = request.find("asDouble", at + 1))
        ++points;
    }
    EXPECT_EQ(points, values.points.size());
  }
}

TEST(OtlpJsonTest, BytesThatAreNoTextDoNotSpoilTheRequest) {
  Values values;
  values.points = {{&kAge, {{"table", "\x01\xFF\n"}}, "1"}};
  const auto requests = OtlpRequests(values, {});
  ASSERT_EQ(requests.size(), 1U);
  const auto parsed = ordered_json::parse(requests[0], nullptr, false);
  ASSERT_FALSE(parsed.is_discarded());
  EXPECT_NE(requests[0].find("\\u0001\xEF\xBF\xBD\\n"), std::string::npos);
}

TEST(OtlpJsonTest, AnAnswerSaysHowManyPointsWereRefused) {
  EXPECT_THAT(OtlpRejected(""), IsOkAnd(0U));
  EXPECT_THAT(OtlpRejected("{}"), IsOkAnd(0U));
  EXPECT_THAT(OtlpRejected(R"({"partialSuccess":{}})"), IsOkAnd(0U));
  EXPECT_THAT(OtlpRejected(R"({"partialSuccess":null})"), IsOkAnd(0U));
  EXPECT_THAT(OtlpRejected(R"({"partialSuccess":{"rejectedDataPoints":"3"}})"), IsOkAnd(3U));
  EXPECT_THAT(OtlpRejected(R"({"partialSuccess":{"rejectedDataPoints":4}})"), IsOkAnd(4U));
  for (const char* odd : {"<html>", "[]", R"({"partialSuccess":1})",
                          R"({"partialSuccess":{"rejectedDataPoints":"-1"}})",
                          R"({"partialSuccess":{"rejectedDataPoints":-1}})",
                          R"({"partialSuccess":{"rejectedDataPoints":"x"}})"})
    EXPECT_THAT(OtlpRejected(odd), IsError(ErrorKind::kCorrupt, _)) << odd;
}

TEST(OtlpJsonTest, AnAnswerThatWasCutOffOrDamagedIsANumberOrAnError) {
  const std::string answer = R"({"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"x"}})";
  for (size_t size = 1; size < answer.size(); ++size)
    EXPECT_THAT(OtlpRejected(answer.substr(0, size)), IsError(ErrorKind::kCorrupt, _)) << size;
  for (size_t at = 0; at < answer.size(); ++at) {
    for (unsigned bit = 1; bit < 256; bit <<= 1U) {
      std::string damaged = answer;
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ bit);
      if (const auto rejected = OtlpRejected(damaged)) {
        EXPECT_LE(*rejected, 9U) << damaged;
      }
    }
  }
}

TEST(OtlpJsonTest, TheSignalsPathIsAddedOnce) {
  EXPECT_EQ(OtlpUrl("http://c:4318"), "http://c:4318/v1/metrics");
  EXPECT_EQ(OtlpUrl("http://c:4318/"), "http://c:4318/v1/metrics");
  EXPECT_EQ(OtlpUrl("http://c/otlp"), "http://c/otlp/v1/metrics");
  EXPECT_EQ(OtlpUrl("http://c/v1/metrics"), "http://c/v1/metrics");
}

TEST(OtlpJsonTest, RefusedPointsAreCountedAsDropped) {
  const ScriptedHttpServer server([](const ScriptedRequest&, int) {
    return HttpReply(200, R"({"partialSuccess":{"rejectedDataPoints":"2","errorMessage":"old"}})");
  });
  OtlpOptions options;
  options.endpoint = server.endpoint();
  const auto sent = OtlpExporter(options).Send(SomeValues(), Budget::For(10s));
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->dropped, 2U);
  ASSERT_EQ(server.Requests().size(), 1U);
  EXPECT_EQ(server.Requests()[0].target, "/v1/metrics");
  EXPECT_EQ(server.Requests()[0].headers.at("content-type"), "application/json");
}

}  // namespace
}  // namespace tidemark::push
