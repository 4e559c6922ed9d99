/// One file group, judged key by key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "audit/key_census.h"
#include "audit/report.h"
#include "base/error.h"
#include "columnar/batch.h"
#include "lake/finding.h"
#include "merge/judge.h"
#include "scan/group_versions.h"
#include "scan/key_set.h"
#include "scan/scan_table.h"

namespace tidemark::audit {

enum class Repair : uint8_t {
  kWrite,   ///< the row, which is the right one
  kDelete,  ///< the key, of which the row is shown wrongly
};

/// Takes what would make keys right, unit of work by unit of work. Any thread, one a unit.
class RepairSink {
 public:
  RepairSink() = default;
  RepairSink(const RepairSink&) = delete;
  RepairSink& operator=(const RepairSink&) = delete;
  virtual ~RepairSink() = default;

  /// `row` is one of the scan's type.
  virtual Status Take(size_t unit, Repair repair, std::string_view key, std::string_view partition,
                      const columnar::Batch& row) = 0;
  /// Nothing more comes from the unit. Units are numbered from 0 without a gap and begun in that
  /// order, and each that was begun is finished.
  virtual Status Finish(size_t unit) = 0;
};

struct GroupAudit {
  explicit GroupAudit(size_t limit) : findings(limit) {}

  FindingList findings;
  Summary counts;  ///< file_groups, file_slices, keys and versions
  std::optional<Unjudged> unjudged;
};

struct GroupQuestion {
  const merge::KeyJudge* judge = nullptr;
  size_t limit = 0;                 ///< of findings kept; 0: none
  RepairSink* repair = nullptr;     ///< may be null; repairs what the first reader shows
  size_t unit = 0;                  ///< for it
  KeyCensus* census = nullptr;      ///< may be null; is told of all keys …
  size_t number = 0;                ///< … of the group of this number
  const scan::KeySet* leave_out{};  ///< keys that are not judged here; may be null
};

/// Judges all keys of a file group over its retained slices, in passes where the memory of `table`
/// asks for it. What cannot be read (kCorrupt, kUnsupported, kExhausted) is `unjudged`; any other
/// error ends the audit.
Result<GroupAudit> AuditGroup(const scan::ScanTable& table, const scan::BaseWriters& writers,
                              scan::GroupSlices slices, const GroupQuestion& question);

/// Tells the census of a group's keys without judging any: only the columns that merging needs are
/// read. A group that cannot be read is passed over, its audit says so.
Status CountKeys(const scan::ScanTable& table, const scan::BaseWriters& writers,
                 scan::GroupSlices slices, const merge::KeyJudge& judge, KeyCensus& census,
                 size_t number);

/// Whether an error is of one group's files, and says nothing of the others.
bool IsOfOneGroup(ErrorKind kind);

/// The table with the columns that merging needs, and no others; its findings are not told.
Result<scan::ScanTable> NarrowTable(const scan::ScanTable& table);

/// What the table's readers met, as a finding of the audit.
Finding FromLake(const lake::Finding& finding);

}  // namespace tidemark::audit
