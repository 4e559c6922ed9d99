/// Environment variables as a value, so that tests own them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tidemark::storage {

/// The value of a variable; nullopt when it is unset or empty. Any thread.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// This process' own.
Environment ProcessEnvironment();

/// What these variables hold and `more`, as a digest: it is a key of tables in memory, and they may
/// be secrets.
std::string DigestOf(const Environment& environment, std::span<const char* const> names,
                     std::string_view more);

}  // namespace tidemark::storage
