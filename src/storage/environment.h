/// Environment variables as a value, so that tests own them.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace tidemark::storage {

/// The value of a variable; nullopt when it is unset or empty. Any thread.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// This process' own.
Environment ProcessEnvironment();

}  // namespace tidemark::storage
