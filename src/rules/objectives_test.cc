#include "rules/objectives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

namespace tidemark::rules {
namespace {

using namespace std::chrono_literals;

std::vector<WatchedPipeline> Three() {
  return {{.name = "payments", .sla = 30min, .interval = 60s, .objective_ppm = 999'000},
          {.name = "Orders EU", .sla = 1h, .interval = 15min},
          {.name = "history", .sla = 24h, .interval = 3h, .objective_ppm = 950'000}};
}

TEST(ObjectivesTest, SlothHasOneObjectiveAPipelineByName) {
  const YAML::Node slos = YAML::Load(SlothObjectives(Three(), {}))["spec"]["slos"];
  ASSERT_EQ(slos.size(), 3u);
  EXPECT_EQ(slos[0]["labels"]["pipeline"].as<std::string>(), "Orders EU");
  EXPECT_EQ(slos[1]["name"].as<std::string>(), "freshness-history");
  EXPECT_EQ(slos[1]["objective"].as<double>(), 95.0);
  EXPECT_EQ(slos[2]["objective"].as<double>(), 99.9);
}

TEST(ObjectivesTest, SlothsAlertsAreOffWhereTheirWindowsDoNotCarryTheStep) {
  const YAML::Node slos = YAML::Load(SlothObjectives(Three(), {}))["spec"]["slos"];
  const auto is_off = [&](size_t index, const char* alert) {
    return slos[index]["alerting"][alert]["disable"].as<bool>(false);
  };
  EXPECT_FALSE(is_off(2, "pageAlert")) << "looked at each minute";
  EXPECT_TRUE(is_off(0, "pageAlert")) << "5 min hold no look of each 15";
  EXPECT_FALSE(is_off(0, "ticketAlert"));
  EXPECT_TRUE(is_off(1, "ticketAlert")) << "2 h hold no look of each 3 h";
}

TEST(ObjectivesTest, PyrraHasADocumentAPipeline) {
  const auto documents = YAML::LoadAll(PyrraObjectives(Three(), {}));
  ASSERT_EQ(documents.size(), 3u);
  EXPECT_EQ(documents[1]["metadata"]["name"].as<std::string>(), "freshness-history");
  EXPECT_EQ(documents[2]["spec"]["target"].as<std::string>(), "99.9");
  EXPECT_TRUE(documents[2]["spec"]["alerting"]["burnrates"].as<bool>());
  EXPECT_FALSE(documents[0]["spec"]["alerting"]["burnrates"].as<bool>());
}

TEST(ObjectivesTest, ATimeSliceHoldsAStep) {
  const auto documents = YAML::LoadAll(OpenSloObjectives(Three(), {.scrape_interval = 90s}));
  ASSERT_EQ(documents.size(), 4u);
  EXPECT_EQ(documents[0]["kind"].as<std::string>(), "Service");
  const auto slice = [&](size_t index) {
    return documents[index]["spec"]["objectives"][0]["timeSliceWindow"].as<std::string>();
  };
  EXPECT_EQ(slice(1), "15m");
  EXPECT_EQ(slice(2), "180m");
  EXPECT_EQ(slice(3), "2m");
}

}  // namespace
}  // namespace tidemark::rules
