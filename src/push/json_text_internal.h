/// Pieces of JSON for the formats that are written piece by piece.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::push {

/// A JSON string with its quotes; bytes that are no UTF-8 become U+FFFD.
std::string JsonString(std::string_view text);

}  // namespace tidemark::push
