#include "cli/freshness_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

freshness::PipelineReport Breach() {
  freshness::PipelineReport report;
  report.pipeline = "orders";
  report.status = freshness::PipelineStatus::kBreach;
  report.message = "raise the alarm";
  report.lag = 45min;
  report.sla = 30min;
  report.sla_ratio = 1.5;
  report.counts = {.total = 3, .fresh = 1, .lagging = 2};
  report.commit.emplace();
  report.commit->instant = "20240101120000123";
  report.commit->commit_depth = 3;
  return report;
}

TEST(FreshnessTableTest, OneLineAPipelineAndItsSentenceBelow) {
  const auto report = Breach();
  EXPECT_EQ(FreshnessTable({&report, 1}, false, {}),
            "PIPELINE  STATUS     LAG     SLA  RATIO  PARTITIONS            CHECKPOINT\n"
            "orders    breach  45 min  30 min   1.50  3: 1 fresh 2 lagging  "
            "20240101120000123 (-3)\n"
            "  raise the alarm\n");
}

TEST(FreshnessTableTest, WhatWasFoundInTheTableStandsBelowTheSentence) {
  auto report = Breach();
  report.findings = {{"empty_commit", ".hoodie/2.commit", "the commit's file is empty"}};
  EXPECT_THAT(FreshnessTable({&report, 1}, false, {}),
              HasSubstr("  raise the alarm\n"
                        "  empty_commit: .hoodie/2.commit: the commit's file is empty\n"));
  report.findings.resize(5, {"unreadable_commit", ".hoodie/1.commit", "no JSON"});
  EXPECT_THAT(FreshnessTable({&report, 1}, false, {}),
              HasSubstr("no JSON\n  and 2 more findings (see --format json)\n"));
}

TEST(FreshnessTableTest, SuppressedNumbersAreADashNeverZero) {
  freshness::PipelineReport report;
  report.pipeline = "orders";
  report.sla = 30min;
  const std::string text = FreshnessTable({&report, 1}, false, {});
  EXPECT_THAT(text, HasSubstr("orders    unknown    -  30 min      -  -           -"));
}

TEST(FreshnessTableTest, LowerBoundsSaySo) {
  auto report = Breach();
  report.lag_is_lower_bound = true;
  EXPECT_THAT(FreshnessTable({&report, 1}, false, {}), HasSubstr(">= 45 min"));
}

TEST(FreshnessTableTest, PartitionsAreShownWhenAsked) {
  auto report = Breach();
  freshness::PartitionVerdict partition;
  partition.partition = {"orders", 7};
  partition.verdict = freshness::Verdict::kLagging;
  partition.committed = 980;
  partition.log_start = 0;
  partition.end = 1200;
  partition.first_uncommitted = 981;
  partition.timestamp_ms = 1700000000000;
  partition.lag = 45min;
  report.partitions.push_back(partition);
  const std::string text = FreshnessTable({&report, 1}, true, {});
  EXPECT_THAT(text, HasSubstr("orders-7   LAGGING  45 min"));
  EXPECT_THAT(text, HasSubstr("2023-11-14T22:13:20.000Z"));
  EXPECT_THAT(FreshnessTable({&report, 1}, false, {}), Not(HasSubstr("orders-7")));
}

TEST(FreshnessTableTest, NamesCannotDriveTheTerminal) {
  auto report = Breach();
  report.pipeline = "a\x1b[2J";
  EXPECT_THAT(FreshnessTable({&report, 1}, false, {}), HasSubstr("a\\x1b[2J"));
}

}  // namespace
}  // namespace tidemark::cli
