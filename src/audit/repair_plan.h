/// The rows to write and the keys to delete that would make a table right, for the user's own
/// writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "audit/group_audit.h"
#include "base/error.h"
#include "columnar/batch_writer.h"
#include "columnar/row_type.h"

namespace tidemark::audit {

/// A Parquet file in the table's schema with _hoodie_record_key, _hoodie_partition_path and
/// _hoodie_operation at the end: "U" for a row to write as it is, "D" for a key to delete, with the
/// row that is shown. The rows stand in the order of units, however these ran: one whose turn has
/// not come holds its rows in memory, and beyond `held_bytes_max` of all of them waits.
class RepairPlan final : public RepairSink {
 public:
  /// What an audit for repair has to read beside the table's columns.
  static std::vector<std::string> HiddenColumns();
  /// `read`: TableAudit::row_type() of an audit for repair. kUnavailable: the columnar module is
  /// not there.
  static Result<std::unique_ptr<RepairPlan>> Open(const columnar::RowType& read,
                                                  columnar::ByteSink out, uint64_t held_bytes_max);
  ~RepairPlan() override;

  Status Take(size_t unit, Repair repair, std::string_view key, std::string_view partition,
              const columnar::Batch& row) override;
  Status Finish(size_t unit) override;
  /// Without it the file is none.
  Status Close();

 private:
  struct State;
  struct Passkey {};

 public:
  RepairPlan(Passkey, std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::audit
