/// The types of columns in the words of Hive (also Glue and Athena) and of Spark, and which change
/// of a column's type leaves its data readable.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "change/schema.h"

namespace tidemark::sink {

/// Types of deeper nesting are not compared (the change counts as impossible).
inline constexpr int kTypeDepthMax = 100;

/// Hive's type of a column, its children included: docs/sinks.md has the table. Names inside of
/// structs are in lower case, as the metastore keeps them.
std::string HiveType(const change::Column& column);

/// Spark's schema in the JSON of its StructType, as Hudi writes it into a table's properties: the
/// columns in the table's order, those in `last` (partition columns) behind the others.
std::string SparkSchemaJson(std::span<const change::Column> columns,
                            std::span<const std::string> last);

/// Whether what was written as `from` can be read as `to`, both in Hive's words: equal types, the
/// widening that Hudi and Hive know (int → bigint → float → double, to a wider decimal, anything
/// simple → string, date → string), struct fields that came or went, and the same inside arrays,
/// maps and structs. Text that is no type is compatible with itself alone. Cost: linear.
bool IsReadableAs(std::string_view from, std::string_view to);

}  // namespace tidemark::sink
