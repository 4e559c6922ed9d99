#include "metrics/text_exposition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tidemark::metrics {
namespace {

constexpr Family kGaugeFamily{"t_age_seconds", "seconds", "An age.", "", ""};
constexpr Family kCounterFamily{"t_sent_total", "", "What was sent.", "", "", FamilyType::kCounter};

// Written by hand from the description of Prometheus' text format 0.0.4 and OpenMetrics 1.0.
TEST(TextExpositionTest, PrometheusKeepsTheSuffixOfACounterInItsHeader) {
  const Points points = {{&kGaugeFamily, {{"a", "1"}}, "2.5"},
                         {&kGaugeFamily, {{"a", "2"}}, "3"},
                         {&kCounterFamily, {}, "7"}};
  EXPECT_EQ(TextExposition(points, TextFormat::kPrometheus),
            "# HELP t_age_seconds An age.\n# TYPE t_age_seconds gauge\n"
            "t_age_seconds{a=\"1\"} 2.5\nt_age_seconds{a=\"2\"} 3\n"
            "# HELP t_sent_total What was sent.\n# TYPE t_sent_total counter\nt_sent_total 7\n");
}

TEST(TextExpositionTest, OpenMetricsNamesTheFamilyOfACounterWithoutIt) {
  const Points points = {{&kGaugeFamily, {}, "2.5"}, {&kCounterFamily, {}, "7"}};
  EXPECT_EQ(TextExposition(points, TextFormat::kOpenMetrics),
            "# HELP t_age_seconds An age.\n# TYPE t_age_seconds gauge\n"
            "# UNIT t_age_seconds seconds\nt_age_seconds 2.5\n"
            "# HELP t_sent What was sent.\n# TYPE t_sent counter\nt_sent_total 7\n# EOF\n");
}

TEST(TextExpositionTest, TheFormatIsTheOneTheClientLikesBest) {
  const auto open = TextFormat::kOpenMetrics;
  const auto plain = TextFormat::kPrometheus;
  EXPECT_EQ(FormatFor(""), plain);
  EXPECT_EQ(FormatFor("*/*"), plain);
  EXPECT_EQ(FormatFor("text/html"), plain);
  EXPECT_EQ(FormatFor("application/openmetrics-text"), open);
  EXPECT_EQ(FormatFor(" application/openmetrics-text ; version=1.0.0 ; q=0.5 , */*;q=0.1"), open);
  EXPECT_EQ(FormatFor("text/plain;q=0.5, application/openmetrics-text;q=0.5"), open);
  EXPECT_EQ(FormatFor("text/plain, application/openmetrics-text;q=0.9"), plain);
  EXPECT_EQ(FormatFor("application/openmetrics-text;q=0"), plain);
  EXPECT_EQ(FormatFor("application/openmetrics-text;q=nonsense"), plain);
  EXPECT_EQ(FormatFor("application/openmetrics-text-2"), plain);
  // What Prometheus 2.42 sends.
  EXPECT_EQ(FormatFor("application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
                      "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
            open);
}

TEST(TextExpositionTest, AHeaderThatWasCutOffOrDamagedStillGetsAFormat) {
  const std::string accept = "application/openmetrics-text;version=1.0.0;q=0.8,text/plain;q=0.5";
  size_t open = 0;
  for (size_t size = 0; size <= accept.size(); ++size)
    open += FormatFor(accept.substr(0, size)) == TextFormat::kOpenMetrics ? 1U : 0U;
  EXPECT_GT(open, 0U);
  for (size_t at = 0; at < accept.size(); ++at) {
    std::string damaged = accept;
    damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ 0x10U);
    const TextFormat format = FormatFor(damaged);
    EXPECT_TRUE(format == TextFormat::kOpenMetrics || format == TextFormat::kPrometheus);
  }
}

}  // namespace
}  // namespace tidemark::metrics
