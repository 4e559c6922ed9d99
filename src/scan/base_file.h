/// Base files of slices as batches.
#pragma once

#include <memory>

#include "base/error.h"
#include "columnar/batch_reader.h"
#include "lake/hudi/file_slices.h"
#include "scan/scan_table.h"
#include "storage/object_store.h"

namespace tidemark::scan {

/// Opens a base file; only the columns of the table's row type are read. `table` outlives the
/// reader. kUnsupported: it is no Parquet file, or a skeleton of a bootstrapped table; else as
/// columnar::OpenParquetSource.
Result<std::unique_ptr<columnar::BatchReader>> OpenBaseFile(const ScanTable& table,
                                                            const lake::hudi::BaseFile& file);

/// The bytes of an object of a store, read in ranges. Borrows the store.
std::shared_ptr<const columnar::ByteSource> ObjectSource(const storage::ObjectStore& store,
                                                         std::string key, uint64_t size,
                                                         Budget budget);

}  // namespace tidemark::scan
