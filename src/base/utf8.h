/// Text from outside on its way into formats that must be valid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace tidemark {

/// `text` with every byte that is not part of a well-formed UTF-8 sequence (RFC 3629: no overlong
/// forms, no surrogates, at most U+10FFFF) replaced by U+FFFD. Valid text comes back unchanged.
std::string ToValidUtf8(std::string_view text);

}  // namespace tidemark
