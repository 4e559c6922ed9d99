/// The rows to write and the keys to delete that would make a table right, for the user's own
/// writer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "audit/group_audit.h"
#include "base/error.h"
#include "columnar/batch_writer.h"
#include "columnar/row_type.h"

namespace tidemark::audit {

/// A Parquet file in the table's schema with _hoodie_record_key, _hoodie_partition_path and
/// _hoodie_operation at the end: "U" for a row to write as it is, "D" for a key to delete, with the
/// row that is shown. Single-threaded.
class RepairPlan {
 public:
  /// What an audit for repair has to read beside the table's columns.
  static std::vector<std::string> HiddenColumns();
  /// `read`: TableAudit::row_type() of an audit for repair. kUnavailable: the columnar module is
  /// not there.
  static Result<RepairPlan> Open(const columnar::RowType& read, columnar::ByteSink out);
  RepairPlan(RepairPlan&&) noexcept;
  RepairPlan& operator=(RepairPlan&&) noexcept;
  ~RepairPlan();

  /// Takes repairs as long as this object lives.
  RepairSink sink();
  /// Without it the file is none.
  Status Close();

 private:
  struct State;
  explicit RepairPlan(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::audit
