#include "metrics/feed_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "metrics/names.h"
#include "metrics/text_exposition.h"

namespace tidemark::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr MonoTime kBegin{};

TEST(FeedPointsTest, EachTryCountsAlsoTheRepeatedOnes) {
  SendWindow window;
  EXPECT_EQ(window.success_rate(kBegin), std::nullopt);
  for (int i = 0; i < 99; ++i) window.Tried(true, kBegin);
  window.Tried(false, kBegin);
  EXPECT_DOUBLE_EQ(*window.success_rate(kBegin), 0.99);
}

TEST(FeedPointsTest, OldTriesAreForgotten) {
  SendWindow window;
  window.Tried(false, kBegin);
  window.Tried(true, kBegin + kSendWindow);
  EXPECT_DOUBLE_EQ(*window.success_rate(kBegin + kSendWindow), 0.5);
  EXPECT_DOUBLE_EQ(*window.success_rate(kBegin + kSendWindow + Milliseconds(1)), 1);
  EXPECT_EQ(window.success_rate(kBegin + 3 * kSendWindow), std::nullopt);
}

TEST(FeedPointsTest, ThePercentileIsAnObservedValue) {
  SendWindow window;
  for (int i = 1; i <= 100; ++i) window.Confirmed(Milliseconds(i), kBegin);
  EXPECT_EQ(window.latency_p99(kBegin), Milliseconds(99));
  window.Confirmed(Milliseconds(5000), kBegin);
  EXPECT_EQ(window.latency_p99(kBegin), Milliseconds(100));
  SendWindow single;
  single.Confirmed(Milliseconds(7), kBegin);
  EXPECT_EQ(single.latency_p99(kBegin), Milliseconds(7));
}

TEST(FeedPointsTest, BucketsAddUpAsPrometheusWantsThem) {
  FeedReport report;
  report.latency.Add(Milliseconds(5));
  report.latency.Add(Milliseconds(6));
  report.latency.Add(Milliseconds(999'000));
  const std::string text = TextExposition(FeedPoints(report, 10), TextFormat::kPrometheus);
  EXPECT_THAT(text, HasSubstr("# TYPE metadata_sync_send_latency_seconds histogram\n"));
  EXPECT_THAT(text, HasSubstr("metadata_sync_send_latency_seconds_bucket{le=\"0.005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("metadata_sync_send_latency_seconds_bucket{le=\"0.01\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("metadata_sync_send_latency_seconds_bucket{le=\"300\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("metadata_sync_send_latency_seconds_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("metadata_sync_send_latency_seconds_sum 999.011\n"));
  EXPECT_THAT(text, HasSubstr("metadata_sync_send_latency_seconds_count 3\n"));
}

TEST(FeedPointsTest, WhatIsNotKnownHasNoSample) {
  FeedReport report;
  report.tables = {{.table = "s3://lake/a", .send_success_rate = 0.5, .unpublished_instants = 3}};
  const std::string text = TextExposition(FeedPoints(report, 10), TextFormat::kPrometheus);
  EXPECT_THAT(text, HasSubstr("metadata_sync_send_success_rate{table=\"s3://lake/a\"} 0.500000\n"));
  EXPECT_THAT(text, HasSubstr("metadata_sync_unpublished_instants{table=\"s3://lake/a\"} 3\n"));
  EXPECT_THAT(text, Not(HasSubstr("metadata_sync_oldest_unpublished_seconds{")));
  EXPECT_THAT(text, Not(HasSubstr("metadata_sync_send_latency_p99{")));
}

TEST(FeedPointsTest, TooManyTablesHaveNoSeriesOfTheirOwn) {
  FeedReport report;
  report.tables = {{.table = "a", .is_parked = true}, {.table = "b"}};
  const std::string text = TextExposition(FeedPoints(report, 1), TextFormat::kPrometheus);
  EXPECT_THAT(text, Not(HasSubstr("{table=")));
  EXPECT_THAT(text, HasSubstr("metadata_sync_tables 2\n"));
  EXPECT_THAT(text, HasSubstr("metadata_sync_tables_left_out 2\n"));
  EXPECT_THAT(text, HasSubstr("metadata_sync_tables_parked 1\n"));
}

}  // namespace
}  // namespace tidemark::metrics
