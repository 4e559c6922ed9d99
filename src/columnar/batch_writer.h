/// Batches as text and files: the formats of `tidemark read`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "columnar/batch.h"
#include "columnar/row_type.h"

namespace tidemark::columnar {

enum class RowFormat : uint8_t {
  kJsonLines,  ///< one object a line
  kCsv,        ///< RFC 4180: a line of names, CRLF, null is nothing and an empty string is ""
  kParquet,
  kArrow,  ///< IPC stream
};

/// By its word: "jsonl", "csv", "parquet", "arrow".
std::optional<RowFormat> FindRowFormat(std::string_view word);

enum class ParquetCodec : uint8_t { kZstd, kSnappy, kNone };

struct WriteOptions {
  ParquetCodec codec = ParquetCodec::kZstd;
  size_t row_group_rows = 1 << 20;              ///< Parquet
  std::map<std::string, std::string> metadata;  ///< Parquet footer, Arrow schema
};

/// Takes bytes in order; its error ends the writing.
using ByteSink = std::function<Status(std::string_view bytes)>;

/// Writes the visible columns. Single-threaded.
class BatchWriter {
 public:
  virtual ~BatchWriter() = default;
  /// REQUIRES: the batch has the writer's row type. After an error nothing more can be written.
  virtual Status Write(const Batch& batch) = 0;
  /// Writes what ends the format. Without it a Parquet file is not one.
  virtual Status Close() = 0;
};

/// kUnavailable: the module cannot be loaded (Parquet and Arrow only).
Result<std::unique_ptr<BatchWriter>> OpenBatchWriter(RowFormat format, const RowType& type,
                                                     ByteSink sink, WriteOptions options = {});

/// The visible columns of one row as a JSON object, in the form of contracts §5: int and long as
/// numbers, float and double as the shortest number that reads back ("NaN", "Infinity" and
/// "-Infinity" as strings), decimal as a string with its scale, date "YYYY-MM-DD", time
/// "HH:MM:SS.fff", timestamps RFC 3339 with three, six or nine fraction digits and "Z" unless they
/// are local, binary and fixed base64, struct and map as objects, list as an array. Years outside
/// 0000-9999 have a sign and all their digits. Bytes that are not UTF-8 become U+FFFD.
std::string RowJson(const Batch& batch, size_t row);
void AppendRowJson(const Batch& batch, size_t row, std::string& out);
/// One value, as it stands in RowJson; "null" for a null.
void AppendValueJson(const ColumnView& column, size_t row, std::string& out);

}  // namespace tidemark::columnar
