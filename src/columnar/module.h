/// What the loader and the module agree on.
#pragma once

#include <memory>
#include <string_view>

#include "base/error.h"
#include "columnar/batch_reader.h"
#include "columnar/batch_writer.h"
#include "lake/column_reader.h"

namespace tidemark::columnar {

/// Everything that needs Arrow. Lives until the process ends; any thread.
class Module {
 public:
  virtual ~Module() = default;
  virtual const lake::ColumnReader& column_reader() const = 0;
  /// As the functions of batch_reader.h.
  virtual Result<std::unique_ptr<BatchReader>> OpenSource(std::shared_ptr<const ByteSource> source,
                                                          const RowType& type,
                                                          const ReadOptions& options) const = 0;
  virtual Result<std::unique_ptr<BatchReader>> OpenBytes(std::string_view bytes,
                                                         std::shared_ptr<const void> owner,
                                                         const RowType& type,
                                                         const ReadOptions& options) const = 0;
  /// REQUIRES: format is kParquet or kArrow.
  virtual Result<std::unique_ptr<BatchWriter>> OpenWriter(RowFormat format, const RowType& type,
                                                          ByteSink sink,
                                                          const WriteOptions& options) const = 0;
};

/// The only symbol the module exports; it goes up when something above or in what it includes
/// changes, so that an old module beside a new program is refused instead of misread.
inline constexpr const char* kFactoryName = "tidemark_columnar_2";

/// Never nullptr.
using Factory = const Module* (*)();

}  // namespace tidemark::columnar
