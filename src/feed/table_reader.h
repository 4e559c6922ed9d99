/// What happened to a table since it was last read.
#pragma once

#include "base/budget.h"
#include "base/error.h"
#include "change/planner.h"
#include "lake/column_reader.h"
#include "lake/hudi/properties.h"
#include "storage/object_store.h"

namespace tidemark::feed {

/// How often a body is read that cannot be: its writer may have been caught in the act (P5).
inline constexpr int kBodyTriesMax = 4;
/// How often a reading is begun anew because the table changed under it.
inline constexpr int kReadingTriesMax = 5;

struct TableReading {
  lake::hudi::TableProperties properties;
  change::Plan plan{};
};

/// Reads the facts that the plan needs and makes it. A listing counts only when the timeline before
/// and after it shows that nothing was removed meanwhile (P9); whatever else changed is left to the
/// next reading.
///
/// Errors: of lake::hudi::Table::Open and of the store, then nothing is known and nothing must be
/// concluded; kConflict when the table does not keep still. Cost: one listing of the timeline and
/// one read for each instant that is new; where the plan needs them also the archive's files, a
/// listing of the table and the bodies of all active commits.
Result<TableReading> ReadChanges(const storage::ObjectStore& store,
                                 const lake::ColumnReaderSource& columns,
                                 const change::TableState& state,
                                 const change::PlanOptions& options, const Budget& budget);

}  // namespace tidemark::feed
