/// Parquet files as batches of a row type, through Arrow.
#pragma once

#include <memory>
#include <string_view>

#include "columnar/batch_reader.h"

namespace tidemark::columnar {

Result<std::unique_ptr<BatchReader>> OpenParquetBatches(std::shared_ptr<const ByteSource> source,
                                                        const RowType& type,
                                                        const ReadOptions& options);
Result<std::unique_ptr<BatchReader>> OpenParquetBatches(std::string_view bytes,
                                                        std::shared_ptr<const void> owner,
                                                        const RowType& type,
                                                        const ReadOptions& options);

}  // namespace tidemark::columnar
