#include "push/emf_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/result_matchers.h"

namespace tidemark::push {
namespace {

using metrics::Family;
using metrics::Labels;
using metrics::Points;
using nlohmann::ordered_json;
using support::IsError;
using support::IsOk;
using testing::_;

constexpr Family kLag{"tidemark_freshness_lag_seconds", "seconds", "", "", ""};
constexpr Family kBreach{"tidemark_freshness_breach", "", "", "", ""};
constexpr WallTime kAt = WallTimeFromMillis(1'700'000'000'123);

std::vector<ordered_json> LinesOf(const Points& points) {
  std::vector<ordered_json> lines;
  std::istringstream in(EmfLines(points, "lake/x", kAt));
  for (std::string line; std::getline(in, line);)
    lines.push_back(ordered_json::parse(line, nullptr, false));
  return lines;
}

// Written by hand from the specification's example.
TEST(EmfLinesTest, MetricsOfOneSetOfLabelsShareALine) {
  const Labels labels = {{"pipeline", "orders"}, {"cluster", ""}, {"table", "s3://lake/t"}};
  const Points points = {{&kLag, labels, "2.5"}, {&kBreach, labels, "0"}};
  EXPECT_EQ(EmfLines(points, "lake/x", kAt),
            R"({"_aws":{"Timestamp":1700000000123,"CloudWatchMetrics":[{"Namespace":"lake/x",)"
            R"("Dimensions":[["pipeline","table"]],"Metrics":[)"
            R"({"Name":"tidemark_freshness_lag_seconds","Unit":"Seconds"},)"
            R"({"Name":"tidemark_freshness_breach","Unit":"None"}]}]},)"
            R"("pipeline":"orders","table":"s3://lake/t",)"
            R"("tidemark_freshness_lag_seconds":2.5,"tidemark_freshness_breach":0})"
            "\n");
}

TEST(EmfLinesTest, OtherLabelsAreAnotherLine) {
  EXPECT_EQ(LinesOf({{&kLag, {{"pipeline", "a"}}, "1"}, {&kLag, {{"pipeline", "b"}}, "2"}}).size(),
            2U);
  EXPECT_TRUE(LinesOf({}).empty());
}

TEST(EmfLinesTest, ALineHoldsAHundredMetrics) {
  std::deque<std::string> names;
  std::deque<Family> families;
  Points points;
  for (int i = 0; i < 101; ++i) {
    names.push_back("t_" + std::to_string(i));
    families.push_back({names.back(), "", "", "", ""});
    points.push_back({&families.back(), {{"pipeline", "a"}}, "1"});
  }
  const auto lines = LinesOf(points);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["_aws"]["CloudWatchMetrics"][0]["Metrics"].size(), 100U);
  EXPECT_EQ(lines[1]["_aws"]["CloudWatchMetrics"][0]["Metrics"].size(), 1U);
}

TEST(EmfLinesTest, OfTooManyLabelsThePipelinesOwnGoFirst) {
  Labels labels = {{"pipeline", "a"}, {"cluster", "c"}, {"table", "t"}};
  for (int i = 0; i < 40; ++i) labels.emplace_back("own" + std::to_string(i), "x");
  labels.emplace_back("verdict", "lost");
  const auto lines = LinesOf({{&kLag, labels, "1"}});
  ASSERT_EQ(lines.size(), 1U);
  const auto& dimensions = lines[0]["_aws"]["CloudWatchMetrics"][0]["Dimensions"][0];
  ASSERT_EQ(dimensions.size(), 30U);
  EXPECT_EQ(dimensions[0], "pipeline");
  EXPECT_EQ(dimensions[2], "table");
  EXPECT_EQ(dimensions[29], "verdict");
}

TEST(EmfLinesTest, ValuesAreAsciiAndBounded) {
  const auto lines = LinesOf(
      {{&kLag, {{"pipeline", "\xC3\xA9\n"}, {"table", std::string(2000, 'x')}, {"b", " "}}, "1"}});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["pipeline"], "%C3%A9%0A");
  EXPECT_EQ(lines[0]["table"], std::string(1024, 'x'));
  EXPECT_FALSE(lines[0].contains("b"));
}

TEST(EmfLinesTest, ALabelCannotTakeThePlaceOfAMetric) {
  const auto lines =
      LinesOf({{&kLag, {{"_aws", "x"}, {"tidemark_freshness_lag_seconds", "y"}}, "1"}});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["tidemark_freshness_lag_seconds"], 1);
  EXPECT_TRUE(lines[0]["_aws"].is_object());
  EXPECT_EQ(lines[0]["label__aws"], "x");
}

TEST(EmfLinesTest, ANamespaceIsWhatCloudwatchTakes) {
  for (const std::string& good :
       {std::string("tidemark"), std::string("a.b-c_d/e#f:g"), std::string(256, 'a')})
    EXPECT_THAT(CheckEmfNamespace(good), IsOk()) << good;
  for (const std::string& bad : {std::string(), std::string("a b"), std::string("AWS/x"),
                                 std::string(":a"), std::string(257, 'a')})
    EXPECT_THAT(CheckEmfNamespace(bad), IsError(ErrorKind::kInvalidArgument, _)) << bad;
}

}  // namespace
}  // namespace tidemark::push
