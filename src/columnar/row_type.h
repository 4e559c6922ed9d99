/// The columns that one reading of a table works with: those it shows, and those it only needs to
/// merge by.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "columnar/value_type.h"
#include "lake/avro/schema.h"

namespace tidemark::columnar {

struct WantedColumn {
  std::string name;
  bool is_visible = true;  ///< false: read for merging, not written out
};

struct Column : ValueField {
  bool is_visible = true;
};

/// One of the five that Hudi puts before a table's own columns.
bool IsMetaColumn(std::string_view name);

/// Columns in the order wanted. Copies share. Immutable; any thread.
class RowType {
 public:
  /// Columns of `table` (a record) by name. A column named twice stands once, where it was named
  /// first, visible if either is. Hudi's own _hoodie_commit_time, _hoodie_commit_seqno,
  /// _hoodie_record_key, _hoodie_partition_path, _hoodie_file_name and _hoodie_operation are
  /// nullable strings when the schema lacks them. kInvalidArgument: another unknown column, or
  /// none. kUnsupported: `table` is no record, or a wanted column as FieldOf.
  static Result<RowType> Make(const lake::avro::Schema& table,
                              std::span<const WantedColumn> wanted);

  const std::vector<Column>& columns() const { return parts_->columns; }
  size_t size() const { return parts_->columns.size(); }
  /// Places of the visible columns, in order.
  const std::vector<size_t>& visible() const { return parts_->visible; }
  /// Place of a column.
  std::optional<size_t> Find(std::string_view name) const;
  /// The table's, as given to Make.
  const lake::avro::Schema& schema() const { return parts_->schema; }

  /// Whether batches of the two can stand for each other: same names, layouts and visibility.
  friend bool operator==(const RowType& a, const RowType& b);

 private:
  struct Parts {
    lake::avro::Schema schema;
    std::vector<Column> columns;
    std::vector<size_t> visible;
  };
  explicit RowType(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

  std::shared_ptr<const Parts> parts_;
};

/// Hudi's five meta columns, in their order on disk (_hoodie_operation is not one of them).
std::span<const std::string_view> MetaColumnNames();

enum class MetaColumns { kLeaveOut, kPutFirst };

/// Every column of the table's schema, visible, in its order; Hudi's five left out or put in front.
std::vector<WantedColumn> WantAll(const lake::avro::Schema& table, MetaColumns meta);

}  // namespace tidemark::columnar
