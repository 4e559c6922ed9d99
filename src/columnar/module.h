/// What the loader and the module agree on.
#pragma once

#include "lake/column_reader.h"

namespace tidemark::columnar {

/// The only symbol the module exports; it goes up when lake/column_reader.h changes, so that an old
/// module beside a new program is refused instead of misread.
inline constexpr const char* kFactoryName = "tidemark_column_reader_1";

/// Never nullptr; the reader lives as long as the module.
using Factory = const lake::ColumnReader* (*)();

}  // namespace tidemark::columnar
