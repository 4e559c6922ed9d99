// Keys that several file groups hold. The tables are written record by record
// (support/row_table.h), so that each case is known from its events; the releases' own tables of
// this kind are in hudi_audit_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "audit/repair_plan.h"
#include "audit/table_audit.h"
#include "columnar/batch_writer.h"
#include "columnar/loader.h"
#include "scan/table_scan.h"
#include "support/result_matchers.h"
#include "support/row_table.h"
#include "support/watched_store.h"

namespace tidemark::audit {
namespace {

using support::Delete;
using support::IsOk;
using support::Put;
using support::RowTable;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// "key kind partition/file group", in order; for those of severity error.
std::vector<std::string> Errors(const Report& report) {
  std::vector<std::string> lines;
  for (const Finding& finding : report.findings) {
    if (finding.severity != merge::Severity::kError) continue;
    lines.push_back(finding.record_key + " " + finding.kind + " " + finding.partition + "/" +
                    finding.file_group);
  }
  return lines;
}

Report AuditOf(RowTable& table, AuditOptions options = {}, RepairSink* repair = nullptr) {
  if (options.profiles.empty()) options.profiles = {"hudi-1.1"};
  options.for_repair = repair != nullptr;
  const auto audit = TableAudit::Open(table.store(), columnar::LoadColumnReader, options, Budget());
  EXPECT_THAT(audit, IsOk());
  if (!audit) return {};
  auto report = audit->Run(audit->Plan(), repair);
  EXPECT_THAT(report, IsOk());
  return report ? *std::move(report) : Report();
}

/// Keys of `read --history`.
std::vector<std::string> HistoryOf(RowTable& table) {
  scan::ScanOptions options;
  options.with_history = true;
  const auto scan = scan::TableScan::Open(
      table.store(), columnar::LoadColumnReader, options, [](const lake::Finding&) {}, Budget());
  EXPECT_THAT(scan, IsOk());
  std::vector<std::string> keys;
  const auto done = scan->Run([&](const columnar::Batch& batch) -> Status {
    for (size_t row = 0; row < batch.rows(); ++row) {
      keys.emplace_back(batch.column(*batch.type().Find("key")).Text(row));
    }
    return {};
  });
  EXPECT_THAT(done, IsOk());
  std::ranges::sort(keys);
  return keys;
}

const Finding& FindingOf(const Report& report, const std::string& key) {
  static const Finding kNone;
  for (const Finding& finding : report.findings) {
    if (finding.record_key == key && finding.severity == merge::Severity::kError) return finding;
  }
  return kNone;
}

/// Repairs as "U key partition" and "D key partition", in order.
class Repairs final : public RepairSink {
 public:
  Status Take(size_t, Repair repair, std::string_view key, std::string_view partition,
              const columnar::Batch&) override {
    const std::lock_guard lock(mutex_);
    lines.push_back((repair == Repair::kWrite ? "U " : "D ") + std::string(key) + " " +
                    std::string(partition));
    return {};
  }
  Status Finish(size_t) override { return {}; }
  std::vector<std::string> lines;

 private:
  std::mutex mutex_;
};

TEST(AuditGroupsTest, ADeleteInAnotherGroupTakesTheRow) {
  RowTable table;
  table.Commit({Put("a", 3, "f1-0"), Put("b", 3, "f1-0"), Put("c", 3, "f1-0")});
  table.Commit({Delete("a", 4, "f1-0"), Delete("b", 4, "f1-0")});
  table.Commit({Put("a", 1, "f2-0"), Put("b", 5, "f2-0"), Put("d", 1, "f2-0")});
  const Report report = AuditOf(table);
  EXPECT_THAT(Errors(report), ElementsAre("a resurrected_row p/f2-0"));
  const Finding& finding = FindingOf(report, "a");
  EXPECT_EQ(finding.expected->row_json, std::nullopt);
  EXPECT_EQ(finding.expected->ordering, "4");
  EXPECT_THAT(*finding.actual->row_json, HasSubstr("at 1"));
  ASSERT_EQ(finding.evidence.size(), 2U);
  EXPECT_THAT(finding.evidence[0].file, HasSubstr("f1-0"));
  EXPECT_EQ(finding.evidence[0].op, "delete");
  EXPECT_THAT(finding.evidence[1].file, HasSubstr("f2-0"));
  EXPECT_THAT(finding.explanation, HasSubstr("file group f1-0"));
  EXPECT_FALSE(finding.is_repairable);
  EXPECT_THAT(HistoryOf(table), ElementsAre("b", "c", "d"));
  Repairs repairs;
  EXPECT_EQ(AuditOf(table, {}, &repairs).findings, report.findings);
  EXPECT_THAT(repairs.lines, ElementsAre("D a p"));
}

TEST(AuditGroupsTest, AKeyThatTwoGroupsShowIsADuplicate) {
  RowTable table;
  table.Commit({Put("a", 1, "f1-0"), Put("b", 1, "f1-0")});
  table.Commit({Put("a", 2, "f2-0")});
  EXPECT_THAT(Errors(AuditOf(table)), ElementsAre("a duplicate_key p/f1-0"));
  Repairs repairs;
  AuditOf(table, {}, &repairs);
  EXPECT_THAT(repairs.lines, ElementsAre("U a p"));
}

TEST(AuditGroupsTest, TwoGroupsOfOneBucketAreFound) {
  RowTable table;
  table.Commit({Put("a", 1, "00000001-aaaa-0"), Put("b", 1, "00000001-bbbb-0"),
                Put("c", 1, "00000002-cccc-0"), Put("d", 1, "00000001-dddd-0", "q")});
  const Report report = AuditOf(table);
  ASSERT_EQ(report.summary.findings.at("duplicate_bucket"), 1U);
  const auto found = std::ranges::find(report.findings, "duplicate_bucket", &Finding::kind);
  EXPECT_EQ(found->file_group, "00000001-aaaa-0");
  EXPECT_EQ(found->evidence.size(), 2U);
}

TEST(AuditGroupsTest, NamesThatHappenToBeginWithDigitsAreNoBuckets) {
  RowTable table;
  table.Commit({Put("a", 1, "00000001-aaaa-0"), Put("b", 1, "00000001-bbbb-0"),
                Put("c", 1, "f0000002-cccc-0")});
  EXPECT_EQ(AuditOf(table).summary.findings.count("duplicate_bucket"), 0U);
}

TEST(AuditGroupsTest, ARowLostInOneGroupWhileAnotherShowsAnOlderOneIsStale) {
  RowTable table;
  table.Commit({Put("a", 5, "f1-0")});
  table.Commit({Delete("a", 1, "f1-0")});  // 0.10 has no value for deletes
  table.Commit({Put("a", 2, "f2-0")});
  AuditOptions options;
  options.profiles = {"hudi-0.10"};
  const Report report = AuditOf(table, options);
  EXPECT_THAT(Errors(report), ElementsAre("a stale_row p/f2-0"));
  EXPECT_THAT(*FindingOf(report, "a").expected->row_json, HasSubstr("at 5"));
}

TEST(AuditGroupsTest, PartitionsHaveTheirOwnKeysUnlessTheIndexIsGlobal) {
  RowTable table;
  table.Commit({Put("a", 3, "f1-0", "p"), Put("b", 3, "f1-0", "p")});
  table.Commit({Delete("a", 4, "f1-0", "p")});
  table.Commit({Put("a", 1, "f2-0", "q"), Put("b", 4, "f2-0", "q")});
  const Report report = AuditOf(table);
  EXPECT_THAT(Errors(report), IsEmpty());
  ASSERT_EQ(report.summary.findings.at("duplicate_key"), 1U);
  const auto info = std::ranges::find(report.findings, "duplicate_key", &Finding::kind);
  EXPECT_THAT(info->explanation, HasSubstr("1 keys have a row in more than one partition, as b"));
  AuditOptions options;
  options.keys_are_global = true;
  Repairs repairs;
  EXPECT_THAT(Errors(AuditOf(table, options, &repairs)),
              ElementsAre("b duplicate_key p/f1-0", "a resurrected_row q/f2-0"));
  EXPECT_THAT(repairs.lines, UnorderedElementsAre("D a q", "U b q", "D b p"));
}

TEST(AuditGroupsTest, ARowThatMovesToAnotherPartitionIsDeletedInOneAndWrittenInTheOther) {
  RowTable table("hoodie.table.metadata.partitions=files,record_index\n");
  table.Commit({Put("a", 3, "f1-0", "p")});
  table.Commit({Delete("a", 4, "f1-0", "p"), Put("a", 4, "f2-0", "q")});
  EXPECT_THAT(Errors(AuditOf(table)), IsEmpty());
}

TEST(AuditGroupsTest, WhatAClusteringLeftBehindIsLost) {
  RowTable table;
  table.Commit({Put("a", 1, "f1-0"), Put("b", 1, "f1-0"), Put("c", 1, "f1-0")});
  table.Commit({Delete("c", 2, "f1-0"), Put("b", 2, "f1-0")});
  table.Cluster("p", {"f1-0"}, "f2-0", {{Put("b", 1, ""), 1}, {Put("c", 1, ""), 1}});
  const Report report = AuditOf(table);
  EXPECT_THAT(Errors(report),
              ElementsAre("a lost_row p/f1-0", "b stale_row p/f2-0", "c resurrected_row p/f2-0"));
  for (const char* key : {"a", "b", "c"}) {
    SCOPED_TRACE(key);
    EXPECT_EQ(FindingOf(report, key).made_permanent_by, table.instant(3));
    EXPECT_TRUE(FindingOf(report, key).rests_on_history);
    EXPECT_THAT(FindingOf(report, key).explanation, HasSubstr(table.instant(3)));
  }
  Repairs repairs;
  AuditOf(table, {}, &repairs);
  EXPECT_THAT(repairs.lines, ElementsAre("U a p", "U b p", "D c p"));
}

TEST(AuditGroupsTest, AFaithfulClusteringIsNoFinding) {
  RowTable table;
  table.Commit({Put("a", 1, "f1-0"), Put("b", 1, "f1-0"), Put("c", 1, "f1-0")});
  table.Commit({Delete("c", 2, "f1-0"), Put("b", 2, "f1-0")});
  table.Cluster("p", {"f1-0"}, "f2-0", {{Put("a", 1, ""), 1}, {Put("b", 2, ""), 2}});
  table.Commit({Put("a", 3, "f2-0")});
  EXPECT_THAT(Errors(AuditOf(table)), IsEmpty());
}

TEST(AuditGroupsTest, RowsThatAnOverwriteReplacedAreGoneOnPurpose) {
  RowTable table;
  table.Commit({Put("a", 1, "f1-0"), Put("b", 9, "f1-0"), Put("c", 1, "f1-0", "q")});
  table.Cluster("p", {"f1-0"}, "f2-0", {{Put("a", 1, ""), 1}, {Put("b", 9, ""), 1}});
  table.Overwrite("p", {"f2-0"}, "f3-0", {Put("b", 2, "")});
  EXPECT_THAT(Errors(AuditOf(table)), IsEmpty());
  EXPECT_THAT(HistoryOf(table), ElementsAre("b", "c"));
}

TEST(AuditGroupsTest, LogsAreReadOnceWhereGroupsShareNoKeys) {
  RowTable table;
  table.Commit({Put("a", 1, "f1-0"), Put("b", 1, "f2-0")});
  table.Commit({Put("a", 2, "f1-0"), Delete("b", 2, "f2-0")});
  const support::WatchedStore watched(table.store());
  AuditOptions options;
  options.profiles = {"hudi-0.14", "hudi-1.1"};
  const auto audit = TableAudit::Open(watched, columnar::LoadColumnReader, options, Budget());
  ASSERT_THAT(audit, IsOk());
  EXPECT_THAT(audit->Run(audit->Plan(), nullptr), IsOk());
  auto reads = watched.reads;
  std::erase_if(reads, [](const std::string& key) { return key.find(".log.") == key.npos; });
  std::ranges::sort(reads);
  EXPECT_EQ(reads.size(), 4U);
  EXPECT_EQ(std::ranges::adjacent_find(reads), reads.end());
}

/// Ten keys in each of three groups, some of them in two; deleted, late, and clustered.
RowTable BigTable() {
  RowTable table;
  std::vector<support::RowEvent> events[3];
  for (int i = 0; i < 40; ++i) {
    const std::string key = "k" + std::to_string(i);
    const std::string home = "f" + std::to_string(i % 3) + "-0";
    events[0].push_back(Put(key, 5, home, i % 2 == 0 ? "p" : "q"));
    if (i % 4 == 1) events[1].push_back(Delete(key, 6, home, i % 2 == 0 ? "p" : "q"));
    if (i % 5 == 1) events[2].push_back(Put(key, i % 7, "g-0", i % 3 == 0 ? "p" : "q"));
  }
  for (const auto& each : events) table.Commit(each);
  table.Cluster("p", {"f0-0"}, "h-0", {{Put("k0", 5, ""), 1}});
  return table;
}

TEST(AuditGroupsTest, MemoryThreadsAndTasksComeToTheSame) {
  for (const bool is_global : {false, true}) {
    RowTable table = BigTable();
    AuditOptions options;
    options.keys_are_global = is_global;
    Repairs repairs;
    const Report whole = AuditOf(table, options, &repairs);
    EXPECT_GT(Errors(whole).size(), 5U);
    for (const uint64_t memory : {uint64_t{600}, uint64_t{9000}}) {
      options.memory_max = memory * 4;
      options.threads = 3;
      const Report small = AuditOf(table, options);
      ASSERT_TRUE(small.is_complete()) << memory << small.unjudged.at(0).reason;
      EXPECT_EQ(small.findings, whole.findings) << memory;
      EXPECT_EQ(small.summary.findings, whole.summary.findings);
      EXPECT_EQ(small.summary.keys, whole.summary.keys);
    }
    options = {};
    options.profiles = {"hudi-1.1"};
    options.keys_are_global = is_global;
    options.limit = 3;
    const auto audit =
        TableAudit::Open(table.store(), columnar::LoadColumnReader, options, Budget());
    ASSERT_THAT(audit, IsOk());
    std::vector<Report> parts;
    const auto plan = audit->Plan();
    for (size_t i = 0; i < plan.size(); ++i) {
      ASSERT_OK_ASSIGN(auto part, audit->Run({&plan[i], 1}, nullptr));
      part.task = i + 1;
      part.tasks = plan.size();
      parts.push_back(std::move(part));
    }
    ASSERT_OK_ASSIGN(const Report merged, MergeReports(std::move(parts), 3));
    EXPECT_EQ(merged.findings, std::vector(whole.findings.begin(), whole.findings.begin() + 3));
    EXPECT_EQ(merged.summary.findings, whole.summary.findings);
    EXPECT_EQ(merged.summary.keys, whole.summary.keys);
    EXPECT_TRUE(merged.is_complete());
  }
}

/// The Parquet file of a plan.
std::string PlanOf(RowTable& table, AuditOptions options, uint64_t held_bytes_max) {
  options.profiles = {"hudi-1.1"};
  options.for_repair = true;
  const auto audit = TableAudit::Open(table.store(), columnar::LoadColumnReader, options, Budget());
  EXPECT_THAT(audit, IsOk());
  std::string bytes;
  const auto plan = RepairPlan::Open(
      audit->row_type(),
      [&](std::string_view more) -> Status {
        bytes += more;
        return {};
      },
      held_bytes_max);
  EXPECT_THAT(plan, IsOk());
  EXPECT_THAT(audit->Run(audit->Plan(), plan->get()), IsOk());
  EXPECT_THAT((*plan)->Close(), IsOk());
  return bytes;
}

TEST(AuditGroupsTest, ThreadsDoNotChangeTheRepairPlan) {
  RowTable table = BigTable();
  AuditOptions options;
  const std::string plan = PlanOf(table, options, UINT64_MAX);
  EXPECT_THAT(plan, testing::StartsWith("PAR1"));
  options.threads = 4;
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(PlanOf(table, options, UINT64_MAX), plan);
    EXPECT_EQ(PlanOf(table, options, 0), plan);
  }
}

TEST(AuditGroupsTest, DebeziumsPlaceholderIsFoundWhereItIsShown) {
  RowTable table(
      "hoodie.compaction.payload.class=org.apache.hudi.common.model."
      "EventTimeAvroPayload\n");
  auto unsent = Put("a", 2, "f1-0");
  unsent.name = "__debezium_unavailable_value";
  auto longer = Put("b", 2, "f1-0");
  longer.name = "not __debezium_unavailable_value";
  table.Commit({Put("a", 1, "f1-0"), Put("b", 1, "f1-0")});
  table.Commit({unsent, longer});
  const Report report = AuditOf(table);
  ASSERT_EQ(report.summary.findings.at("unavailable_value"), 1U);
  const auto found = std::ranges::find(report.findings, "unavailable_value", &Finding::kind);
  EXPECT_EQ(found->record_key, "a");
  EXPECT_EQ(found->severity, merge::Severity::kWarning);
}

TEST(AuditGroupsTest, APlaceholderInABaseFileIsFound) {
  RowTable table;
  auto unsent = Put("a", 2, "f1-0");
  unsent.name = "__debezium_unavailable_value";
  table.Commit({Put("a", 1, "f1-0")});
  table.Cluster("p", {"f1-0"}, "f2-0", {{unsent, 1}, {Put("b", 1, ""), 1}});
  EXPECT_EQ(AuditOf(table).summary.findings.at("unavailable_value"), 1U);
}

TEST(AuditGroupsTest, APlaceholderThatAnOlderVersionFillsIsNoFinding) {
  RowTable table(
      "hoodie.compaction.payload.class=org.apache.hudi.common.model.debezium."
      "PostgresDebeziumAvroPayload\n");
  auto unsent = Put("a", 2, "f1-0");
  unsent.name = "__debezium_unavailable_value";
  auto alone = Put("b", 2, "f1-0");
  alone.name = "__debezium_unavailable_value";
  auto twice = alone;
  twice.ts = 3;
  table.Commit({Put("a", 1, "f1-0"), alone});
  table.Commit({unsent, twice});
  AuditOptions options;
  options.profiles = {"commit-time"};
  const Report report = AuditOf(table, options);
  std::vector<std::string> keys;
  for (const Finding& finding : report.findings) {
    if (finding.kind == "unavailable_value") keys.push_back(finding.record_key + finding.profile);
  }
  EXPECT_THAT(keys, UnorderedElementsAre("b", "acommit-time"));
}

}  // namespace
}  // namespace tidemark::audit
