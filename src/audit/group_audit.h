/// One file group, judged key by key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "audit/report.h"
#include "base/error.h"
#include "columnar/batch.h"
#include "lake/finding.h"
#include "merge/judge.h"
#include "scan/group_versions.h"
#include "scan/scan_table.h"

namespace tidemark::audit {

enum class Repair : uint8_t {
  kWrite,   ///< the row, which is the right one
  kDelete,  ///< the key, of which the row is shown wrongly
};
/// What would make one key right; `row` is one of the scan's type.
using RepairSink = std::function<Status(Repair repair, std::string_view key,
                                        std::string_view partition, const columnar::Batch& row)>;

struct GroupAudit {
  explicit GroupAudit(size_t limit) : findings(limit) {}

  FindingList findings;
  Summary counts;  ///< file_groups, file_slices, keys and versions
  std::optional<Unjudged> unjudged;
};

struct GroupQuestion {
  const merge::KeyJudge* judge = nullptr;
  size_t limit = 0;   ///< of findings kept; 0: none
  RepairSink repair;  ///< may be empty; repairs what the first reader shows
};

/// Judges all keys of a file group over its retained slices, in passes where the memory of `table`
/// asks for it. What cannot be read (kCorrupt, kUnsupported, kExhausted) is `unjudged`; any other
/// error ends the audit.
Result<GroupAudit> AuditGroup(const scan::ScanTable& table, const scan::BaseWriters& writers,
                              scan::GroupSlices slices, const GroupQuestion& question);

/// What the table's readers met, as a finding of the audit.
Finding FromLake(const lake::Finding& finding);

}  // namespace tidemark::audit
