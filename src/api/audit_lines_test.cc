#include "api/audit_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/audit_json.h"
#include "support/result_matchers.h"

namespace tidemark::api {
namespace {

using audit::Finding;
using audit::Report;
using support::IsError;
using ::testing::HasSubstr;

Report SomeReport() {
  Report report;
  report.table = "s3://lake/orders";
  report.profiles = {"hudi-0.14", "table"};
  report.as_of = "20251219000000000";
  report.task = 2;
  report.tasks = 3;
  report.replaces = {3};
  report.summary.file_groups = 1;
  report.summary.file_slices = 2;
  report.summary.keys = 3;
  report.summary.versions = 9;
  report.summary.bytes_read = 4711;
  report.summary.seconds = 0.25;
  report.summary.findings = {{"lost_row", 2}, {"torn_tail", 1}};
  report.summary.by_severity = {0, 1, 2};
  report.summary.damages = 1;
  Finding finding;
  finding.kind = "lost_row";
  finding.severity = merge::Severity::kError;
  finding.profile = "hudi-0.14";
  finding.partition = "dt=1";
  finding.file_group = "f-0";
  finding.record_key = "k\"1";
  finding.expected = {{R"({"id":1,"weight":"1.50","x":1e+20})", "2025-12-02"}};
  finding.actual = {{std::nullopt, "2025-10-28"}};
  finding.evidence = {{"dt=1/a.log.1", 0, 3, "20251219", "upsert", "2025-12-02", "string"},
                      {"dt=1/a.parquet", {}, 7, "20251218", "delete", "", "StringWrapper"},
                      {"dt=1/a.parquet", {}, 8, "20251218", "upsert", {}, "null"},
                      {"dt=1/a.parquet", {}, 9, "20251218", "upsert", "null", "string"}};
  finding.explanation = "because";
  finding.is_repairable = true;
  finding.made_permanent_by = "20251220";
  report.findings.push_back(finding);
  Finding of_file;
  of_file.kind = "torn_tail";
  of_file.severity = merge::Severity::kWarning;
  of_file.evidence = {{"dt=1/a.log.2", {}, {}, "", "", {}, ""}};
  of_file.explanation = "the last block is cut short";
  report.findings.push_back(of_file);
  report.unjudged = {{"dt=2", "f-9", "an HFile block"}};
  return report;
}

TEST(AuditLinesTest, PartsReadBackAsTheyWere) {
  const Report report = SomeReport();
  ASSERT_OK_ASSIGN(const Report read, ParseAuditPart(AuditPartJson(report)));
  EXPECT_EQ(read.findings, report.findings);
  EXPECT_EQ(read.unjudged, report.unjudged);
  EXPECT_EQ(read.task, 2U);
  EXPECT_EQ(read.tasks, 3U);
  EXPECT_EQ(read.replaces, report.replaces);
  EXPECT_EQ(read.summary.findings, report.summary.findings);
  EXPECT_EQ(read.summary.by_severity, report.summary.by_severity);
  EXPECT_EQ(AuditJson(read), AuditJson(report));
}

TEST(AuditLinesTest, NoOrderingValueIsNoText) {
  const auto object = nlohmann::json::parse(AuditJson(SomeReport()));
  const auto& evidence = object["findings"][0]["evidence"];
  EXPECT_EQ(evidence[1]["ordering"], "");
  EXPECT_TRUE(evidence[2]["ordering"].is_null());
  EXPECT_EQ(evidence[3]["ordering"], "null");
}

TEST(AuditLinesTest, PartsCutAnywhereAreRefused) {
  const std::string line = AuditPartJson(SomeReport());
  for (size_t size = 0; size < line.size(); ++size) {
    EXPECT_THAT(ParseAuditPart(line.substr(0, size)),
                IsError(ErrorKind::kInvalidArgument, HasSubstr("cut short")));
  }
}

TEST(AuditLinesTest, FlippedBytesAreAnErrorOrAnotherReport) {
  const std::string line = AuditPartJson(SomeReport());
  for (size_t at = 0; at < line.size(); ++at) {
    std::string damaged = line;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x11);
    const auto read = ParseAuditPart(damaged);
    if (!read) {
      EXPECT_EQ(read.error().kind, ErrorKind::kInvalidArgument);
    }
  }
}

TEST(AuditLinesTest, MembersThatAreMissingAreNamed) {
  auto object = nlohmann::json::parse(AuditPartJson(SomeReport()));
  object["summary"].erase("damages");
  EXPECT_THAT(ParseAuditPart(object.dump()),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("member=damages")));
}

TEST(AuditLinesTest, ReportsForPeopleAreNoParts) {
  EXPECT_THAT(ParseAuditPart(AuditJson(SomeReport())),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("tidemark.audit_part/1")));
}

TEST(AuditLinesTest, TasksReadBackAsTheyWere) {
  audit::AuditTask task{"s3://lake/t", "2025", {"hudi-0.14"}, merge::Engine::kSpark, "dt=*",
                        true,          {}};
  task.part = {false, "dt=1", "f-0"};
  task.number = 4;
  task.count = 7;
  ASSERT_OK_ASSIGN(const audit::AuditTask read, ParseAuditTask(AuditTaskJson(task)));
  EXPECT_EQ(read, task);
  task.part = {true, "", ""};
  ASSERT_OK_ASSIGN(const audit::AuditTask of_table, ParseAuditTask(AuditTaskJson(task)));
  EXPECT_EQ(of_table, task);
}

TEST(AuditJsonTest, RowsAreObjectsAndKeysStandInTheContractsOrder) {
  const std::string json = AuditJson(SomeReport());
  EXPECT_THAT(json, HasSubstr(R"("expected":{"row":{"id":1,"weight":"1.50","x":1e+20},)"));
  EXPECT_THAT(json, testing::StartsWith(
                        R"({"schema":"tidemark.audit/1","table":"s3://lake/orders","profiles":)"
                        R"(["hudi-0.14","table"],"as_of":"20251219000000000","summary":)"
                        R"({"file_slices":2,"keys":3,"versions":9,"bytes_read":4711,"seconds":)"));
  EXPECT_THAT(json, HasSubstr(R"("complete":false)"));
}

}  // namespace
}  // namespace tidemark::api
