// The archived timelines of real tables against what other programs read in them
// (testdata/hudi/archives/README.md).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "columnar/loader.h"
#include "lake/hudi/archive.h"
#include "lake/hudi/table.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

// In the form of testdata/hudi/archives.
std::string Line(const ArchivedInstant& archived) {
  const auto& instant = archived.instant;
  std::string line =
      fmt::format("{} {} {} {} {} {}", instant.requested, instant.action_name,
                  StateName(instant.state), instant.completed.value_or("-"),
                  instant.planned_as ? ActionName(*instant.planned_as) : std::string_view("-"),
                  instant.operation.value_or("-"));
  for (const auto& [key, value] : archived.metadata.extra)
    line += fmt::format(" {}={}", key, value);
  return line;
}

std::vector<std::string> ExpectedLines(const std::string& table) {
  std::istringstream text(support::ReadTestdata("hudi/archives/" + table + ".txt"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> Tables() {
  std::vector<std::string> tables;
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(TIDEMARK_TESTDATA) + "/hudi/archives")) {
    if (file.path().extension() == ".txt") tables.push_back(file.path().stem());
  }
  std::ranges::sort(tables);
  return tables;
}

class HudiArchiveTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto path = fmt::format("{}/hudi/tables/{}/table", TIDEMARK_TESTDATA, GetParam());
    ASSERT_OK_ASSIGN(store_, storage::OpenStore(path, {}));
    ASSERT_OK_ASSIGN(const auto table, Table::Open(*store_, columnar::LoadColumnReader, {}));
    properties_ = table.properties();
    expected_ = ExpectedLines(GetParam());
    ASSERT_FALSE(expected_.empty());
  }

  std::unique_ptr<storage::ObjectStore> store_;
  TableProperties properties_;
  std::vector<std::string> expected_;
};

TEST_P(HudiArchiveTest, InstantsAreThoseThatOtherProgramsRead) {
  ASSERT_OK_ASSIGN(const auto archive,
                   ReadArchive(*store_, properties_, columnar::LoadColumnReader, {}, {}));
  std::vector<std::string> lines;
  for (const auto& archived : archive.instants) lines.push_back(Line(archived));
  EXPECT_EQ(lines, expected_);
  EXPECT_TRUE(archive.is_whole);
  EXPECT_TRUE(archive.findings.empty()) << archive.findings[0].message;
}

TEST_P(HudiArchiveTest, WalkGivesTheSameFromTheNewestOn) {
  ASSERT_OK_ASSIGN(auto walk,
                   ArchiveWalk::Open(*store_, properties_, columnar::LoadColumnReader, {}, {}));
  std::vector<std::string> lines;
  while (true) {
    ASSERT_OK_ASSIGN(const auto next, walk.Next({}));
    if (!next) break;
    lines.push_back(Line(*next));
  }
  std::ranges::reverse(lines);
  EXPECT_EQ(lines, expected_);
  EXPECT_EQ(walk.files_read(), walk.file_count());
}

/// What a commit or a clean did is not lost with its file.
TEST_P(HudiArchiveTest, CompletedInstantsKeepTheirFacts) {
  ASSERT_OK_ASSIGN(const auto archive, ReadArchive(*store_, properties_, columnar::LoadColumnReader,
                                                   {.with_cleans = true, .with_facts = true}, {}));
  ASSERT_EQ(archive.instants.size(), expected_.size());
  for (const auto& archived : archive.instants) {
    const auto& instant = archived.instant;
    EXPECT_EQ(archived.defect, "");
    if (instant.state != State::kCompleted) {
      EXPECT_TRUE(std::holds_alternative<std::monostate>(archived.facts)) << instant.requested;
    } else if (IsCommitAction(instant.action)) {
      auto stats = std::get<CommitStats>(archived.facts);
      for (const char* schema : {"schema", "latest_schema"}) stats.metadata.extra.erase(schema);
      EXPECT_EQ(stats.metadata, archived.metadata) << instant.requested;
      EXPECT_TRUE(stats.is_told) << instant.requested;
    } else if (instant.action == Action::kClean) {
      EXPECT_EQ(std::get<CleanMetadata>(archived.facts), archived.clean) << instant.requested;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, HudiArchiveTest, ::testing::ValuesIn(Tables()),
                         [](const auto& table) { return table.param; });

}  // namespace
}  // namespace tidemark::lake::hudi
