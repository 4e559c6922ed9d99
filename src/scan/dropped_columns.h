/// Partition columns that a table's files lack because its writer left them out
/// (hoodie.datasource.write.drop.partition.columns): the folders say them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "columnar/record_decoder.h"
#include "lake/avro/schema.h"
#include "lake/hudi/properties.h"

namespace tidemark::scan {

/// Names of the columns, in the order of the folders; none where files have all of their columns.
std::vector<std::string> DroppedColumns(const lake::hudi::TableProperties& properties);

/// The schema `json` of a record with those columns that it lacks behind its own, as nullable
/// strings: what a reader of Hudi makes of a schema without them (TableSchemaResolver,
/// 0.14.0 to 1.1.1), whatever they were when they were written. kCorrupt: no schema of a record.
Result<std::string> WithDroppedColumns(std::string_view json,
                                       const std::vector<std::string>& columns);

/// What the columns hold in the files of a partition, in the types of `schema`. kUnsupported: the
/// path has other folders than the table has columns, or a type that no folder's text is read as.
/// kCorrupt: a text that is no value of its type.
Result<std::vector<columnar::ConstantColumn>> ConstantsOf(
    std::string_view partition, const lake::hudi::TableProperties& properties,
    const std::vector<std::string>& columns, const lake::avro::Schema& schema);

/// What the files of a folder hold in dropped columns. Empty: no column was dropped.
using ConstantsIn =
    std::function<const std::vector<columnar::ConstantColumn>&(std::string_view partition)>;

}  // namespace tidemark::scan
