#include "base/utf8.h"

#include <fmt/core.h>

#include <cstdint>

namespace tidemark {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Length of the well-formed sequence at the start of `text`, 0 when there is none. The ranges are
/// those of the table in RFC 3629 §4.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
  };
  const auto is_tail = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return is_tail(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const uint8_t least = first == 0xE0 ? 0xA0 : 0x80;
    const uint8_t most = first == 0xED ? 0x9F : 0xBF;
    return byte(1) >= least && byte(1) <= most && is_tail(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const uint8_t least = first == 0xF0 ? 0x90 : 0x80;
    const uint8_t most = first == 0xF4 ? 0x8F : 0xBF;
    return byte(1) >= least && byte(1) <= most && is_tail(2) && is_tail(3) ? 4 : 0;
  }
  return 0;
}

/// The code point of a well-formed sequence.
uint32_t CodePointOf(std::string_view sequence) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  uint32_t point = byte(0) & (0xFFU >> (sequence.size() + 1));
  for (size_t i = 1; i < sequence.size(); ++i) point = point << 6 | (byte(i) & 0x3FU);
  return point;
}

bool IsControl(uint32_t point) {
  const bool is_control = point < 0x20 || (point >= 0x7F && point <= 0x9F);
  const bool is_separator = point == 0x2028 || point == 0x2029;
  const bool is_direction = point == 0x061C || point == 0x200E || point == 0x200F ||
                            (point >= 0x202A && point <= 0x202E) ||
                            (point >= 0x2066 && point <= 0x2069);
  return is_control || is_separator || is_direction;
}

std::string MadePrintable(std::string_view text, bool keeps_line_feeds) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(sequence.size());
    const uint32_t point = length == 0 ? 0 : CodePointOf(sequence);
    if (length != 0 && (!IsControl(point) || (keeps_line_feeds && point == '\n'))) {
      result += sequence;
    } else if (sequence.size() == 1) {
      result += fmt::format("\\x{:02x}", static_cast<uint8_t>(sequence[0]));
    } else {
      result += fmt::format("\\u{:04x}", point);
    }
  }
  return result;
}

}  // namespace

std::string Printable(std::string_view text) {
  return MadePrintable(text, false);
}

std::string PrintableLines(std::string_view text) {
  return MadePrintable(text, true);
}

std::string ToValidUtf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    result += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

std::string Shortened(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace tidemark
