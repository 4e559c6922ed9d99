/// The schema a table has at an instant.
#pragma once

#include <optional>
#include <string>

#include "base/budget.h"
#include "base/error.h"
#include "lake/avro/schema.h"
#include "lake/hudi/properties.h"
#include "lake/hudi/timeline.h"
#include "storage/object_store.h"

namespace tidemark::scan {

struct TableSchema {
  lake::avro::Schema schema;
  std::string json;   ///< as stored
  std::string place;  ///< where it stands: the commit's file, or "hoodie.properties"
  /// What schema-on-read evolution keeps beside it ("latest_schema"); empty when it is off.
  std::string internal_json;
};

/// The schema in the newest completed commit at or before `as_of` (nullopt: of all) that says one
/// and may change it; else in the newest one that repeats that of what it rewrote (clustering,
/// compaction, indexing; after an upgrade there may be no other), else
/// `hoodie.table.create.schema`, else nullopt: then a data file has to tell. Hudi's meta columns
/// may be missing in it. Cost: one read per commit looked at. kCorrupt: a commit or its schema
/// cannot be read, so that nobody knows whether it added a column. kConflict: a commit is gone
/// meanwhile.
Result<std::optional<TableSchema>> ReadTableSchema(const storage::ObjectStore& store,
                                                   const lake::hudi::TableProperties& properties,
                                                   const lake::hudi::Timeline& timeline,
                                                   const std::optional<std::string>& as_of,
                                                   const Budget& budget);

}  // namespace tidemark::scan
