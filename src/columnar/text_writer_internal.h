/// The writers that need no Arrow.
#pragma once

#include <memory>

#include "columnar/batch_writer.h"

namespace tidemark::columnar {

/// REQUIRES: format is kJsonLines or kCsv.
std::unique_ptr<BatchWriter> MakeTextWriter(RowFormat format, const RowType& type, ByteSink sink);

}  // namespace tidemark::columnar
