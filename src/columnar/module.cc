// The one door of libtidemark_columnar.so.
#include "columnar/module.h"

#include <utility>

#include "columnar/arrow_writer_internal.h"
#include "columnar/parquet_batches_internal.h"
#include "columnar/parquet_reader_internal.h"

namespace tidemark::columnar {
namespace {

class ArrowModule final : public Module {
 public:
  const lake::ColumnReader& column_reader() const override { return ParquetColumns(); }
  Result<std::unique_ptr<BatchReader>> OpenSource(std::shared_ptr<const ByteSource> source,
                                                  const RowType& type,
                                                  const ReadOptions& options) const override {
    return OpenParquetBatches(std::move(source), type, options);
  }
  Result<std::unique_ptr<BatchReader>> OpenBytes(std::string_view bytes,
                                                 std::shared_ptr<const void> owner,
                                                 const RowType& type,
                                                 const ReadOptions& options) const override {
    return OpenParquetBatches(bytes, std::move(owner), type, options);
  }
  Result<std::unique_ptr<BatchWriter>> OpenWriter(RowFormat format, const RowType& type,
                                                  ByteSink sink,
                                                  const WriteOptions& options) const override {
    return MakeArrowWriter(format, type, std::move(sink), options);
  }
};

}  // namespace
}  // namespace tidemark::columnar

extern "C" __attribute__((visibility("default"))) const tidemark::columnar::Module*
tidemark_columnar_2() {
  static const tidemark::columnar::ArrowModule module;
  return &module;
}
