// Real tables read for their rows: what each release's own reader returned for the files it wrote
// (sparkSnapshot, flinkSnapshot and their read-optimized views in fixture.json), and what event
// time asks for (expectedEventTime). Rows are compared value by value, in no order. What no reader
// can know because the writer never stored it is listed below, one by one; nothing else is
// excepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "columnar/batch_writer.h"
#include "columnar/loader.h"
#include "scan/table_scan.h"
#include "storage/local_store.h"
#include "support/result_matchers.h"
#include "support/stored_tables.h"
#include "support/unknowable_rows.h"

namespace tidemark::scan {
namespace {

using acceptance::FixtureText;
using acceptance::FolderOf;
using acceptance::ForEachTable;
using acceptance::kRightRowsElsewhere;
using acceptance::kUnknowable;
using acceptance::ProfileOf;
using acceptance::ReaderTables;
using acceptance::SplitNames;
using acceptance::WithoutTimeStyle;
using nlohmann::json;
using support::IsOk;

/// Where fixtures have the key.
const std::vector<std::string> kKeyColumns = {"_hoodie_record_key", "k", "id"};

/// A row as name -> text; null values are left out.
using Row = std::map<std::string, std::string>;

/// Nested and binary values of one table as Python printed them, and as JSON has them.
const std::map<std::string, std::string> kPythonTexts = {
    {R"(bytearray(b'\x00\xff'))", "AP8="},
    {"['a', 'b']", R"(["a","b"])"},
    {"{'k': 1}", R"({"k":1})"},
    {"Row(x=1, y='y')", R"({"x":1,"y":"y"})"},
};

/// One form for what the generators and we print: a timestamp without T, Z and trailing zeros.
std::string TextOf(std::string text) {
  const auto known = kPythonTexts.find(text);
  if (known != kPythonTexts.end()) return known->second;
  if (text == "True" || text == "False") text[0] = static_cast<char>(text[0] + ('a' - 'A'));
  return WithoutTimeStyle(std::move(text));
}

std::string TextOf(const json& value) {
  if (value.is_string()) return TextOf(value.get<std::string>());
  return value.dump();
}

/// What the generators of the 0.x tables call the columns they did not name themselves.
std::string ColumnOf(const std::string& name, const json& fixture, bool is_old_spark) {
  if (!is_old_spark) return name;
  if (name == "key") return "_hoodie_record_key";
  if (name == "partition") return "_hoodie_partition_path";
  if (name == "ordering") return fixture["ordering"]["column"];
  return name;
}

/// Events carry decimals as they were typed; the columns have six places.
void PadToScale(std::string& text) {
  const size_t dot = text.find('.');
  if (dot == text.npos) text += '.';
  text.resize(text.find('.') + 7, '0');
}

/// Rows of fixture.json under the table's own column names.
std::vector<Row> ExpectedRows(const json& fixture, const json& given_rows) {
  const bool is_old_spark = fixture["writer"]["hudi"].get<std::string>().starts_with("0.") &&
                            !fixture.contains("flinkSnapshot");
  std::string type = fixture["ordering"]["type"];
  std::ranges::transform(type, type.begin(), [](char c) { return std::tolower(c); });
  const bool is_decimal = type.starts_with("decimal");
  std::vector<Row> rows;
  for (const json& given : given_rows) {
    Row& row = rows.emplace_back();
    for (const auto& [given_name, value] : given.items()) {
      const std::string name = ColumnOf(given_name, fixture, is_old_spark);
      // Flink's kind is no column, and this one is none of the five that we are asked to add.
      if (name == "rowKind" || name == "_hoodie_operation") continue;
      if (value.is_null()) {
        row[name] = "";  // as ours is when it is not there
        continue;
      }
      if (name == "ord" && value.is_array()) {
        const auto names = SplitNames(fixture["ordering"]["column"]);
        for (size_t i = 0; i < names.size(); ++i) row[names[i]] = TextOf(value[i]);
      } else {
        row[name] = TextOf(value);
        if (name == fixture["ordering"]["column"] && is_decimal) PadToScale(row[name]);
      }
    }
  }
  return rows;
}

struct Reading {
  std::vector<Row> rows;
  std::multiset<std::string> findings;  // kinds
};

Reading ReadRows(const std::string& table, ScanOptions options) {
  Reading reading;
  options.with_meta = true;
  storage::LocalStore store(FolderOf(table) + "/table");
  const auto scan = TableScan::Open(
      store, columnar::LoadColumnReader, std::move(options),
      [&](const lake::Finding& finding) { reading.findings.insert(finding.kind); }, Budget());
  EXPECT_THAT(scan, IsOk());
  if (!scan) return reading;
  const auto counts = scan->Run([&](const columnar::Batch& batch) -> Status {
    for (size_t i = 0; i < batch.rows(); ++i) {
      Row& row = reading.rows.emplace_back();
      const json values = json::parse(columnar::RowJson(batch, i));
      for (const auto& [name, value] : values.items()) {
        if (!value.is_null()) row[name] = TextOf(value);
      }
    }
    return {};
  });
  EXPECT_THAT(counts, IsOk());
  return reading;
}

std::string ToText(const Row& row) {
  std::string text;
  for (const auto& [name, value] : row) text += name + "=" + value + " ";
  return text;
}

/// Each expected row must be one of ours, in the columns it names, and none of ours be left.
void ExpectRows(const std::vector<Row>& expected, std::vector<Row> ours) {
  for (const Row& row : expected) {
    const auto same = std::ranges::find_if(ours, [&](const Row& our) {
      return std::ranges::all_of(row, [&](const auto& cell) {
        // What the generators sent as the partition is a column, the path, or both.
        const bool is_partition = cell.first == "_hoodie_partition_path";
        const auto holds = [&](const std::string& name) {
          const auto found = our.find(name);
          return found == our.end() ? cell.second.empty() : found->second == cell.second;
        };
        return holds(cell.first) || (is_partition && holds("part"));
      });
    });
    if (same == ours.end()) {
      ADD_FAILURE() << "not read: " << ToText(row);
    } else {
      ours.erase(same);
    }
  }
  for (const Row& row : ours) ADD_FAILURE() << "read and not expected: " << ToText(row);
}

TEST(HudiRowsTest, TheReleasesProfileShowsWhatItsReaderShowed) {
  ForEachTable(ReaderTables(), [](const std::string& table) {
    const json fixture = json::parse(FixtureText(table));
    ScanOptions options;
    options.profile = ProfileOf(table);
    for (const auto& [key, engine] : {std::pair("sparkSnapshot", merge::Engine::kSpark),
                                      std::pair("flinkSnapshot", merge::Engine::kFlink)}) {
      if (!fixture.contains(key)) continue;
      SCOPED_TRACE(key);
      options.engine = engine;
      if (fixture[key].is_null() && !fixture.contains("sparkSnapshotError")) continue;
      const Reading reading = ReadRows(table, options);
      if (fixture[key].is_null()) {
        EXPECT_TRUE(reading.findings.contains("reader_fails")) << fixture["sparkSnapshotError"];
      } else {
        ExpectRows(ExpectedRows(fixture, fixture[key]), reading.rows);
      }
    }
  });
}

TEST(HudiRowsTest, TheReadOptimizedViewIsTheBaseFiles) {
  ForEachTable(ReaderTables(), [](const std::string& table) {
    const json fixture = json::parse(FixtureText(table));
    ScanOptions options;
    options.view = SliceView::kReadOptimized;
    options.profile = ProfileOf(table);
    for (const char* key : {"sparkReadOptimized", "flinkReadOptimized"}) {
      if (!fixture.contains(key) || fixture[key].is_null()) continue;
      SCOPED_TRACE(key);
      ExpectRows(ExpectedRows(fixture, fixture[key]), ReadRows(table, options).rows);
    }
  });
}

/// What each key's events say about its partition, which writers left out of the files. A column is
/// a string in the table whatever it was.
std::map<std::string, Row> PartitionsSent(const json& fixture) {
  std::map<std::string, Row> sent;
  const json& columns = fixture["partitionColumns"];
  for (const json& commit : fixture["events"]) {
    for (const json& event : commit) {
      Row& row = sent[event[0]];
      const size_t first = event.size() - columns.size();
      for (size_t i = 0; i < columns.size(); ++i) {
        const json& value = event[first + i];
        row[columns[i]] = value.is_string() ? value.get<std::string>() : value.dump();
      }
    }
  }
  return sent;
}

TEST(HudiRowsTest, ColumnsThatTheFilesLackComeFromTheFolders) {
  size_t tables = 0;
  ForEachTable(ReaderTables(), [&](const std::string& table) {
    const json fixture = json::parse(FixtureText(table));
    // A timestamp key generator's column has the folder's text, not what was sent.
    if (!fixture.contains("partitionColumns") || table == "drop_timekeys_0140") return;
    ++tables;
    const auto sent = PartitionsSent(fixture);
    for (const std::string profile : {"event-time", "commit-time", "hudi-1.1"}) {
      ScanOptions options;
      options.profile = profile;
      const Reading reading = ReadRows(table, options);
      EXPECT_FALSE(reading.rows.empty());
      for (Row row : reading.rows) {
        const Row& expected = sent.at(row["k"]);
        for (const auto& [column, value] : expected) {
          EXPECT_EQ(row[column], TextOf(value)) << row["k"];
        }
      }
    }
  });
  EXPECT_GE(tables, 5U);
}

TEST(HudiRowsTest, ATableThatWasOnlyRewrittenSinceItsArchivalHasTheSchemaOfTheRewriting) {
  // The upgrade to version 9 archived all before that compaction. Its base files are what the
  // read-optimized view showed before the upgrade.
  const json before = json::parse(FixtureText("a14_upgraded_6_8"));
  ScanOptions options;
  options.profile = "hudi-1.1";
  options.as_of = "20261130024642007";
  const Reading reading = ReadRows("a14_upgraded_6_8_9", options);
  ExpectRows(ExpectedRows(before, before["sparkReadOptimized"]), reading.rows);
}

TEST(HudiRowsTest, RowsDoNotDependOnTheMemoryGiven) {
  ForEachTable(ReaderTables(), [](const std::string& table) {
    for (const bool with_history : {false, true}) {
      ScanOptions options;
      options.with_history = with_history;
      const Reading at_once = ReadRows(table, options);
      options.memory_max = 20'000;  // the logs of most of these tables are larger
      const Reading in_passes = ReadRows(table, options);
      EXPECT_THAT(in_passes.rows, testing::UnorderedElementsAreArray(at_once.rows));
      EXPECT_EQ(in_passes.findings, at_once.findings);
    }
  });
}

TEST(HudiRowsTest, EventTimeWithHistoryGivesTheRightRows) {
  ForEachTable(ReaderTables(), [](const std::string& table) {
    const json fixture = json::parse(FixtureText(table));
    const auto elsewhere = kRightRowsElsewhere.find(table);
    const std::string key =
        elsewhere == kRightRowsElsewhere.end() ? "expectedEventTime" : elsewhere->second;
    if (!fixture.contains(key) || fixture[key].is_null()) return;
    ScanOptions options;
    options.with_history = true;
    auto expected = ExpectedRows(fixture, fixture[key]);
    auto ours = ReadRows(table, options).rows;
    // The filler row that made the base files is in no list of this one.
    if (table == "b_nullord_loglog_v9") expected.push_back({{"k", "z"}, {"val", "filler"}});
    if (const auto found = kUnknowable.find(table); found != kUnknowable.end()) {
      const auto& keys = found->second.keys;
      const auto is_unknowable = [&](const Row& row) {
        return std::ranges::any_of(kKeyColumns, [&](const std::string& column) {
          const auto cell = row.find(column);
          return cell != row.end() && keys.contains(cell->second);
        });
      };
      std::erase_if(expected, is_unknowable);
      std::erase_if(ours, is_unknowable);
    }
    ExpectRows(expected, ours);
  });
}

}  // namespace
}  // namespace tidemark::scan
