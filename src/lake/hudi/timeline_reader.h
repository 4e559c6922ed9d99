/// From the files of a timeline folder to the instants they stand for.
#pragma once

#include "base/budget.h"
#include "base/error.h"
#include "lake/column_reader.h"
#include "lake/hudi/properties.h"
#include "lake/hudi/timeline.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

/// The instants of one listing of the timeline folder, oldest first. Files of one action at one
/// requested time are one instant in its highest state; of several completed files the one with the
/// greatest completion time counts. Findings: "unknown_action" (one per word), "stray_file" (a
/// completion time in the name although the layout has none), "several_completions" (of an action
/// other than clean, which may legally complete twice).
Timeline MakeTimeline(const storage::Listing& listing, const TableProperties& properties);

/// Reads the active timeline. Cost: one listing; a second one when it has no instant, or when the
/// properties contradict themselves (then with the finding "layout_mismatch"). kConflict when the
/// table is just being moved to another layout: open it anew. kCorrupt when the instants lie in the
/// folder of another layout than the one that the properties say against the table's version.
Result<Timeline> ReadActiveTimeline(const storage::ObjectStore& store,
                                    const TableProperties& properties, const Budget& budget);

/// Adds the archived instants that `timeline` does not have in a higher or the same state. Cost:
/// the archive's files. Errors as ReadArchive.
Status AddArchivedInstants(const storage::ObjectStore& store, const TableProperties& properties,
                           const ColumnReaderSource& columns, const Budget& budget,
                           Timeline& timeline);

}  // namespace tidemark::lake::hudi
