/// The rows of a partition by event time over every slice that is still on storage: what a past
/// compaction dropped or brought back is put right as long as its evidence is there.
#pragma once

#include <span>

#include "base/error.h"
#include "scan/group_versions.h"
#include "scan/scan_table.h"
#include "scan/slice_scan.h"

namespace tidemark::scan {

/// Gives the rows of a partition to `sink`, in the order in which their keys come first. A key is
/// one row of a partition, in however many file groups it has been: where the index had forgotten
/// it, or behind a clustering, whose old groups are among `groups`. Versions, and the rows of all
/// base files, are held in memory; what does not fit is read in passes, as by ScanSlice. REQUIRES:
/// the table's row type has _hoodie_commit_time. Findings and errors as ScanSlice's.
Result<SliceCounts> ScanHistory(const ScanTable& table, const BaseWriters& writers,
                                std::span<const GroupSlices> groups, const BatchSink& sink);

}  // namespace tidemark::scan
