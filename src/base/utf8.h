/// Text from outside on its way into formats that must be valid UTF-8, and before people's eyes.
#pragma once

#include <string>
#include <string_view>

namespace tidemark {

/// `text` with every byte that is not part of a well-formed UTF-8 sequence (RFC 3629: no overlong
/// forms, no surrogates, at most U+10FFFF) replaced by U+FFFD. Valid text comes back unchanged.
std::string ToValidUtf8(std::string_view text);

/// `text` for a terminal: whatever could drive it, break a line or turn the direction of reading is
/// written out, "\x1b", "\u202e", and so is every byte that is no UTF-8. Printable text comes back
/// unchanged. The result is valid UTF-8 on one line.
std::string Printable(std::string_view text);
/// The same for text of ours that has several lines: line feeds stay.
std::string PrintableLines(std::string_view text);

/// As much of `text` as a sentence can hold: at most `bytes_max` bytes, not cut in the middle of a
/// UTF-8 sequence, and "…" where something is left out.
std::string Shortened(std::string_view text, size_t bytes_max);

}  // namespace tidemark
