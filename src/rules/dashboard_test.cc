#include "rules/dashboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include "metrics/family.h"
#include "rules/objectives.h"
#include "rules/prometheus_rules.h"

namespace tidemark::rules {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

std::set<std::string> ExportedNames() {
  std::set<std::string> names;
  using enum metrics::FamilyGroup;
  for (const auto group : {kPipeline, kProcess, kExporter})
    for (const metrics::Family& family : metrics::FamiliesOf(group)) names.emplace(family.name);
  return names;
}

/// Every word of `text` that is built like a metric of ours.
std::set<std::string> MetricsIn(const std::string& text) {
  static const std::regex word("\\b(?:tidemark|process)_\\w+");
  return {std::sregex_token_iterator(text.begin(), text.end(), word), {}};
}

TEST(DashboardTest, PanelsAreNumberedAndDoNotOverlap) {
  const json dashboard = json::parse(GrafanaDashboard("tidemark"));
  std::set<int> ids;
  std::set<std::pair<int, int>> cells;
  for (const json& panel : dashboard["panels"]) {
    EXPECT_TRUE(ids.insert(panel["id"].get<int>()).second);
    EXPECT_FALSE(panel["title"].get<std::string>().empty());
    const json& place = panel["gridPos"];
    for (int x = place["x"]; x < place["x"].get<int>() + place["w"].get<int>(); ++x) {
      EXPECT_LT(x, 24);
      for (int y = place["y"]; y < place["y"].get<int>() + place["h"].get<int>(); ++y)
        EXPECT_TRUE(cells.emplace(x, y).second) << panel["title"] << " at " << x << "," << y;
    }
  }
}

TEST(DashboardTest, QueriesOfAPanelHaveNamesOfTheirOwn) {
  for (const json& panel : json::parse(GrafanaDashboard("tidemark"))["panels"]) {
    if (panel["type"] == "row") continue;
    EXPECT_FALSE(panel["targets"].empty()) << panel["title"];
    std::set<std::string> letters;
    for (const json& target : panel["targets"])
      EXPECT_TRUE(letters.insert(target["refId"]).second) << panel["title"];
  }
}

TEST(DashboardTest, EveryMetricIsOneThatIsExported) {
  const auto names = MetricsIn(GrafanaDashboard("tidemark"));
  EXPECT_GT(names.size(), 15u);
  EXPECT_THAT(names, testing::IsSubsetOf(ExportedNames()));
}

TEST(DashboardTest, EveryMetricOfTheRulesIsOneThatIsExported) {
  const std::vector<WatchedPipeline> pipelines = {
      {.name = "orders", .sla = 30min, .interval = 60s, .retention_margin = 6h}};
  for (const std::string& text :
       {PrometheusRules(pipelines, {}), SlothObjectives(pipelines, {}),
        PyrraObjectives(pipelines, {}), OpenSloObjectives(pipelines, {})}) {
    EXPECT_THAT(MetricsIn(text), testing::IsSubsetOf(ExportedNames()));
  }
}

TEST(DashboardTest, WithoutAJobTheDaemonHasNoPanels) {
  EXPECT_THAT(GrafanaDashboard("tidemark"), testing::HasSubstr("tidemark itself"));
  EXPECT_THAT(GrafanaDashboard(""), testing::Not(testing::HasSubstr("tidemark itself")));
}

}  // namespace
}  // namespace tidemark::rules
