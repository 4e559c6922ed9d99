// Schemas of tables that real releases wrote, commit by commit, against what their generators say a
// subscriber must learn and what the release's own reader then returned (fixture.json).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "change/schema.h"
#include "change/schema_diff.h"
#include "lake/hudi/commit_stats.h"
#include "lake/hudi/properties.h"
#include "lake/hudi/timeline.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::change {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

/// The table as far as its commits were read, as a publisher of changes would read them.
class Story {
 public:
  explicit Story(const std::string& folder) : folder_("hudi/" + folder) {
    fixture_ = json::parse(support::ReadTestdata(folder_ + "/fixture.json"));
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TIDEMARK_TESTDATA) /
                                                              folder_ / "table" / ".hoodie")) {
      const std::string name = entry.path().filename();
      if (!entry.path().string().contains("/metadata/") && !name.contains("schemacommit") &&
          lake::hudi::ParseInstantFileName(name))
        files_[name] = fs::relative(entry.path(), TIDEMARK_TESTDATA);
    }
  }

  const json& fixture() const { return fixture_; }
  const std::map<std::string, std::string>& files() const { return files_; }

  /// Reads a file if it is that of a completed commit and still there: some were rolled back later.
  void Read(const std::string& name) {
    const auto parsed = lake::hudi::ParseInstantFileName(name);
    const auto file = files_.find(name);
    if (file == files_.end() || !parsed || parsed->state != lake::hudi::State::kCompleted ||
        !IsCommitAction(parsed->action))
      return;
    ASSERT_OK_ASSIGN(const auto stats,
                     lake::hudi::ParseCommitStats(support::ReadTestdata(file->second)));
    ASSERT_OK_ASSIGN(const auto schema, SchemaOf(stats.metadata.extra));
    sources_.push_back(
        {parsed->requested, parsed->action_name, stats.metadata.operation, schema.has_value()});
    schemas_.push_back(schema.value_or(Schema()));
  }

  /// What readers see now, and what changed since the last call.
  const Schema& seen() const { return seen_; }
  std::vector<std::string> Learn() {
    const auto place = EffectiveSchema(sources_);
    if (!place) return {};
    const Schema& now = schemas_[*place];
    // The known one stays while nothing changed: a commit without ids takes none away.
    if (now.fingerprint == seen_.fingerprint) return {};
    std::vector<std::string> lines;
    for (const auto& diff : DiffSchemas(seen_, now)) {
      lines.push_back(
          fmt::format("{} {} {}->{}", SchemaOpName(diff.op), diff.path, diff.from, diff.to));
    }
    seen_ = now;
    return lines;
  }

 private:
  std::string folder_;
  json fixture_;
  std::map<std::string, std::string> files_;  // name to path in testdata
  std::vector<SchemaSource> sources_;
  std::vector<Schema> schemas_;
  Schema seen_;
};

std::vector<std::vector<std::string>> NamesAndTypes(const Schema& schema) {
  std::vector<std::vector<std::string>> columns;
  for (const Column& column : schema.columns) columns.push_back({column.name, column.type});
  return columns;
}

/// Spark's word for a type as ours.
std::string TypeOf(const std::string& spark) {
  return spark == "long" ? "bigint" : spark;
}

/// A change as a fixture tells it: "added column extra string", "+ extra string", "n int -> long".
std::vector<std::string> Told(const std::string& text) {
  std::smatch match;
  if (std::regex_search(text, match, std::regex(R"((?:added column|\+) (\w+) (\w+))")))
    return {fmt::format("ADD {} ->{}", match.str(1), TypeOf(match.str(2)))};
  if (std::regex_search(text, match, std::regex(R"((\w+) (\w+) -> (\w+))")))
    return {
        fmt::format("TYPE {} {}->{}", match.str(1), TypeOf(match.str(2)), TypeOf(match.str(3)))};
  return {};
}

/// Each step of Spark with 1.x, with the columns that its reader had after it.
TEST(SchemaStoryTest, StepsOfRelease1TeachWhatTheyShould) {
  for (const std::string table : {"c_story_cow_v8", "c_story_cow_v9", "c_story_mor_v9"}) {
    Story story("tables/" + table);
    size_t changes = 0;
    bool has_commits = false;
    for (const json& step : story.fixture()["steps"]) {
      for (const json& instant : step["newInstants"]) story.Read(instant["file"]);
      const auto learned = story.Learn();
      const auto expected = step["schemaAfter"].get<std::vector<std::vector<std::string>>>();
      const std::string told = step["subscriberLearns"];
      if (step["newInstants"].empty()) continue;
      EXPECT_EQ(NamesAndTypes(story.seen()), expected) << table << " " << step["step"];
      if (!has_commits) {
        has_commits = true;  // the first commit has all columns
        EXPECT_EQ(learned.size(), expected.size());
      } else {
        EXPECT_THAT(learned, ElementsAreArray(Told(told))) << table << " " << step["step"];
      }
      if (!Told(told).empty()) ++changes;
    }
    EXPECT_EQ(changes, 2U) << table;
  }
}

/// Before the first commit the table's properties say what its columns are.
TEST(SchemaStoryTest, ATableWithoutCommitsHasTheSchemaItWasCreatedWith) {
  for (const std::string table : {"c_story_cow_v8", "c_story_cow_v9", "c_story_mor_v9"}) {
    ASSERT_OK_ASSIGN(const auto properties,
                     lake::hudi::ParseTableProperties(support::ReadTestdata(
                         "hudi/tables/" + table + "/table/.hoodie/hoodie.properties")));
    const auto created = properties.Find("hoodie.table.create.schema");
    ASSERT_TRUE(created);
    ASSERT_OK_ASSIGN(const Schema schema, ParseAvroColumns(*created));
    const Story story("tables/" + table);
    EXPECT_EQ(
        NamesAndTypes(schema),
        story.fixture()["steps"][0]["schemaAfter"].get<std::vector<std::vector<std::string>>>());
  }
}

/// Spark with 0.14; a write with an old, narrower schema was refused, so that it left no commit.
TEST(SchemaStoryTest, StepsOfRelease014TeachWhatTheyShould) {
  for (const std::string table :
       {"timeline_story_cow", "timeline_story_mor", "timeline_evolution_datasource"}) {
    Story story("tables/" + table);
    size_t changes = 0;
    bool has_commits = false;
    for (const json& step : story.fixture()["steps"]) {
      for (const json& file : step["newTimelineFiles"]) story.Read(file);
      const auto learned = story.Learn();
      if (step["newTimelineFiles"].empty()) {
        EXPECT_THAT(learned, IsEmpty());
        continue;
      }
      const json& told = step["learn"]["schemaChange"];
      auto expected = told.is_null() ? std::vector<std::string>() : Told(told);
      changes += expected.size();
      // The generator leaves out that Spark put the partition column last when the commit before
      // had lost the ids: fields of the commit's own "schema".
      if (step["what"] == "insert p5") expected = {"REORDER extra 5->4"};
      if (has_commits) {
        EXPECT_THAT(learned, ElementsAreArray(expected)) << table << step["step"];
      }
      has_commits = true;
    }
    EXPECT_EQ(changes, 2U) << table;
  }
}

/// Every ALTER that the release did not refuse, in the words of SQL (`steps`).
TEST(SchemaStoryTest, RenamesAreToldByIds) {
  size_t tables = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(TIDEMARK_TESTDATA) / "hudi/rows")) {
    const std::string table = entry.path().filename();
    if (!table.starts_with("rename_")) continue;
    Story story("rows/" + table);
    std::vector<std::string> expected;
    for (const json& step : story.fixture()["steps"]) {
      if (!step.is_string()) continue;
      const auto sql = step.get<std::string>();
      std::smatch match;
      if (std::regex_search(sql, match, std::regex(R"(rename column (\S*?)(\w+) to (\w+))"))) {
        const std::string to = match.str(1) + match.str(3);
        expected.push_back(fmt::format("RENAME {} {}->{}", to, match.str(1) + match.str(2), to));
      } else if (std::regex_search(sql, match, std::regex(R"(add columns \((\w+) (\w+)\))"))) {
        expected.push_back(fmt::format("ADD {} ->{}", match.str(1), match.str(2)));
      }
    }
    std::vector<std::string> learned;
    bool has_commits = false;
    for (const auto& [name, path] : story.files()) {
      story.Read(name);
      const auto now = story.Learn();
      if (has_commits) std::ranges::copy(now, std::back_inserter(learned));
      has_commits = has_commits || !story.seen().columns.empty();
    }
    EXPECT_EQ(learned, expected) << table;
    ++tables;
  }
  EXPECT_GE(tables, 9U);
}

TEST(SchemaStoryTest, ColumnsThatGrewWithoutIdsAreTold) {
  Story story("rows/b_evolve_v9");
  std::vector<std::vector<std::string>> learned;
  for (const auto& [name, path] : story.files()) {
    story.Read(name);
    if (auto now = story.Learn(); !now.empty()) learned.push_back(std::move(now));
  }
  ASSERT_EQ(learned.size(), 4U);
  EXPECT_THAT(learned[1], ElementsAre("ADD added ->string"));
  EXPECT_THAT(learned[2], ElementsAre("TYPE x int->bigint"));
  EXPECT_THAT(learned[3], ElementsAre("TYPE x bigint->double"));
}

/// No release wrote a commit whose two forms differ.
TEST(SchemaStoryTest, EverySchemaOfEveryTableIsRead) {
  size_t schemas = 0;
  for (const auto* folder : {"hudi/tables", "hudi/rows"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(TIDEMARK_TESTDATA) / folder)) {
      const std::string path = entry.path().string();
      if (!entry.is_regular_file() || !path.ends_with("commit") || path.contains("schemacommit"))
        continue;
      ASSERT_OK_ASSIGN(const auto stats, lake::hudi::ParseCommitStats(support::ReadTestdata(
                                             fs::relative(entry.path(), TIDEMARK_TESTDATA))));
      ASSERT_OK_ASSIGN(const auto schema, SchemaOf(stats.metadata.extra));
      if (!schema) continue;
      ++schemas;
      // Both forms of one commit are the same columns.
      auto plain = stats.metadata.extra;
      plain.erase("latest_schema");
      ASSERT_OK_ASSIGN(const auto avro, SchemaOf(plain));
      if (avro) {
        EXPECT_EQ(avro->fingerprint, schema->fingerprint) << path;
      }
    }
  }
  EXPECT_GT(schemas, 300U);
}

}  // namespace
}  // namespace tidemark::change
