/// Keys that several file groups hold, judged over all of them.
#pragma once

#include <cstdint>
#include <span>

#include "audit/group_audit.h"
#include "audit/report.h"
#include "base/error.h"
#include "scan/group_versions.h"
#include "scan/key_set.h"
#include "scan/scan_table.h"

namespace tidemark::audit {

/// Judges the keys that are in `shared`, in the groups given: those of one partition, or of the
/// table where its keys are unique. A key is one row; what readers show of it beside that row, or
/// instead, is wrong. `bytes`: memory that the keys' versions take, about; they are read in passes
/// when that is too much. Everything that AuditGroup finds of such keys is found here. Errors as
/// scan::GroupFiles::Open; damage of files is not told again.
Status JudgeSharedKeys(const scan::ScanTable& table, const scan::BaseWriters& writers,
                       std::span<const scan::GroupSlices> groups, const scan::KeySet& shared,
                       uint64_t bytes, const GroupQuestion& question, FindingList& findings);

}  // namespace tidemark::audit
