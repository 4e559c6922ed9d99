#include "cli/audit_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

audit::Report ReportOf(size_t findings, size_t listed) {
  audit::FindingList list(listed);
  for (size_t i = 0; i < findings; ++i) {
    audit::Finding finding;
    finding.kind = "lost_row";
    finding.profile = "hudi-0.14";
    finding.partition = "dt=1";
    finding.file_group = "f-0";
    finding.record_key = "k\x1b" + std::to_string(i);
    finding.expected = {{R"({"id":1})", "3"}};
    finding.actual = {{std::nullopt, "2"}};
    finding.evidence = {{"a.log", 0, 2, "2025", "upsert", "3", "string"}};
    finding.explanation = "the delete wins";
    list.Add(finding);
  }
  audit::Report report;
  report.table = "t";
  report.profiles = {"hudi-0.14"};
  report.summary = list.counts();
  report.findings = list.Take();
  return report;
}

TEST(AuditTableTest, FindingsComeWithRowsEvidenceAndReason) {
  const std::string text = AuditTable(ReportOf(1, 0), {});
  EXPECT_THAT(text, HasSubstr("1  lost_row"));
  EXPECT_THAT(text, HasSubstr(R"(right: {"id":1})"));
  EXPECT_THAT(text, HasSubstr("shown: no row (deleted at 2)"));
  EXPECT_THAT(text, HasSubstr("upsert at 3 (string) by 2025 in a.log block 0 record 2"));
  EXPECT_THAT(text, HasSubstr("the delete wins"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(AuditTableTest, CutListsSaySo) {
  EXPECT_THAT(AuditTable(ReportOf(5, 2), {}), HasSubstr("2 of 5 findings are listed"));
  EXPECT_THAT(AuditTable(ReportOf(5, 0), {}), Not(HasSubstr("are listed")));
}

TEST(AuditTableTest, WhatCouldNotBeJudgedIsSaid) {
  audit::Report report = ReportOf(0, 0);
  EXPECT_THAT(AuditTable(report, {}), HasSubstr("no findings"));
  EXPECT_THAT(AuditTable(report, {}), Not(HasSubstr("not complete")));
  report.unjudged = {{"dt=2", "f-9", "an HFile block"}};
  EXPECT_THAT(AuditTable(report, {}), HasSubstr("not judged: dt=2/f-9: an HFile block"));
  EXPECT_THAT(AuditTable(report, {}), HasSubstr("not complete"));
}

}  // namespace
}  // namespace tidemark::cli
