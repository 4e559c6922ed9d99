/// Debezium's placeholder for a value that it was not sent.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "columnar/batch.h"

namespace tidemark::scan {

/// Rows, ascending, that hold `value` in a string or binary column that is shown.
std::vector<uint32_t> RowsWithValue(const columnar::Batch& batch, std::string_view value);

}  // namespace tidemark::scan
