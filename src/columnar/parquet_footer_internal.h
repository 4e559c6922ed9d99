/// The footer of a Parquet file, which nothing in the file protects: read, and held against itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/error.h"

namespace arrow::io {
class RandomAccessFile;
}  // namespace arrow::io

namespace parquet {
class ColumnChunkMetaData;
class FileMetaData;
class ReaderProperties;
}  // namespace parquet

namespace tidemark::columnar {

/// The end of the file as Arrow parses it. kCorrupt: what it says cannot be: its length, rows that
/// do not add up over row groups and columns, columns that are not those of the schema, a chunk
/// that does not lie in the file or that another one lies in. kUnsupported: encrypted. The message
/// is what follows "reason=". Throws what Arrow throws. Cost: one read, two where the footer is
/// over 64 KiB; memory of the columns by the row groups.
Result<std::shared_ptr<parquet::FileMetaData>> ReadFooter(
    arrow::io::RandomAccessFile& file, const parquet::ReaderProperties& properties);

/// Where the pages of a chunk lie.
struct ChunkRange {
  int64_t start = 0;
  int64_t size = 0;  ///< bytes
};

/// nullopt: not between 0 and `end`, both offsets in the file.
std::optional<ChunkRange> RangeOf(const parquet::ColumnChunkMetaData& chunk, int64_t end);

}  // namespace tidemark::columnar
