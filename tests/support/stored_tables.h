/// The tables that real writers left in testdata/hudi, each with what its readers returned in
/// fixture.json.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tidemark::acceptance {

/// The folder that holds fixture.json, and the table itself in `table/`.
std::string FolderOf(const std::string& table);

/// The text of its fixture.json.
std::string FixtureText(const std::string& table);

/// Tables whose fixture has the rows of a real reader, sorted.
std::vector<std::string> ReaderTables();
/// Those of them whose right rows are known too.
std::vector<std::string> TruthTables();

/// One run for all tables: loading the Parquet module takes longer than reading one.
void ForEachTable(const std::vector<std::string>& tables,
                  const std::function<void(const std::string& table)>& check);

/// The profile of the release that wrote the table.
std::string ProfileOf(const std::string& table);

/// The names of a list like "ts,seq".
std::vector<std::string> SplitNames(const std::string& list);

/// One form for what generators and we print: a timestamp without T, Z and trailing zeros. Any
/// other text as it is.
std::string WithoutTimeStyle(std::string text);

}  // namespace tidemark::acceptance
