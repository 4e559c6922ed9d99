#include "support/stored_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace tidemark::acceptance {
namespace {

using nlohmann::json;

std::string RootOf(const std::string& kind) {
  return std::string(TIDEMARK_TESTDATA) + "/hudi/" + kind + "/";
}

std::vector<std::string> TablesWhere(const std::function<bool(const json& fixture)>& is_wanted) {
  std::vector<std::string> names;
  for (const char* kind : {"rows", "tables"}) {
    for (const auto& entry : std::filesystem::directory_iterator(RootOf(kind))) {
      const std::string name = entry.path().filename();
      if (is_wanted(json::parse(FixtureText(name)))) names.push_back(name);
    }
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

bool HasReader(const json& fixture) {
  return fixture.contains("sparkSnapshot") || fixture.contains("flinkSnapshot");
}

}  // namespace

std::string FolderOf(const std::string& table) {
  const std::string in_rows = RootOf("rows") + table;
  return std::filesystem::exists(in_rows) ? in_rows : RootOf("tables") + table;
}

std::string FixtureText(const std::string& table) {
  std::ifstream file(FolderOf(table) + "/fixture.json");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> ReaderTables() {
  return TablesWhere(HasReader);
}

std::vector<std::string> TruthTables() {
  return TablesWhere([](const json& fixture) {
    return HasReader(fixture) && fixture.contains("expectedEventTime") &&
           !fixture["expectedEventTime"].is_null();
  });
}

void ForEachTable(const std::vector<std::string>& tables,
                  const std::function<void(const std::string& table)>& check) {
  ASSERT_FALSE(tables.empty());
  for (const std::string& table : tables) {
    SCOPED_TRACE(table);
    check(table);
  }
}

std::string ProfileOf(const std::string& table) {
  const std::string hudi = json::parse(FixtureText(table))["writer"]["hudi"];
  if (hudi.starts_with("0.14")) return "hudi-0.14";
  if (hudi.starts_with("0.15")) return "hudi-0.15";
  if (hudi == "1.0.1") return "hudi-1.0.0";  // their readers are the same
  return hudi.starts_with("1.0") ? "hudi-1.0.2" : "hudi-1.1";
}

std::vector<std::string> SplitNames(const std::string& list) {
  std::vector<std::string> names;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    names.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return names;
}

std::string WithoutTimeStyle(std::string text) {
  const bool is_date_first = text.size() >= 16 && text[4] == '-' && text[7] == '-' &&
                             (text[10] == 'T' || text[10] == ' ') && text[13] == ':';
  if (!is_date_first) return text;
  text[10] = ' ';
  if (text.ends_with('Z')) text.pop_back();
  if (text.find('.') != text.npos) text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace tidemark::acceptance
