/// Keys that more than one file group shows.
#pragma once

#include <cstdint>
#include <span>

#include "audit/report.h"
#include "base/error.h"
#include "scan/group_versions.h"
#include "scan/scan_table.h"

namespace tidemark::audit {

/// Reads the keys that are live in the groups' newest slices, in as many passes (by hash) as the
/// table's memory asks for. Inside one partition such a key is an error; across partitions it is
/// worth knowing, because most indexes take a key for one of its partition only. A group that
/// cannot be read is passed over: its own audit says so. Errors: those that end an audit.
Status FindDuplicateKeys(const scan::ScanTable& table, std::span<const scan::GroupSlices> groups,
                         FindingList& findings);

}  // namespace tidemark::audit
