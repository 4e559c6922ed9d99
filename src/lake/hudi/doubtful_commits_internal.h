/// Writes that are inflight on the timeline and of which something else says that they came to
/// their end.
#pragma once

#include "base/budget.h"
#include "base/error.h"
#include "lake/hudi/file_slices.h"
#include "lake/hudi/properties.h"
#include "lake/hudi/slice_inputs_internal.h"
#include "lake/hudi/timeline.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

/// Reports "doubtful_commit": the file that would complete the write may have been lost, and its
/// rows with it. The files of the timeline are those of a write that is under way or has failed;
/// what speaks against that is, the strongest first:
/// - a compaction's plan lists a log file of the write (from table version 8 on, where names say
///   whose they are): plans are made of completed writes;
/// - files of the write are there and its markers are not: they are made before a file, and removed
///   after completion (before version 8 none are made for logs that are appended to, so that only
///   base files count there);
/// - the metadata table has it as completed, which happens just before.
/// Nothing is said while a rollback is pending, which removes markers too. Cost: nothing unless a
/// write is inflight; then a listing for each and two of the metadata table.
Status FindDoubtfulCommits(const storage::ObjectStore& store, const TableProperties& properties,
                           const Timeline& timeline, const SliceInputs& inputs,
                           const SliceOptions& options, const TableSlices& table,
                           const Budget& budget, FindingList& findings);

}  // namespace tidemark::lake::hudi
