// Audits of real tables. What a release's own reader returned for its files (sparkSnapshot,
// flinkSnapshot in fixture.json) differs from what event time asks for (expectedEventTime) key by
// key: lost, resurrected, stale. The audit of the table under that release's profile has to find
// exactly these differences. Where the writer never stored an event no audit can know; those keys
// are listed in unknowable_rows.h with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "audit/table_audit.h"
#include "columnar/batch_writer.h"
#include "columnar/loader.h"
#include "storage/local_store.h"
#include "support/result_matchers.h"
#include "support/stored_tables.h"
#include "support/unknowable_rows.h"

namespace tidemark::audit {
namespace {

using acceptance::FixtureText;
using acceptance::FolderOf;
using acceptance::ForEachTable;
using acceptance::kRightRowsElsewhere;
using acceptance::kUnknowable;
using acceptance::ProfileOf;
using acceptance::SplitNames;
using acceptance::TruthTables;
using acceptance::WithoutTimeStyle;
using nlohmann::json;
using support::IsOk;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;

/// A row as name -> text.
using Row = std::map<std::string, std::string>;
/// Key -> kind of finding.
using Differences = std::map<std::string, std::string>;

/// Spark and Flink print timestamps and decimals differently: without T, Z and trailing zeros they
/// are the same.
std::string TextOf(const json& value) {
  if (!value.is_string()) return value.dump();
  auto text = value.get<std::string>();
  const bool is_decimal =
      text.find_first_not_of("-0123456789.") == text.npos && std::ranges::count(text, '.') == 1;
  if (is_decimal) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return WithoutTimeStyle(std::move(text));
}

std::string KeyOf(const json& row, const std::vector<std::string>& fields) {
  for (const char* name : {"_hoodie_record_key", "key"}) {
    if (row.contains(name)) return TextOf(row[name]);
  }
  if (fields.size() == 1) return TextOf(row[fields[0]]);
  std::string key;
  for (const auto& field : fields) {
    key += (key.empty() ? "" : ",") + field + ":" + TextOf(row[field]);
  }
  return key;
}

std::vector<std::string> KeyFieldsOf(const std::string& table) {
  std::ifstream file(FolderOf(table) + "/table/.hoodie/hoodie.properties");
  for (std::string line; std::getline(file, line);) {
    const std::string name = "hoodie.table.recordkey.fields=";
    if (line.starts_with(name)) return SplitNames(line.substr(name.size()));
  }
  return {};
}

/// What a column holds that a row does not have.
const std::string kNull = "null";

using RowsByKey = std::multimap<std::string, Row>;

RowsByKey RowsOf(const json& rows, const std::vector<std::string>& key_fields) {
  RowsByKey by_key;
  for (const json& given : rows) {
    Row row;
    for (const auto& [name, value] : given.items()) {
      // One says the partition's value where the other says its path; several ordering fields are a
      // list in one.
      if (value.is_array() || name == "partition") continue;
      row[name] = value.is_null() ? kNull : TextOf(value);
    }
    by_key.emplace(KeyOf(given, key_fields), std::move(row));
  }
  return by_key;
}

bool HasAll(const Row& row, const Row& wanted) {
  for (const auto& [name, text] : wanted) {
    const auto found = row.find(name);
    if ((found == row.end() ? kNull : found->second) != text) return false;
  }
  return true;
}

/// What a reader's rows are against the right ones.
Differences DifferencesOf(const RowsByKey& shown, const RowsByKey& right) {
  Differences differences;
  for (const auto& [key, row] : right) {
    const auto [begin, end] = shown.equal_range(key);
    if (begin == end) differences[key] = "lost_row";
    if (shown.count(key) > 1) {
      differences[key] = "duplicate_key";
      continue;
    }
    for (auto at = begin; at != end; ++at) {
      if (!HasAll(at->second, row)) differences[key] = "stale_row";
    }
  }
  for (const auto& [key, row] : shown) {
    if (!right.contains(key)) differences[key] = "resurrected_row";
  }
  return differences;
}

Report AuditOf(const std::string& table, AuditOptions options, RepairSink* repair = nullptr) {
  options.for_repair = repair != nullptr;
  const storage::LocalStore store(FolderOf(table) + "/table");
  const auto audit = TableAudit::Open(store, columnar::LoadColumnReader, options, Budget());
  EXPECT_THAT(audit, IsOk());
  if (!audit) return {};
  auto report = audit->Run(audit->Plan(), repair);
  EXPECT_THAT(report, IsOk());
  return report ? *std::move(report) : Report();
}

/// A changelog record shown as a row is one that should not be there.
Differences DifferencesIn(const Report& report) {
  Differences differences;
  std::set<std::string> duplicates;
  for (const Finding& finding : report.findings) {
    const bool is_leaked = finding.kind == "leaked_operation";
    const bool is_duplicate =
        finding.kind == "duplicate_key" && finding.severity == merge::Severity::kError;
    if (is_duplicate) duplicates.insert(finding.record_key);
    if (is_leaked || finding.kind == "lost_row" || finding.kind == "resurrected_row" ||
        finding.kind == "stale_row") {
      differences[finding.record_key] = is_leaked ? "resurrected_row" : finding.kind;
    }
  }
  for (const auto& key : duplicates) differences[key] = "duplicate_key";
  return differences;
}

std::string ToText(const Differences& differences) {
  std::string text;
  for (const auto& [key, kind] : differences) text += key + " " + kind + "; ";
  return text;
}

/// A block of theirs is cut.
const std::set<std::string> kDamaged = {"truncated_log_midfile"};

std::string OrderingFieldOf(const std::string& table) {
  std::ifstream file(FolderOf(table) + "/table/.hoodie/hoodie.properties");
  for (std::string line; std::getline(file, line);) {
    for (const std::string name :
         {"hoodie.table.precombine.field=", "hoodie.table.ordering.fields="}) {
      if (line.starts_with(name)) return line.substr(name.size());
    }
  }
  return "";
}

std::string RightRowsOf(const std::string& table) {
  const auto elsewhere = kRightRowsElsewhere.find(table);
  return elsewhere == kRightRowsElsewhere.end() ? "expectedEventTime" : elsewhere->second;
}

TEST(HudiAuditTest, FindsExactlyWhatTheReaderGotWrong) {
  ForEachTable(TruthTables(), [](const std::string& table) {
    const json fixture = json::parse(FixtureText(table));
    const auto key_fields = KeyFieldsOf(table);
    const RowsByKey right = RowsOf(fixture[RightRowsOf(table)], key_fields);
    for (const auto& [reader, engine] : {std::pair("sparkSnapshot", merge::Engine::kSpark),
                                         std::pair("flinkSnapshot", merge::Engine::kFlink)}) {
      if (!fixture.contains(reader)) continue;
      SCOPED_TRACE(reader);
      AuditOptions options;
      options.profiles = {ProfileOf(table)};
      options.engine = engine;
      const Report report = AuditOf(table, options);
      EXPECT_EQ(report.is_complete(), !kDamaged.contains(table));
      if (fixture[reader].is_null()) {
        if (fixture.contains("sparkSnapshotError")) {
          EXPECT_THAT(report.summary.findings, Contains(Key("reader_fails")));
        }
        continue;
      }
      const RowsByKey shown = RowsOf(fixture[reader], key_fields);
      Differences expected = DifferencesOf(shown, right);
      Differences found = DifferencesIn(report);
      if (const auto known = kUnknowable.find(table); known != kUnknowable.end()) {
        for (const auto& key : known->second.keys) {
          expected.erase(key);
          found.erase(key);
        }
      }
      EXPECT_EQ(found, expected) << "found:    " << ToText(found)
                                 << "\nexpected: " << ToText(expected);
    }
  });
}

/// Keeps what would make each key right.
class Repairs final : public RepairSink {
 public:
  Status Take(size_t, Repair repair, std::string_view key, std::string_view,
              const columnar::Batch& row) override {
    std::optional<Row> written;
    if (repair == Repair::kWrite) {
      written.emplace();
      const json object = json::parse(columnar::RowJson(row, 0));
      for (const auto& [name, value] : object.items()) {
        if (!value.is_null()) (*written)[name] = TextOf(value);
      }
    }
    EXPECT_TRUE(by_key.emplace(key, written).second) << key;
    return {};
  }
  Status Finish(size_t) override { return {}; }

  std::map<std::string, std::optional<Row>, std::less<>> by_key;  // nullopt: to be deleted
};

TEST(HudiAuditTest, TheRepairPlanTurnsTheReadersRowsIntoTheRightOnes) {
  ForEachTable(TruthTables(), [](const std::string& table) {
    const json fixture = json::parse(FixtureText(table));
    const auto key_fields = KeyFieldsOf(table);
    const std::string ordering_field = OrderingFieldOf(table);
    const RowsByKey right = RowsOf(fixture[RightRowsOf(table)], key_fields);
    for (const auto& [reader, engine] : {std::pair("sparkSnapshot", merge::Engine::kSpark),
                                         std::pair("flinkSnapshot", merge::Engine::kFlink)}) {
      if (!fixture.contains(reader) || fixture[reader].is_null()) continue;
      SCOPED_TRACE(reader);
      AuditOptions options;
      options.profiles = {ProfileOf(table)};
      options.engine = engine;
      Repairs repairs;
      AuditOf(table, options, &repairs);
      RowsByKey rows = RowsOf(fixture[reader], key_fields);
      Differences differences = DifferencesOf(rows, right);
      for (const auto& [key, row] : repairs.by_key) {
        rows.erase(key);
        if (!row) continue;
        // Some fixtures call columns by their part in the table, not by name.
        Row told = *row;
        told.emplace("key", key);
        if (const auto value = row->find(ordering_field); value != row->end()) {
          told.emplace("ordering", value->second);
        }
        rows.emplace(key, std::move(told));
      }
      const auto known = kUnknowable.find(table);
      for (const auto& key :
           known == kUnknowable.end() ? std::set<std::string>() : known->second.keys) {
        differences.erase(key);
        repairs.by_key.erase(key);
        rows.erase(key);
        if (const auto wanted = right.find(key); wanted != right.end()) rows.insert(*wanted);
      }
      const Differences left = DifferencesOf(rows, right);
      EXPECT_THAT(left, IsEmpty()) << ToText(left);
      std::set<std::string> wrong;
      for (const auto& [key, kind] : differences) wrong.insert(key);
      std::set<std::string> repaired;
      for (const auto& [key, row] : repairs.by_key) repaired.insert(key);
      EXPECT_EQ(repaired, wrong);
    }
  });
}

TEST(HudiAuditTest, EveryDifferenceHasItsEvidenceInAFile) {
  ForEachTable(TruthTables(), [](const std::string& table) {
    const Report report = AuditOf(table, {});
    for (const Finding& finding : report.findings) {
      if (finding.severity != merge::Severity::kError || finding.record_key.empty()) continue;
      SCOPED_TRACE(finding.record_key + " " + finding.kind);
      EXPECT_THAT(finding.evidence, Not(IsEmpty()));
      EXPECT_THAT(finding.explanation, Not(IsEmpty()));
      for (const Evidence& evidence : finding.evidence) {
        if (evidence.file.empty()) continue;  // the delete of a rewriting commit is in none
        EXPECT_TRUE(std::filesystem::exists(FolderOf(table) + "/table/" + evidence.file));
      }
    }
  });
}

void ExpectSame(const Report& a, const Report& b) {
  EXPECT_EQ(a.findings, b.findings);
  EXPECT_EQ(a.unjudged, b.unjudged);
  EXPECT_EQ(a.summary.findings, b.summary.findings);
  EXPECT_EQ(a.summary.by_severity, b.summary.by_severity);
  EXPECT_EQ(a.summary.keys, b.summary.keys);
  EXPECT_EQ(a.summary.versions, b.summary.versions);
  EXPECT_EQ(a.summary.file_groups, b.summary.file_groups);
  EXPECT_EQ(a.summary.file_slices, b.summary.file_slices);
}

TEST(HudiAuditTest, PartsOfTheWorkComeToTheSame) {
  ForEachTable(TruthTables(), [](const std::string& table) {
    const Report whole = AuditOf(table, {});
    const storage::LocalStore store(FolderOf(table) + "/table");
    AuditOptions options;
    options.as_of = whole.as_of.empty() ? std::nullopt : std::optional(whole.as_of);
    const auto audit = TableAudit::Open(store, columnar::LoadColumnReader, options, Budget());
    ASSERT_THAT(audit, IsOk());
    std::vector<Report> parts;
    const auto plan = audit->Plan();
    for (size_t i = 0; i < plan.size(); ++i) {
      auto report = audit->Run({&plan[i], 1}, nullptr);
      ASSERT_THAT(report, IsOk());
      report->task = i + 1;
      report->tasks = plan.size();
      parts.insert(parts.begin(), *std::move(report));
    }
    auto first_missing = parts;
    ASSERT_OK_ASSIGN(const Report merged, MergeReports(std::move(parts), 0));
    ExpectSame(merged, whole);
    if (first_missing.size() == 1) return;
    first_missing.pop_back();
    ASSERT_OK_ASSIGN(const Report partial, MergeReports(std::move(first_missing), 0));
    EXPECT_FALSE(partial.is_complete());
  });
}

TEST(HudiAuditTest, NeitherMemoryNorThreadsNorTheLimitChangeTheCounts) {
  ForEachTable(TruthTables(), [](const std::string& table) {
    const Report whole = AuditOf(table, {});
    AuditOptions options;
    options.memory_max = 60'000;  // a thread's part is less than most of these tables' logs
    options.threads = 3;
    ExpectSame(AuditOf(table, options), whole);
    options.limit = 1;
    const Report cut = AuditOf(table, options);
    EXPECT_EQ(cut.summary.findings, whole.summary.findings);
    EXPECT_LE(cut.findings.size(), 1U);
    if (!whole.findings.empty()) {
      EXPECT_EQ(cut.findings.at(0), whole.findings.at(0));
    }
  });
}

}  // namespace
}  // namespace tidemark::audit
