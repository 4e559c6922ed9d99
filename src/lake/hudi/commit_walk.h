/// The walk back through a timeline to the checkpoint that counts.
#pragma once

#include "base/budget.h"
#include "base/error.h"
#include "lake/column_reader.h"
#include "lake/commit_point.h"
#include "lake/hudi/properties.h"
#include "lake/hudi/table.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

/// Times the timeline is listed anew because a commit went away between listing and reading it.
inline constexpr int kRelistMax = 5;

/// See Table::FindCheckpoint.
Result<CheckpointSearch> WalkToCheckpoint(const storage::ObjectStore& store,
                                          const TableProperties& properties,
                                          const ColumnReaderSource& columns,
                                          const CheckpointOptions& options, const Budget& budget);

}  // namespace tidemark::lake::hudi
