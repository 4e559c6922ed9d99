#include "metrics/exporter_points.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "metrics/text_exposition.h"

namespace tidemark::metrics {
namespace {

std::vector<std::string> SamplesOf(const ExporterHealth& health) {
  std::vector<std::string> samples;
  for (const Point& point : ExporterPoints({&health, 1})) {
    EXPECT_EQ(point.labels, (Labels{{"exporter", health.name}}));
    samples.push_back(std::string(point.family->name) + " " + point.value);
  }
  return samples;
}

TEST(ExporterPointsTest, AnExporterThatSentNothingYetIsNeitherUpNorDown) {
  EXPECT_EQ(SamplesOf({.name = "otlp", .is_up = {}, .last_success = {}}),
            (std::vector<std::string>{
                "tidemark_exporter_deliveries_total 0", "tidemark_exporter_failures_total 0",
                "tidemark_exporter_dropped_total 0", "tidemark_exporter_events_waiting 0"}));
}

TEST(ExporterPointsTest, ADeadReceiverKeepsTheTimeOfItsLastSuccess) {
  EXPECT_EQ(
      SamplesOf({.name = "hook",
                 .is_up = false,
                 .deliveries = 3,
                 .failures = 2,
                 .dropped = 1,
                 .waiting = 4,
                 .last_success = WallTimeFromMillis(1'700'000'000'500)}),
      (std::vector<std::string>{
          "tidemark_exporter_up 0", "tidemark_exporter_last_success_timestamp_seconds 1700000000.5",
          "tidemark_exporter_deliveries_total 3", "tidemark_exporter_failures_total 2",
          "tidemark_exporter_dropped_total 1", "tidemark_exporter_events_waiting 4"}));
}

TEST(CoordinationPointsTest, OnlyWhoSharesSaysWhatItHas) {
  EXPECT_TRUE(CoordinationPoints({}).empty());
  const Points points =
      CoordinationPoints(CoordinationHealth{.group = "g", .is_member = true, .owned_pipelines = 7});
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].family->name, "tidemark_coordination_member");
  EXPECT_EQ(points[0].value, "1");
  EXPECT_EQ(points[1].family->name, "tidemark_coordination_owned_pipelines");
  EXPECT_EQ(points[1].value, "7");
  EXPECT_EQ(points[1].labels, (Labels{{"group", "g"}}));
}

TEST(QueuePointsTest, AQueueThatWasNotAskedYetIsNeitherUpNorDown) {
  const QueueHealth queues[] = {
      {.name = "new", .is_up = {}},
      {.name = "dead", .is_up = false, .messages = 7, .misunderstood = 2, .failures = 3},
      {.name = "good", .is_up = true}};
  std::vector<std::string> samples;
  for (const Point& point : QueuePoints(queues)) {
    ASSERT_EQ(point.labels.size(), 1u);
    EXPECT_EQ(point.labels[0].first, "queue");
    samples.push_back(std::string(point.family->name) + " " + point.labels[0].second + " " +
                      point.value);
  }
  EXPECT_EQ(samples,
            (std::vector<std::string>{
                "tidemark_queue_up dead 0", "tidemark_queue_up good 1",
                "tidemark_queue_messages_total new 0", "tidemark_queue_messages_total dead 7",
                "tidemark_queue_messages_total good 0", "tidemark_queue_misunderstood_total new 0",
                "tidemark_queue_misunderstood_total dead 2",
                "tidemark_queue_misunderstood_total good 0", "tidemark_queue_failures_total new 0",
                "tidemark_queue_failures_total dead 3", "tidemark_queue_failures_total good 0"}));
}

TEST(WorkPointsTest, EachCountHasItsFamily) {
  std::vector<std::string> samples;
  for (const Point& point : WorkPoints({.looks = 1,
                                        .looks_left_out = 2,
                                        .store_listings = 3,
                                        .store_reads = 4,
                                        .kafka_probes = 5,
                                        .kafka_bytes_fetched = 6}))
    samples.push_back(std::string(point.family->name) + " " + point.value);
  EXPECT_EQ(samples, (std::vector<std::string>{
                         "tidemark_looks_total 1", "tidemark_looks_left_out_total 2",
                         "tidemark_store_listings_total 3", "tidemark_store_reads_total 4",
                         "tidemark_kafka_probes_total 5", "tidemark_kafka_fetched_bytes_total 6"}));
}

}  // namespace
}  // namespace tidemark::metrics
