/// The log's part in a crash.
#pragma once

#include <string_view>

namespace tidemark::internal {

/// Writes what is queued, then `line`, each waiting at most a second for whoever reads stderr. Any
/// thread; before abort().
void WriteLastLine(std::string_view line);

}  // namespace tidemark::internal
