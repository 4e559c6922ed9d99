#include "support/row_files.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/testdata.h"

namespace tidemark::support {
namespace {

template <class Convert>
std::vector<std::string> Lines(const std::string& text, Convert convert) {
  std::vector<std::string> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) rows.push_back(convert(line));
  return rows;
}

}  // namespace

std::string Unhex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    uint8_t byte = 0;
    std::from_chars(&hex[i], &hex[i] + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

lake::avro::Schema ReadRowSchema(const std::string& name) {
  return lake::avro::Schema::Parse(ReadTestdata("rows/" + name + ".avsc")).value();
}

columnar::RowType AllColumns(const lake::avro::Schema& schema) {
  const auto all = columnar::WantAll(schema, columnar::MetaColumns::kLeaveOut);
  return columnar::RowType::Make(schema, all).value();
}

std::vector<std::string> ReadRecords(const std::string& name) {
  return Lines(ReadTestdata("rows/" + name + "_avro.txt"), Unhex);
}

std::vector<std::string> ExpectedRows(const std::string& name) {
  return SortedLines(ReadTestdata("rows/" + name + ".jsonl"));
}

std::vector<std::string> SortedLines(const std::string& text) {
  return Lines(text, Sorted);
}

std::string Sorted(const std::string& json) {
  return nlohmann::json::parse(json).dump();
}

std::vector<std::string> JsonRows(const columnar::Batch& batch) {
  std::vector<std::string> rows;
  for (size_t row = 0; row < batch.rows(); ++row) {
    rows.push_back(Sorted(columnar::RowJson(batch, row)));
  }
  return rows;
}

Result<std::vector<std::string>> JsonRows(columnar::BatchReader& reader) {
  std::vector<std::string> rows;
  while (true) {
    TRY_ASSIGN(const auto batch, reader.Next());
    if (!batch) return rows;
    for (auto& row : JsonRows(*batch)) rows.push_back(std::move(row));
  }
}

std::string FieldOf(const std::string& row, const std::string& name) {
  return nlohmann::json::parse(row).at(name).dump();
}

std::string RowOf(const std::vector<std::pair<std::string, std::string>>& fields) {
  nlohmann::json row = nlohmann::json::object();
  for (const auto& [name, json] : fields) row[name] = nlohmann::json::parse(json);
  return row.dump();
}

std::string Only(const std::string& row, const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::string>> fields;
  for (const auto& name : names) fields.emplace_back(name, FieldOf(row, name));
  return RowOf(fields);
}

}  // namespace tidemark::support
