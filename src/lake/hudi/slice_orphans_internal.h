/// Log files whose rows nobody reads any more although their commits count, and files that are gone
/// although a compaction is going to read them.
#pragma once

#include "base/budget.h"
#include "base/error.h"
#include "lake/hudi/file_slices.h"
#include "lake/hudi/slice_inputs_internal.h"
#include "lake/hudi/timeline.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

/// Adds "orphan_log_file" findings: a log file of a slice whose compaction did not plan it, and one
/// that is in no slice although a block of it is committed. `inputs` have the plans of the
/// completed compactions. Cost: one read per file set aside that can hold committed blocks.
Status FindOrphans(const storage::ObjectStore& store, const SliceInputs& inputs,
                   const TableSlices& table, const Budget& budget, FindingList& findings);

/// Adds a "planned_file_gone" finding for each file that a pending compaction names and that is not
/// on storage, with the clean that removed it where the active timeline tells. Cost: nothing, or
/// one read per clean.
Status CheckPendingPlans(const storage::ObjectStore& store, const Timeline& timeline,
                         const SliceInputs& inputs, const SliceOptions& options,
                         const TableSlices& table, const Budget& budget, FindingList& findings);

}  // namespace tidemark::lake::hudi
