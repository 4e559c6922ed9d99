#include "rules/prometheus_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "metrics/family.h"

namespace tidemark::rules {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

WatchedPipeline Named(const std::string& name) {
  return {.name = name, .sla = 30min, .interval = 60s, .retention_margin = 6h};
}

/// The rules of all groups, in order.
std::vector<YAML::Node> Rules(const std::string& text) {
  std::vector<YAML::Node> rules;
  for (const auto& group : YAML::Load(text)["groups"])
    for (const auto& rule : group["rules"]) rules.push_back(rule);
  return rules;
}

std::set<std::string> AlertNames(const std::string& text) {
  std::set<std::string> names;
  for (const YAML::Node& rule : Rules(text))
    if (rule["alert"]) names.insert(rule["alert"].as<std::string>());
  return names;
}

/// The only rule of that alert.
YAML::Node RuleOf(std::string_view alert, const std::string& text) {
  for (const YAML::Node& rule : Rules(text))
    if (rule["alert"] && rule["alert"].as<std::string>() == alert) return rule;
  return {};
}

TEST(PrometheusRulesTest, TheSamePipelinesGiveTheSameBytesInAnyOrder) {
  const std::vector<WatchedPipeline> one = {Named("a"), Named("b")};
  const std::vector<WatchedPipeline> other = {Named("b"), Named("a")};
  EXPECT_EQ(PrometheusRules(one, {}), PrometheusRules(other, {}));
}

TEST(PrometheusRulesTest, PipelinesWithTheSameThresholdsShareRules) {
  std::vector<WatchedPipeline> pipelines = {Named("a"), Named("b"), Named("c")};
  pipelines[1].sla = 24h;  // told by a metric, so it makes no class
  pipelines[2].retention_margin = 12h;
  const YAML::Node groups = YAML::Load(PrometheusRules(pipelines, {}))["groups"];
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0]["name"].as<std::string>(), "tidemark-exporter");
  EXPECT_EQ(groups[1]["name"].as<std::string>(), "tidemark-every-1m-objective-99-margin-6h");
  EXPECT_EQ(groups[2]["name"].as<std::string>(), "tidemark-every-1m-objective-99-margin-12h");
}

TEST(PrometheusRulesTest, WithoutAJobNothingIsSaidOfTheExporter) {
  const std::vector<WatchedPipeline> pipelines = {Named("a")};
  const std::string text = PrometheusRules(pipelines, {.job = ""});
  EXPECT_THAT(AlertNames(text), Not(testing::Contains(std::string(alerts::kExporterDown))));
  EXPECT_THAT(text, Not(HasSubstr("up{")));
  EXPECT_EQ(RuleOf(alerts::kDeliveryFailing, text)["expr"].as<std::string>(),
            "tidemark_exporter_up == 0");
  EXPECT_THAT(AlertNames(text), testing::Contains(std::string(alerts::kReportFrozen)));
}

TEST(PrometheusRulesTest, TheMarginIsThatOfTheConfiguration) {
  std::vector<WatchedPipeline> pipelines = {Named("a")};
  pipelines[0].retention_margin = 90min;
  const YAML::Node rule = RuleOf(alerts::kRetentionMargin, PrometheusRules(pipelines, {}));
  EXPECT_THAT(rule["expr"].as<std::string>(), testing::EndsWith(" < 5400"));
}

TEST(PrometheusRulesTest, AnAlertWaitsForTheSecondLook) {
  std::vector<WatchedPipeline> pipelines = {Named("a")};
  const std::map<Milliseconds, std::string> waits = {{15s, "2m"}, {60s, "2m"}, {15min, "30m"}};
  for (const auto& [scrape, wait] : waits) {
    const std::string text = PrometheusRules(pipelines, {.scrape_interval = scrape});
    EXPECT_EQ(RuleOf(alerts::kBreach, text)["for"].as<std::string>(), wait);
  }
  const std::string text = PrometheusRules(pipelines, {});
  EXPECT_FALSE(RuleOf(alerts::kRecordsLost, text)["for"]) << "a loss is told at once";
}

TEST(PrometheusRulesTest, ARunbookIsNamedOnRequest) {
  const std::vector<WatchedPipeline> pipelines = {Named("a")};
  EXPECT_THAT(PrometheusRules(pipelines, {}), Not(HasSubstr("runbook_url")));
  const std::string text = PrometheusRules(pipelines, {.runbook_url = "https://wiki/lake"});
  EXPECT_EQ(RuleOf(alerts::kBreach, text)["annotations"]["runbook_url"].as<std::string>(),
            "https://wiki/lake#tidemarkpipelinebreach");
}

TEST(PrometheusRulesTest, ANameThatIsNoPlainWordStaysWhatItIs) {
  for (const std::string name : {"true", "1e3", "~", "a: b", "x\"y'z", "{{ $value }}", "a\tb"}) {
    const std::vector<WatchedPipeline> pipelines = {Named(name)};
    const auto rules = Rules(PrometheusRules(pipelines, {}));
    const auto expected = std::ranges::find_if(rules, [](const YAML::Node& rule) {
      return rule["record"] && rule["record"].as<std::string>() == records::kExpected;
    });
    ASSERT_NE(expected, rules.end());
    EXPECT_EQ((*expected)["labels"]["pipeline"].as<std::string>(), name);
    EXPECT_EQ((*expected)["labels"]["pipeline"].Tag(), "!") << "quoted, so that it stays text";
  }
}

TEST(PrometheusRulesTest, ThePageExplainsEachAlertAndNoOther) {
  const std::vector<WatchedPipeline> pipelines = {Named("a")};
  std::ifstream page(TIDEMARK_TESTDATA "/../docs/rules.md");
  std::set<std::string> explained;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("### ")) explained.insert(line.substr(4));
  EXPECT_EQ(AlertNames(PrometheusRules(pipelines, {.feed_partitions = 4})), explained);
}

}  // namespace
}  // namespace tidemark::rules
