/// Reading a table: what to read is found out once, then its rows come in batches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "columnar/batch.h"
#include "columnar/row_type.h"
#include "lake/column_reader.h"
#include "lake/finding.h"
#include "lake/hudi/file_slices.h"
#include "merge/profile.h"
#include "scan/group_versions.h"
#include "scan/scan_table.h"
#include "scan/slice_scan.h"
#include "storage/object_store.h"

namespace tidemark::scan {

struct ScanOptions {
  std::string profile = "event-time";  ///< merge::ProfileNames
  merge::Engine engine = merge::Engine::kFlink;
  SliceView view = SliceView::kSnapshot;
  /// Columns shown, in this order, nothing else is read from base files; empty: all.
  std::vector<std::string> columns;
  /// All, with Hudi's five meta columns in front; not with `columns`.
  bool with_meta = false;
  /// Read beside the columns shown, hidden; meta columns that the table lacks are null.
  std::vector<std::string> hidden;
  /// Partitions whose path matches; '*' stands for any text, '?' for one character. Empty: all.
  std::string partition_glob;
  /// Fold what every retained slice of a file group still holds, not only the latest.
  bool with_history = false;
  /// Look for log files that a compaction passed over, and read what each commit was for: an audit
  /// wants to know. Cost: one read per commit, compaction plan and log file in no slice.
  bool with_evidence = false;
  /// Requested time of a write: the table as its commits up to there left it.
  std::optional<std::string> as_of;
  uint64_t memory_max = uint64_t{1} << 30;
  unsigned threads =
      1;  ///< units that will be run at the same time: each has its part of the memory
};

struct ScanCounts {
  size_t slices = 0;
  SliceCounts in_slices;

  ScanCounts& operator+=(const ScanCounts& other) {
    slices += other.slices;
    in_slices += other.in_slices;
    return *this;
  }
};

/// One reading of one table. Borrows the store, which must outlive it.
class TableScan {
 public:
  /// Finds out schema, slices and rules. kInvalidArgument: an unknown profile, column or instant,
  /// or history asked of a release's profile. kUnsupported: a feature that is not read. Otherwise
  /// as lake::hudi::Table and ReadFileSlices. `findings` is called from several threads, one at a
  /// time.
  static Result<TableScan> Open(const storage::ObjectStore& store,
                                const lake::ColumnReaderSource& columns, ScanOptions options,
                                lake::FindingSink findings, const Budget& budget);

  TableScan(TableScan&&) noexcept;
  TableScan& operator=(TableScan&&) noexcept;
  ~TableScan();

  /// Of the batches; its hidden columns are not for output.
  const columnar::RowType& type() const;
  /// Slices that will be read, by partition and file group.
  const std::vector<lake::hudi::FileSlice>& slices() const;

  /// What reading the slices takes, for those who look into them themselves. They live as long as
  /// this object.
  const ScanTable& table() const;
  const BaseWriters& writers() const;
  /// The file groups that will be read; one slice each without history.
  std::span<const GroupSlices> groups() const;

  /// Parts that can be read side by side, in the order in which their rows belong: file slices, and
  /// with history partitions.
  size_t unit_count() const;
  /// What a unit reads.
  std::span<const GroupSlices> unit_groups(size_t unit) const;
  /// Gives the rows of one unit to `sink`, in the order of ScanSlice or ScanHistory. Any thread.
  /// After an error the rows so far are worth nothing.
  Result<ScanCounts> RunUnit(size_t unit, const BatchSink& sink) const;
  /// All units, one after the other.
  Result<ScanCounts> Run(const BatchSink& sink) const;

 private:
  struct State;
  explicit TableScan(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::scan
