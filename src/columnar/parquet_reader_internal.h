/// Values of a few columns, one row at a time.
#pragma once

#include "lake/column_reader.h"

namespace tidemark::columnar {

/// Lives until the process ends.
const lake::ColumnReader& ParquetColumns();

}  // namespace tidemark::columnar
