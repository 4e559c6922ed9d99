#include "audit/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/result_matchers.h"

namespace tidemark::audit {
namespace {

using merge::Severity;
using support::IsError;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Finding FindingOf(std::string kind, Severity severity, std::string key) {
  Finding finding;
  finding.kind = std::move(kind);
  finding.severity = severity;
  finding.record_key = std::move(key);
  return finding;
}

Report PartOf(uint64_t task, uint64_t tasks, std::vector<Finding> findings) {
  FindingList list(0);
  for (auto& finding : findings) list.Add(std::move(finding));
  Report part;
  part.table = "t";
  part.profiles = {"hudi-0.14"};
  part.as_of = "20260101";
  part.task = task;
  part.tasks = tasks;
  part.summary = list.counts();
  part.findings = list.Take();
  return part;
}

TEST(FindingListTest, GravestComeFirstThenKeysInOrder) {
  FindingList list(0);
  list.Add(FindingOf("stale_delete", Severity::kInfo, "a"));
  list.Add(FindingOf("lost_row", Severity::kError, "c"));
  list.Add(FindingOf("lost_row", Severity::kError, "b"));
  list.Add(FindingOf("ambiguous_tie", Severity::kWarning, "a"));
  EXPECT_THAT(
      list.Take(),
      ElementsAre(Field(&Finding::record_key, "b"), Field(&Finding::record_key, "c"),
                  Field(&Finding::kind, "ambiguous_tie"), Field(&Finding::kind, "stale_delete")));
}

TEST(FindingListTest, CountsAreExactHoweverFewAreKept) {
  FindingList list(3);
  for (int i = 0; i < 5000; ++i) {
    list.Add(FindingOf("stale_delete", Severity::kInfo, std::to_string(10000 - i)));
  }
  list.Add(FindingOf("lost_row", Severity::kError, "z"));
  EXPECT_EQ(list.counts().findings.at("stale_delete"), 5000U);
  EXPECT_EQ(list.counts().total(), 5001U);
  EXPECT_THAT(list.Take(),
              ElementsAre(Field(&Finding::record_key, "z"), Field(&Finding::record_key, "10000"),
                          Field(&Finding::record_key, "5001")));
}

TEST(MergeReportsTest, PartsInAnyOrderComeToTheSame) {
  const auto a = PartOf(1, 2, {FindingOf("lost_row", Severity::kError, "b")});
  const auto b = PartOf(2, 2, {FindingOf("lost_row", Severity::kError, "a")});
  ASSERT_OK_ASSIGN(const Report forward, MergeReports({a, b}, 0));
  ASSERT_OK_ASSIGN(const Report backward, MergeReports({b, a}, 0));
  EXPECT_EQ(forward.findings, backward.findings);
  EXPECT_EQ(forward.summary.findings.at("lost_row"), 2U);
  EXPECT_TRUE(forward.is_complete());
  EXPECT_TRUE(forward.has_faults());
}

TEST(MergeReportsTest, TaskWithoutAResultLeavesTheAuditIncomplete) {
  ASSERT_OK_ASSIGN(const Report report, MergeReports({PartOf(2, 2, {})}, 0));
  EXPECT_FALSE(report.is_complete());
  EXPECT_THAT(report.unjudged,
              ElementsAre(Field(&Unjudged::reason, HasSubstr("task 1 of 2 was not done"))));
}

TEST(MergeReportsTest, WhatTheTablesPartReplacesDoesNotCount) {
  auto of_table = PartOf(1, 3, {FindingOf("resurrected_row", Severity::kError, "a")});
  of_table.replaces = {2, 3};
  auto alone = PartOf(2, 3, {FindingOf("lost_row", Severity::kError, "a")});
  alone.summary.keys = 5;
  alone.summary.bytes_read = 7;
  ASSERT_OK_ASSIGN(const Report report, MergeReports({alone, of_table}, 0));
  EXPECT_THAT(report.findings, ElementsAre(Field(&Finding::kind, "resurrected_row")));
  EXPECT_EQ(report.summary.findings.count("lost_row"), 0U);
  EXPECT_EQ(report.summary.keys, of_table.summary.keys);
  EXPECT_EQ(report.summary.bytes_read, of_table.summary.bytes_read + 7);
  EXPECT_TRUE(report.is_complete());  // nor is task 3 missing
}

TEST(MergeReportsTest, PartsThatDoNotFitTogetherAreRefused) {
  const auto part = PartOf(1, 2, {});
  EXPECT_THAT(MergeReports({}, 0), IsError(ErrorKind::kInvalidArgument, HasSubstr("no part")));
  EXPECT_THAT(MergeReports({part, part}, 0),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("two parts of one task")));
  auto later = PartOf(2, 2, {});
  later.as_of = "20260102";
  EXPECT_THAT(MergeReports({part, later}, 0),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("as_of=20260101,20260102")));
}

TEST(ReportTest, DamageLeavesTheAuditIncomplete) {
  const Report report = PartOf(0, 0, {FindingOf("corrupt_block", Severity::kError, "")});
  EXPECT_FALSE(report.is_complete());
  EXPECT_THAT(report.unjudged, IsEmpty());
}

}  // namespace
}  // namespace tidemark::audit
