/// Pages of gzip unpacked by libdeflate: Arrow's zlib takes more than twice the time, which is a
/// third of reading a table.
#pragma once

#include <memory>

namespace arrow::io {
class RandomAccessFile;
}  // namespace arrow::io

namespace parquet {
class FileMetaData;
class ParquetFileReader;
class ReaderProperties;
}  // namespace parquet

namespace tidemark::columnar {

/// A reader of the file, of which `footer` is the footer, that may not pre-buffer. A chunk that is
/// not gzip, or is encrypted, is Arrow's own business, as is every page that libdeflate refuses:
/// what is read, and which damage is reported, are the same. Throws what Arrow throws.
std::unique_ptr<parquet::ParquetFileReader> OpenWithFastGzip(
    std::shared_ptr<arrow::io::RandomAccessFile> source,
    const parquet::ReaderProperties& properties, std::shared_ptr<parquet::FileMetaData> footer);

}  // namespace tidemark::columnar
