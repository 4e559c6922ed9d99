/// Whole files of settings and tokens.
#pragma once

#include <string>

#include "base/error.h"

namespace tidemark::storage {

inline constexpr size_t kSmallFileBytesMax = size_t{1} << 20;

/// Errors as of the local store; kExhausted when longer than kSmallFileBytesMax. Messages name the
/// file, never its text.
Result<std::string> ReadSmallFile(const std::string& path);

}  // namespace tidemark::storage
