/// The rows of testdata/rows, in every form they have there. A row of JSON is compared as text with
/// its keys sorted.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "columnar/rows.h"

namespace tidemark::support {

std::string Unhex(std::string_view hex);

lake::avro::Schema ReadRowSchema(const std::string& name);
/// All columns of a schema, visible.
columnar::RowType AllColumns(const lake::avro::Schema& schema);

/// The encoded records of `name`_avro.txt.
std::vector<std::string> ReadRecords(const std::string& name);
/// The rows of `name`.jsonl.
std::vector<std::string> ExpectedRows(const std::string& name);

/// Each line's JSON with its keys sorted.
std::vector<std::string> SortedLines(const std::string& text);
std::string Sorted(const std::string& json);
std::vector<std::string> JsonRows(const columnar::Batch& batch);
/// Everything a reader gives.
Result<std::vector<std::string>> JsonRows(columnar::BatchReader& reader);

/// A field's JSON text.
std::string FieldOf(const std::string& row, const std::string& name);
std::string RowOf(const std::vector<std::pair<std::string, std::string>>& fields);
/// The row with these fields only.
std::string Only(const std::string& row, const std::vector<std::string>& names);

}  // namespace tidemark::support
