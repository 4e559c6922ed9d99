/// Parquet files and Arrow IPC streams out of batches.
#pragma once

#include <memory>

#include "columnar/batch_writer.h"

namespace tidemark::columnar {

/// REQUIRES: format is kParquet or kArrow.
Result<std::unique_ptr<BatchWriter>> MakeArrowWriter(RowFormat format, const RowType& type,
                                                     ByteSink sink, const WriteOptions& options);

}  // namespace tidemark::columnar
