/// The schema of a Parquet file against what else in its footer says the same.
#pragma once

#include <string_view>

#include "base/error.h"

namespace parquet {
class FileMetaData;
}  // namespace parquet

namespace tidemark::columnar {

/// kCorrupt: the Avro schema that parquet-avro left beside the schema it made of it
/// (writer.model.name is "avro") does not come to the same columns: one flipped bit makes a column
/// that may be null one that may not, whose values are then others. The message is what follows
/// "reason=". What has no such schema, or one that does not parse, or unions, is as good as its
/// schema. Source: parquet-avro 1.10 to 1.13, AvroSchemaConverter; lists of two levels and of
/// three.
Status CheckAvroSchema(const parquet::FileMetaData& file);

/// kCorrupt: two annotations of one column in the footer's bytes contradict each other (the older
/// converted_type with its scale and precision, and logicalType), or one of its numbers has no
/// meaning. Of bytes that are not read here nothing is said. Source: parquet.thrift 2.11,
/// LogicalTypes.md.
Status CheckAnnotations(std::string_view footer);

}  // namespace tidemark::columnar
