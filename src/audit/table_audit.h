/// The audit of a table: what there is to do is found out once, then done in parts, here or in
/// several processes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/group_audit.h"
#include "audit/report.h"
#include "base/budget.h"
#include "base/error.h"
#include "columnar/row_type.h"
#include "lake/column_reader.h"
#include "lake/hudi/file_slices.h"
#include "merge/profile.h"
#include "scan/group_versions.h"
#include "storage/object_store.h"

namespace tidemark::audit {

struct AuditOptions {
  /// Readers asked about (merge::ProfileNames, not "event-time"). Empty: the release that table
  /// version belongs to, and "table" where that is another one.
  std::vector<std::string> profiles;
  merge::Engine engine = merge::Engine::kFlink;
  std::optional<std::string> as_of;
  std::string partition_glob;
  /// A key is one row of the whole table, not of its partition (a global index). Without it that is
  /// taken to be so where the table has a record index, which was always global below version 9.
  bool keys_are_global = false;
  uint64_t memory_max = uint64_t{1} << 30;
  unsigned threads = 1;
  size_t limit = 0;         ///< findings listed; 0: all
  bool for_repair = false;  ///< rows are read with the columns that a RepairPlan wants
  /// Called after each file group, from several threads at once; may be empty.
  std::function<void(const lake::hudi::FileGroupId& group)> group_done = {};
};

/// A part of the work that stands by itself.
struct AuditPart {
  /// The table's settings, its timeline and files, and keys that several groups hold; else one file
  /// group.
  bool is_of_table = false;
  std::string partition;
  std::string file_group;

  friend bool operator==(const AuditPart&, const AuditPart&) = default;
};

/// A part of the work as one process hands it to another.
struct AuditTask {
  std::string table;
  std::string as_of;  ///< "" of a table without commits
  std::vector<std::string> profiles;
  merge::Engine engine = merge::Engine::kFlink;
  std::string partition_glob;
  bool keys_are_global = false;
  AuditPart part;
  uint64_t number = 1;  ///< in the plan, from 1
  uint64_t count = 1;   ///< of the plan's tasks

  friend bool operator==(const AuditTask&, const AuditTask&) = default;
};

/// The profile of the release that a table version belongs to.
std::string ProfileOfVersion(int table_version);

/// One audit of one table. Borrows the store. Immutable; any thread.
class TableAudit {
 public:
  /// kInvalidArgument: no such profile or instant. kUnsupported: a profile asked for cannot read
  /// the table by its settings (of the default ones such a profile is left out, and `unjudged`).
  /// Others as scan::TableScan::Open.
  static Result<TableAudit> Open(const storage::ObjectStore& store,
                                 const lake::ColumnReaderSource& columns,
                                 const AuditOptions& options, const Budget& budget);

  TableAudit(TableAudit&&) noexcept;
  TableAudit& operator=(TableAudit&&) noexcept;
  ~TableAudit();

  const std::vector<std::string>& profiles() const;
  const std::string& as_of() const;
  const columnar::RowType& row_type() const;
  /// The file groups that are judged; they live as long as this object.
  std::span<const scan::GroupSlices> groups() const;
  /// Everything there is to do: the table's part, then each file group.
  std::vector<AuditPart> Plan() const;

  /// Does some parts; the report of all of them, in one call or merged from several, is the same.
  /// Groups that share keys are judged by the table's part, which then `replaces` their own.
  /// `repair` may be null, and wants all parts. kInvalidArgument: a part is not of this table.
  Result<Report> Run(std::span<const AuditPart> parts, RepairSink* repair) const;

 private:
  struct State;
  explicit TableAudit(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::audit
