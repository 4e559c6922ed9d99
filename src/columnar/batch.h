/// Rows in columns, in Arrow's layout but without Arrow: what readers and builders make, and the
/// merge looks into without a call per value.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "columnar/row_type.h"

namespace tidemark::columnar {

/// One column of a batch, or one nested inside of it. Borrows the batch. Copies are cheap when it
/// is not nested. Reading a null row gives some value, not a crash. Any thread.
struct ColumnView {
  const ValueType* type = nullptr;
  size_t rows = 0;
  const uint8_t* validity =
      nullptr;                       ///< bit `bit_offset + row` is 1 for a value; nullptr: no nulls
  const uint8_t* values = nullptr;   ///< row 0's first byte; bits from `bit_offset` on (boolean);
                                     ///< what `offsets` point into (string, binary)
  const int32_t* offsets = nullptr;  ///< rows + 1 of them: string, binary, list, map
  size_t bit_offset = 0;             ///< of row 0 in `validity` and in a boolean's `values`
  std::vector<ColumnView> children;  ///< struct: a row for each of its own; list: the items, where
                                     ///< `offsets` point to; map: the same with keys and values

  bool IsNull(size_t row) const {
    return validity != nullptr && !BitAt(validity, bit_offset + row);
  }
  /// Of a kind whose width is sizeof(T): int32_t for kInt32 and kDate, …
  template <class T>
  T Value(size_t row) const {
    T value;
    std::memcpy(&value, values + row * sizeof(T), sizeof(T));
    return value;
  }
  bool Boolean(size_t row) const { return BitAt(values, bit_offset + row); }
  /// Of a string or binary column.
  std::string_view Text(size_t row) const {
    return {reinterpret_cast<const char*>(values) + offsets[row],
            static_cast<size_t>(offsets[row + 1] - offsets[row])};
  }
  /// The bytes of a fixed or decimal value.
  std::string_view Fixed(size_t row) const {
    return {reinterpret_cast<const char*>(values) + row * type->width, type->width};
  }

  /// The same rows from `first` on. REQUIRES: first + count <= rows.
  ColumnView Slice(size_t first, size_t count) const;

  static bool BitAt(const uint8_t* bits, size_t at) { return (bits[at / 8] >> (at % 8) & 1) != 0; }
};

/// Rows of one row type. Copies share. Immutable; any thread.
class Batch {
 public:
  /// What a batch is made of; `owner` keeps alive what the views point to.
  struct Storage {
    RowType type;
    size_t rows = 0;
    std::vector<ColumnView> columns;  ///< one for each of the type's
    std::shared_ptr<const void> owner;
    size_t bytes = 0;  ///< held by `owner`, about
  };
  explicit Batch(std::shared_ptr<const Storage> storage) : storage_(std::move(storage)) {}

  const RowType& type() const { return storage_->type; }
  size_t rows() const { return storage_->rows; }
  const ColumnView& column(size_t index) const { return storage_->columns[index]; }
  /// Memory held, about; a slice holds all of what it was cut from.
  size_t bytes() const { return storage_->bytes; }

  /// Shares the memory. REQUIRES: first + count <= rows().
  Batch Slice(size_t first, size_t count) const;

 private:
  std::shared_ptr<const Storage> storage_;
};

/// The rows named, in the order named, repeats allowed. A run of neighbours is a slice, anything
/// else a copy. REQUIRES: each is < batch.rows(). kExhausted: as RowBuilder::Append.
Result<Batch> Select(const Batch& batch, std::span<const uint32_t> rows);

}  // namespace tidemark::columnar
