/// Reading Parquet into batches of a row type.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "columnar/batch.h"
#include "columnar/record_decoder.h"
#include "columnar/row_type.h"

namespace tidemark::columnar {

/// The bytes of one file, wherever they are.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  /// Fills `into` from `offset` on. REQUIRES: offset + into.size() <= size(). Called from several
  /// threads at once when ReadOptions::threads > 1.
  virtual Status ReadAt(uint64_t offset, std::span<char> into) const = 0;
};

struct ReadOptions {
  std::string name;             ///< of the file, for messages
  size_t batch_rows = 1 << 15;  ///< at most this many rows a batch; batches may be shorter
  int threads = 1;              ///< above 1: columns are decoded side by side, in a pool that all
                                ///< readers share (one thread a core)
  DecodeOptions columns;
  bool is_remote =
      true;  ///< of a ByteSource: pieces close to each other are asked for as one, ahead
  uint64_t memory_max = uint64_t{1} << 30;  ///< what this reader may hold: pages, dictionaries and
                                            ///< the batches it gave out; kExhausted beyond
};

/// One reading of one file, in file order. Row groups stream: no more than one is held, packed, in
/// the columns wanted. Single-threaded; several readers may run at once.
class BatchReader {
 public:
  virtual ~BatchReader() = default;

  /// The next rows, at least one; nullopt behind the last. kCorrupt: damaged. kUnsupported: a value
  /// that does not fit the row type, as RecordDecoder says. Both name file and column. After an
  /// error always that error.
  virtual Result<std::optional<Batch>> Next() = 0;

  virtual const RowType& type() const = 0;
  /// Of the whole file, as its footer says.
  virtual uint64_t rows() const = 0;
  /// Whether the file has the column: false for one that got its default or null.
  virtual bool HasColumn(size_t column) const = 0;
  /// An entry of the footer: "parquet.avro.schema", "hoodie_min_record_key", …
  virtual std::optional<std::string> Metadata(std::string_view key) const = 0;
};

/// The schema that parquet-avro and Hudi leave in the footer; nullopt when this writer did not.
std::optional<std::string> FileSchemaJson(const BatchReader& reader);

/// Opens a file in the local file system. Columns are matched by name (not by case) and converted
/// as RecordDecoder says; a Parquet type may also be the unannotated form of the row type's.
/// kNotFound; kCorrupt: not a readable Parquet file; kUnsupported: a column cannot be read as the
/// row type's (named); kUnavailable: the module cannot be loaded (loader.h).
Result<std::unique_ptr<BatchReader>> OpenParquetFile(const std::string& path, const RowType& type,
                                                     ReadOptions options = {});
/// The same of a file in memory, which must outlive the reader and its batches unless `owner` keeps
/// it alive.
Result<std::unique_ptr<BatchReader>> OpenParquetBytes(std::string_view bytes,
                                                      std::shared_ptr<const void> owner,
                                                      const RowType& type,
                                                      ReadOptions options = {});
/// The same of a file read in pieces, of which only those of the columns wanted are asked for.
Result<std::unique_ptr<BatchReader>> OpenParquetSource(std::shared_ptr<const ByteSource> source,
                                                       const RowType& type,
                                                       ReadOptions options = {});

}  // namespace tidemark::columnar
