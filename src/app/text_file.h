/// Small text files that a person wrote: configuration, secrets.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace tidemark::app {

/// The whole file. Anything but a regular file is refused without being waited for. The message
/// names the path and says why, "'a.yaml' cannot be read: Permission denied".
Result<std::string> ReadTextFile(const std::string& path, uint64_t bytes_max);

}  // namespace tidemark::app
