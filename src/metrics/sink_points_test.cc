#include "metrics/sink_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/text_exposition.h"

namespace tidemark::metrics {
namespace {

using testing::HasSubstr;

TEST(SinkPointsTest, AreTheTextThatPrometheusReads) {
  SinkHealth health{.name = "hms", .behind = 2, .paused = 1, .quarantined = 1, .applied = 7};
  health.latency.Add(Milliseconds(40));
  health.latency.Add(Milliseconds(400'000));
  const std::vector<SinkHealth> sinks = {health};
  const std::string text = TextExposition(SinkPoints(sinks), FormatFor(""));
  for (const char* const line :
       {"# TYPE metadata_sync_apply_latency_seconds histogram",
        "metadata_sync_apply_latency_seconds_bucket{sink=\"hms\",le=\"0.025\"} 0\n",
        "metadata_sync_apply_latency_seconds_bucket{sink=\"hms\",le=\"0.05\"} 1\n",
        "metadata_sync_apply_latency_seconds_bucket{sink=\"hms\",le=\"300\"} 1\n",
        "metadata_sync_apply_latency_seconds_bucket{sink=\"hms\",le=\"+Inf\"} 2\n",
        "metadata_sync_apply_latency_seconds_count{sink=\"hms\"} 2\n",
        "metadata_sync_apply_latency_seconds_sum{sink=\"hms\"} 400.04\n",
        "metadata_sync_quarantined{sink=\"hms\"} 1\n",
        "metadata_sync_sink_paused{sink=\"hms\"} 1\n",
        "metadata_sync_sink_behind{sink=\"hms\"} 2\n",
        "metadata_sync_sink_applied_total{sink=\"hms\"} 7\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(SinkPointsTest, NoSinksAreNoPoints) {
  EXPECT_TRUE(SinkPoints({}).empty());
}

}  // namespace
}  // namespace tidemark::metrics
