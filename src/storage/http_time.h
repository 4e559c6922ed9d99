/// The two spellings of time in answers of object stores.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace tidemark::storage {

/// "2026-11-30T02:58:21.140Z" or without fraction, also "+00:00" for the zone. Whole seconds: other
/// answers about the same object have no more.
std::optional<WallTime> ParseIsoSeconds(std::string_view text);

/// "Mon, 30 Nov 2026 02:58:21 GMT", the only form that HTTP still allows to be sent.
std::optional<WallTime> ParseHttpDate(std::string_view text);
std::string FormatHttpDate(WallTime time);

}  // namespace tidemark::storage
