/// The memory of a pipeline as JSON, for a database column.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "freshness/memory.h"

namespace tidemark::state {

/// One JSON object. Bytes that are no UTF-8 are replaced.
std::string FormatMemory(const freshness::PipelineMemory& memory);

/// kCorrupt for what FormatMemory did not write, names the place. Unknown keys are passed over: a
/// newer release may have written them.
Result<freshness::PipelineMemory> ParseMemory(std::string_view text);

}  // namespace tidemark::state
