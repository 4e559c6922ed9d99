/// Files that completed commits wrote and that are not there, or not whole.
#pragma once

#include "base/budget.h"
#include "base/error.h"
#include "lake/hudi/file_slices.h"
#include "lake/hudi/properties.h"
#include "lake/hudi/slice_inputs_internal.h"
#include "lake/hudi/timeline.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

/// Holds the active timeline's commits at or before as_of against the files of `table`, and reports
/// "missing_file" (the cleaner does not remove what the latest slice of a group needs),
/// "wrong_size" and "missing_commit" (one that others built upon). A commit that cannot be read is
/// "unreadable_commit", one that does not say what it wrote "empty_commit". Cost: one read per
/// commit, three of those.
Status FindLostFiles(const storage::ObjectStore& store, const TableProperties& properties,
                     const Timeline& timeline, const SliceInputs& inputs,
                     const SliceOptions& options, const TableSlices& table, const Budget& budget,
                     FindingList& findings);

}  // namespace tidemark::lake::hudi
