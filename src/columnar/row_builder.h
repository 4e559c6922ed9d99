/// Building batches row by row, from encoded records and from rows of other batches.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/error.h"
#include "columnar/batch.h"
#include "columnar/record_decoder.h"
#include "columnar/row_type.h"

namespace tidemark::columnar {

/// One cell's source: a row of a batch of the builder's row type, or null.
struct CellSource {
  const Batch* batch = nullptr;  ///< nullptr: null
  size_t row = 0;
};

/// Single-threaded. After an error the rows are those before the call. kExhausted from each Append:
/// a string, binary or nested column would pass 2^31 - 1 bytes or items; Finish and go on.
class RowBuilder {
 public:
  explicit RowBuilder(RowType type);
  ~RowBuilder();
  RowBuilder(RowBuilder&&) noexcept;
  RowBuilder& operator=(RowBuilder&&) noexcept;

  const RowType& type() const;
  size_t rows() const;
  /// Memory that the rows take, about.
  size_t bytes() const;

  /// Appends the record whose first byte is the first of `record`; reading ends behind the last
  /// field wanted. `offset`: of that byte, for messages. REQUIRES: decoder.type() is this one's.
  /// kCorrupt: damaged bytes, with their offset. kUnsupported: a value that does not fit, as
  /// RecordDecoder says, with column and offset.
  Status Append(const RecordDecoder& decoder, std::string_view record, uint64_t offset = 0);

  /// Appends `count` rows from `first` on; a run costs little more than the copying of its bytes.
  /// REQUIRES: the batch has this row type, and those rows.
  Status Append(const Batch& batch, size_t first, size_t count);
  /// Appends the rows named, in that order.
  Status Append(const Batch& batch, std::span<const uint32_t> rows);

  /// Appends one row whose columns come from several places (partial updates). REQUIRES: one source
  /// for each column, as Append.
  Status AppendCells(std::span<const CellSource> cells);

  /// The rows as a batch; the builder is empty again.
  Batch Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::columnar
