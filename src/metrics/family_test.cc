#include "metrics/family.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace tidemark::metrics {
namespace {

std::vector<Family> AllFamilies() {
  std::vector<Family> families;
  for (const FamilyGroup group :
       {FamilyGroup::kPipeline, FamilyGroup::kPartition, FamilyGroup::kCompatibility,
        FamilyGroup::kProcess, FamilyGroup::kExporter, FamilyGroup::kWork,
        FamilyGroup::kCoordination, FamilyGroup::kQueue, FamilyGroup::kFeed, FamilyGroup::kMirror,
        FamilyGroup::kSink})
    families.insert(families.end(), FamiliesOf(group).begin(), FamiliesOf(group).end());
  return families;
}

std::string RowOf(const Family& family) {
  const auto or_else = [](std::string_view text, std::string_view other) {
    return text.empty() ? other : text;
  };
  return fmt::format("| `{}` | {} | {} | {} | {} | {} |", family.name,
                     family.type == FamilyType::kCounter     ? "counter"
                     : family.type == FamilyType::kHistogram ? "histogram"
                                                             : "gauge",
                     or_else(family.unit, "-"), or_else(family.labels, "-"), family.help,
                     or_else(family.absent, "never"));
}

std::vector<std::string> LinesOfThePage() {
  std::ifstream page(TIDEMARK_TESTDATA "/../docs/metrics.md");
  std::vector<std::string> lines;
  for (std::string line; std::getline(page, line);) lines.push_back(line);
  return lines;
}

TEST(FamilyTest, ThePageListsEachFamilyAsItIs) {
  const std::vector<std::string> lines = LinesOfThePage();
  for (const Family& family : AllFamilies()) EXPECT_THAT(lines, testing::Contains(RowOf(family)));
}

TEST(FamilyTest, ThePageListsNoFamilyThatIsNotThere) {
  std::set<std::string, std::less<>> names;
  for (const Family& family : AllFamilies()) names.emplace(family.name);
  size_t rows = 0;
  for (const std::string& line : LinesOfThePage()) {
    if (!line.starts_with("| `tidemark_") && !line.starts_with("| `kafka_") &&
        !line.starts_with("| `process_") && !line.starts_with("| `metadata_sync_"))
      continue;
    const std::string name = line.substr(3, line.find('`', 3) - 3);
    EXPECT_TRUE(names.contains(name)) << name;
    ++rows;
  }
  EXPECT_EQ(rows, names.size());
}

TEST(FamilyTest, NamesAreUniqueAndEndInTheirUnit) {
  std::set<std::string_view> names;
  for (const Family& family : AllFamilies()) {
    EXPECT_TRUE(names.insert(family.name).second) << family.name;
    if (!family.unit.empty()) {
      // A counter's unit stands before what makes it a counter (OpenMetrics).
      std::string_view name = family.name;
      if (name.ends_with("_total")) name.remove_suffix(std::string_view("_total").size());
      EXPECT_TRUE(name.ends_with("_" + std::string(family.unit))) << family.name;
    }
    EXPECT_EQ(family.name.ends_with("_total"), family.type == FamilyType::kCounter) << family.name;
    EXPECT_TRUE(family.help.ends_with(".")) << family.name;
    EXPECT_EQ(family.help.find_first_of("\"\\\n"), std::string_view::npos) << family.name;
  }
}

}  // namespace
}  // namespace tidemark::metrics
