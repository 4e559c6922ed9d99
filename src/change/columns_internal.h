/// Building columns from either form of a schema.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "change/schema.h"

namespace tidemark::change {

/// The words of types that hold others, which are also the beginning of their texts. While columns
/// are built their `type` is the word alone.
inline constexpr std::string_view kStruct = "struct";
inline constexpr std::string_view kArray = "array";
inline constexpr std::string_view kMap = "map";
inline constexpr std::string_view kUnion = "uniontype";

/// Whether a type text is that of one that holds others; the word, or empty.
std::string_view ContainerWord(std::string_view type);

/// Counts columns against kColumnsMax.
class ColumnCount {
 public:
  Status Add();

 private:
  size_t count_ = 0;
};

/// Whether it is Hudi's own rather than the table's.
bool IsMetaColumn(std::string_view name);

/// A name as type texts have it: between back quotes when it is not all letters, digits and '_'.
std::string QuotedName(std::string_view name);

/// Columns with their names, leaf types and children become a schema: paths, positions, types of
/// what holds others, and the fingerprint. kExhausted over kTypeTextMax.
Result<Schema> FinishSchema(std::vector<Column> columns);

/// Columns without what FinishSchema adds.
Result<std::vector<Column>> AvroColumns(std::string_view json);

}  // namespace tidemark::change
