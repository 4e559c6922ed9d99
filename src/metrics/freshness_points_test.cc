#include "metrics/freshness_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "metrics/text_exposition.h"
#include "support/freshness_facts.h"

namespace tidemark::metrics {
namespace {

using freshness::PipelineReport;
using support::kNow;
using support::Seen;
using support::World;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

std::string Exposition(const PipelineReport& report, const FreshnessPointsOptions& options = {}) {
  return TextExposition(FreshnessPoints({&report, 1}, options), TextFormat::kPrometheus);
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

PipelineReport Lagging() {
  World world({Seen(0, 50).Log(0, 100).Record(50, 45min), Seen(1, 7).Log(0, 7)});
  return world.Sla(30min).Retention(24h).Judge();
}

// Written by hand from docs/metrics.md and the text format's description.
TEST(FreshnessPointsTest, ALatePipelineShowsEveryNumberItHas) {
  PipelineReport report = Lagging();
  report.probe_duration = 41ms;
  const std::string of = R"({pipeline="orders",cluster="main",table="s3://lake/orders")";
  std::string expected;
  const auto family = [&](std::string_view name, std::string_view help) {
    expected.append("# HELP tidemark_freshness_").append(name).append(" ").append(help);
    expected.append("\n# TYPE tidemark_freshness_").append(name).append(" gauge\n");
  };
  const auto sample = [&](std::string_view name, std::string_view extra, std::string_view value) {
    expected.append("tidemark_freshness_").append(name).append(of).append(extra).append("} ");
    expected.append(value).append("\n");
  };
  family("status", "1 for the pipeline's status, 0 for the others.");
  for (const char* status : {"fresh", "warning", "breach", "unknown", "disabled"})
    sample("status", ",status=\"" + std::string(status) + "\"",
           std::string_view(status) == "breach" ? "1" : "0");
  family("reason", "Why the status is what it is; always 1.");
  sample("reason", ",reason=\"ok\"", "1");
  family("breach", "1 when the SLA is missed or data was lost, else 0.");
  sample("breach", "", "1");
  family("lag_seconds", "Time in queue of the oldest record that is not in the table yet.");
  sample("lag_seconds", "", "2700");
  family("lag_lower_bound", "1 when the true lag may be longer than the one given, else 0.");
  sample("lag_lower_bound", "", "0");
  family("sla_seconds", "Lag the pipeline is allowed.");
  sample("sla_seconds", "", "1800");
  family("sla_ratio", "Lag divided by the SLA, without a cap.");
  sample("sla_ratio", "", "1.5");
  family("sla_ratio_capped", "Lag divided by the SLA, never over 1; a very long lag is cut first.");
  sample("sla_ratio_capped", "", "1.0");
  family("oldest_message_timestamp_seconds",
         "Stamp of the record the lag comes from, seconds since 1970.");
  sample("oldest_message_timestamp_seconds", "", "1796004900");
  family("uncommitted_records",
         "Records the table has not read yet; an upper bound where the log has gaps.");
  sample("uncommitted_records", "", "50");
  family("lost_records", "Records that expired before the table read them; an upper bound.");
  sample("lost_records", "", "0");
  family("retention_margin_records",
         "Least number of records between the log's beginning and the checkpoint.");
  sample("retention_margin_records", "", "50");
  family("retention_margin_seconds", "Least time until a waiting record may be deleted by age.");
  sample("retention_margin_seconds", "", "83700");
  family("commit_depth",
         "Newer completed commits without a usable checkpoint that were passed over.");
  sample("commit_depth", "", "0");
  family("commit_age_seconds", "Time since the commit that carries the checkpoint.");
  sample("commit_age_seconds", "", "60");
  family("clock_skew_seconds", "How far a record's stamp lies in the future, at most.");
  sample("clock_skew_seconds", "", "0");
  family("partitions", "Number of partitions by verdict.");
  for (const char* verdict : {"fresh", "lagging", "lost", "blocked", "ahead", "unknown"}) {
    const std::string_view name = verdict;
    sample("partitions", ",verdict=\"" + std::string(verdict) + "\"",
           name == "fresh" || name == "lagging" ? "1" : "0");
  }
  family("probe_duration_seconds",
         "Time from the beginning of the look to its verdict, waiting included; of a single run "
         "the whole run.");
  sample("probe_duration_seconds", "", "0.041");
  family("last_success_timestamp_seconds",
         "When the pipeline was last judged without doubt, seconds since 1970.");
  sample("last_success_timestamp_seconds", "", "1796007600");
  EXPECT_EQ(Exposition(report), expected);
}

TEST(FreshnessPointsTest, AnUnknownPipelineHasAStatusAndNoNumber) {
  const std::string text =
      Exposition(World({Seen(0, 50).Fault(kafka::ProbeFault::kTimeout)}).Judge());
  EXPECT_THAT(text, HasSubstr("status=\"unknown\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("reason=\"timeout\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("verdict=\"unknown\"} 1\n"));
  for (const char* absent : {"_lag_seconds", "_lag_lower_bound", "_sla_ratio", "_breach",
                             "_oldest_message", "_uncommitted_records", "_lost_records",
                             "_clock_skew", "_last_success", "_retention_margin"})
    EXPECT_THAT(text, Not(HasSubstr(absent)));
}

TEST(FreshnessPointsTest, AnUnreadableTableLeavesStatusReasonAndSla) {
  World world;
  world.table_error = Error{ErrorKind::kNotFound, "no table"};
  std::set<std::string> names;
  for (const std::string& line : LinesOf(Exposition(world.Judge())))
    if (!line.starts_with("#")) names.insert(line.substr(0, line.find('{')));
  EXPECT_EQ(names, (std::set<std::string>{"tidemark_freshness_status", "tidemark_freshness_reason",
                                          "tidemark_freshness_sla_seconds"}));
}

TEST(FreshnessPointsTest, ADisabledPipelineIsNeitherABreachNorAProofOfHealth) {
  World world;
  world.spec.is_disabled = true;
  const std::string text = Exposition(world.Judge());
  EXPECT_THAT(text, HasSubstr("status=\"disabled\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("_breach")));
  EXPECT_THAT(text, Not(HasSubstr("_last_success")));
}

TEST(FreshnessPointsTest, LagFromAnArrivalBoundHasNoStampToShow) {
  const std::string text =
      Exposition(World({Seen(0, 50).Log(0, 100).Stamped(50, 0)}).SawEnd(50, 4min).Judge());
  EXPECT_THAT(text, HasSubstr("_lag_seconds"));
  EXPECT_THAT(text, Not(HasSubstr("_oldest_message")));
}

TEST(FreshnessPointsTest, LabelValuesAreEscapedAndMadeValid) {
  PipelineReport report = Lagging();
  report.table = "a\\b\"c\nd\xFF";
  EXPECT_THAT(Exposition(report), HasSubstr("table=\"a\\\\b\\\"c\\nd\xEF\xBF\xBD\"} 2700\n"));
}

TEST(FreshnessPointsTest, OwnLabelsGetValidNamesThatHideNoneOfOurs) {
  PipelineReport report = Lagging();
  report.labels = {{"1st", "a"},    {"__name__", "b"}, {"cluster", "c"},
                   {"team-x", "d"}, {"team.x", "e"},   {"", "f"}};
  EXPECT_THAT(Exposition(report),
              HasSubstr("table=\"s3://lake/orders\",_=\"f\",_1st=\"a\",label___name__=\"b\","
                        "label_cluster=\"c\",team_x=\"d\",team_x_=\"e\"} 2700\n"));
}

TEST(FreshnessPointsTest, EachFamilyStandsOnceWithTheReportsInTheirOrder) {
  PipelineReport first = Lagging();
  PipelineReport second = Lagging();
  first.pipeline = "z";
  second.pipeline = "a";
  const std::vector<PipelineReport> reports = {first, second};
  const std::string text = TextExposition(FreshnessPoints(reports), TextFormat::kPrometheus);
  const std::string header = "# TYPE tidemark_freshness_lag_seconds gauge\n";
  ASSERT_THAT(text, HasSubstr(header));
  EXPECT_EQ(text.find(header), text.rfind(header));
  EXPECT_LT(text.find("lag_seconds{pipeline=\"z\""), text.find("lag_seconds{pipeline=\"a\""));
}

TEST(FreshnessPointsTest, NoReportsAreNoPoints) {
  EXPECT_TRUE(FreshnessPoints({}).empty());
  EXPECT_EQ(TextExposition({}, TextFormat::kPrometheus), "");
  EXPECT_EQ(TextExposition({}, TextFormat::kOpenMetrics), "# EOF\n");
}

TEST(FreshnessPointsTest, OpenMetricsNamesUnitsAndEnds) {
  const PipelineReport report = Lagging();
  const std::string text = TextExposition(FreshnessPoints({&report, 1}), TextFormat::kOpenMetrics);
  EXPECT_THAT(text, HasSubstr("# TYPE tidemark_freshness_lag_seconds gauge\n"
                              "# UNIT tidemark_freshness_lag_seconds seconds\n"));
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST(FreshnessPointsTest, PartitionsAreGivenOnRequestOnly) {
  const World world(
      {Seen(0, 50).Log(0, 100).Record(50, 45min), Seen(1, 7).Fault(kafka::ProbeFault::kTimeout)});
  const PipelineReport report = world.Judge();
  EXPECT_THAT(Exposition(report), Not(HasSubstr("_partition_")));
  const std::string text = Exposition(report, {.with_partitions = true});
  EXPECT_THAT(text, HasSubstr("tidemark_freshness_partition_lag_seconds{pipeline=\"orders\","
                              "cluster=\"main\",table=\"s3://lake/orders\",topic=\"orders\","
                              "partition=\"0\"} 2700\n"));
  EXPECT_THAT(text, Not(HasSubstr("partition=\"1\"")));
}

TEST(FreshnessPointsTest, PartitionsOverTheBoundAreCountedInsteadOfShown) {
  const std::vector<PipelineReport> reports = {Lagging(), [] {
                                                 PipelineReport second = Lagging();
                                                 second.pipeline = "second";
                                                 return second;
                                               }()};
  const auto series = [&](size_t partitions_max) {
    size_t shown = 0;
    std::string left_out;
    for (const Point& point :
         FreshnessPoints(reports, {.with_partitions = true, .partitions_max = partitions_max})) {
      if (point.family->name == "tidemark_freshness_partition_lag_seconds") ++shown;
      if (point.family->name == "tidemark_freshness_partitions_left_out") left_out = point.value;
    }
    return std::pair(shown, left_out);
  };
  EXPECT_EQ(series(4), std::pair(size_t{4}, std::string("0")));
  EXPECT_EQ(series(3), std::pair(size_t{3}, std::string("1")));
  EXPECT_EQ(series(1), std::pair(size_t{1}, std::string("3")));
  EXPECT_EQ(series(0), std::pair(size_t{0}, std::string("4")));
}

TEST(FreshnessPointsTest, CompatibilityUsesTheOtherExportersNames) {
  const std::string text = Exposition(Lagging(), {.with_compatibility = true});
  const std::string group = "{cluster_name=\"main\",group=\"orders\"";
  for (const std::string& line :
       {"kafka_consumergroup_group_lag" + group + ",topic=\"orders\",partition=\"0\"} 50\n",
        "kafka_consumergroup_group_lag_seconds" + group + ",topic=\"orders\",partition=\"1\"} 0\n",
        "kafka_consumergroup_group_max_lag" + group + "} 50\n",
        "kafka_consumergroup_group_max_lag_seconds" + group + "} 2700\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(FreshnessPointsTest, NoValueIsEverNotANumberOrNegative) {
  for (const int64_t stamp : {kMin, int64_t{-1}, int64_t{0}, int64_t{MillisOf(kNow) + 1}, kMax}) {
    const PipelineReport report = World({Seen(0, 50).Log(0, kMax).Stamped(50, stamp)})
                                      .SawEnd(50, 4min)
                                      .Retention(Milliseconds(kMax))
                                      .Judge();
    const std::string text =
        Exposition(report, {.with_partitions = true, .with_compatibility = true});
    for (const std::string& line : LinesOf(text)) {
      if (line.starts_with("#")) continue;
      const std::string value = line.substr(line.rfind(' ') + 1);
      EXPECT_EQ(value.find_first_not_of("0123456789."), std::string::npos) << line;
    }
  }
}

}  // namespace
}  // namespace tidemark::metrics
