/// The columns that order the versions of a row, and their values out of records and batches.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "columnar/batch.h"
#include "columnar/row_type.h"
#include "lake/avro/datum.h"
#include "lake/avro/schema.h"
#include "merge/ordering_value.h"

namespace tidemark::scan {

/// Immutable. Any thread.
class OrderingFields {
 public:
  /// `names` are columns of the table, nested ones with dots. A name the table does not have reads
  /// as null everywhere, as Hudi has it. kUnsupported: a column of a type without an order.
  static Result<OrderingFields> Make(const lake::avro::Schema& table,
                                     std::span<const std::string> names);

  /// The top-level columns that hold them, each once.
  const std::vector<std::string>& columns() const { return columns_; }
  size_t size() const { return fields_.size(); }
  /// Whether rows have an ordering value: a field is named, and the table has those named.
  bool are_columns() const;
  /// What the table says of a field.
  merge::OrderingColumn column(size_t field) const { return fields_[field].column; }
  /// Of a table with one ordering field, else unknown: what a delete's plain number means.
  merge::OrderingColumn single() const { return size() == 1 ? column(0) : merge::OrderingColumn{}; }

  /// The value in a data record; `row` has a place for each of columns(). What it views lies in the
  /// record's bytes or in `arena`. kCorrupt: damaged bytes. kUnsupported: a type that is not the
  /// column's.
  Result<merge::OrderingValue> Read(std::span<const std::optional<lake::avro::Datum>> row,
                                    merge::OrderingArena& arena) const;

  /// Where columns() stand in a row type.
  std::vector<std::optional<size_t>> PlacesIn(const columnar::RowType& type) const;
  /// The value in a row of a batch of that type; it views the batch or `scratch`, which is
  /// overwritten.
  struct Scratch {
    std::vector<merge::OrderingValue> items;
    std::vector<std::string> bytes;
  };
  Result<merge::OrderingValue> Read(const columnar::Batch& batch,
                                    std::span<const std::optional<size_t>> places, size_t row,
                                    Scratch& scratch) const;

 private:
  struct Field {
    bool is_column = false;
    size_t top = 0;                 // in columns_
    std::vector<std::string> path;  // below that
    merge::OrderingColumn column;
    uint64_t fixed_size = 0;  // of a decimal on fixed
  };

  Result<merge::OrderingValue> ReadField(const Field& field, const lake::avro::Datum& datum,
                                         merge::OrderingArena& arena) const;

  std::vector<std::string> columns_;
  std::vector<Field> fields_;
};

/// What an Avro type is as an ordering column; nullopt for one without an order. A union counts as
/// its only branch that is not null.
std::optional<merge::OrderingColumn> OrderingColumnOf(const lake::avro::Type& type);

}  // namespace tidemark::scan
