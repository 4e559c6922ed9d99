/// Reading a few columns of a Parquet file without knowing Arrow. The implementation lives in
/// columnar/, which is loaded on first use; formats take it as an interface.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tidemark::lake {

class ColumnReader {
 public:
  virtual ~ColumnReader() = default;

  /// One row of the asked columns, in the order asked; nullopt is SQL NULL. Integers come as
  /// decimal text. The views are valid during the call only.
  using RowSink = std::function<Status(std::span<const std::optional<std::string_view>> row)>;

  /// Hands every row of the Parquet file `bytes` to `sink`, in file order, and stops at its first
  /// error, which it returns. String, binary and integer columns only. kCorrupt: not a readable
  /// Parquet file. kUnsupported: a column is missing or of another type (named). Any thread.
  virtual Status ReadRows(std::string_view bytes, std::span<const std::string> columns,
                          const RowSink& sink) const = 0;
};

/// Gives the reader, loading it on first use; kUnavailable when the module cannot be loaded (the
/// message says from where).
using ColumnReaderSource = std::function<Result<const ColumnReader*>()>;

}  // namespace tidemark::lake
