#include "http/message.h"

#include <charconv>

namespace tidemark::http {

namespace {

/// nullopt for a broken escape. '+' is a blank in a query only.
std::optional<std::string> Decode(std::string_view text, bool is_query) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && is_query) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      unsigned byte = 0;
      const char* begin = text.data() + i + 1;
      const auto [end, error] = std::from_chars(begin, begin + 2, byte, 16);
      if (error != std::errc{} || end != begin + 2) return std::nullopt;
      decoded += static_cast<char>(byte);
      i += 2;
    }
  }
  return decoded;
}

/// The part before `separator`, which is taken off `rest`.
std::string_view TakePart(std::string_view& rest, char separator) {
  const size_t at = rest.find(separator);
  const std::string_view part = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return part;
}

}  // namespace

std::optional<Target> ParseTarget(std::string_view text) {
  text = text.substr(0, text.find('#'));
  if (!text.starts_with('/')) return std::nullopt;
  std::string_view query = text;
  std::string_view path = TakePart(query, '?');
  Target target;
  path.remove_prefix(1);
  while (!path.empty()) {
    auto segment = Decode(TakePart(path, '/'), false);
    if (!segment) return std::nullopt;
    target.segments.push_back(*std::move(segment));
  }
  while (!query.empty()) {
    std::string_view value = TakePart(query, '&');
    const auto name = Decode(TakePart(value, '='), true);
    auto decoded = Decode(value, true);
    if (!name || !decoded) return std::nullopt;
    if (!name->empty()) target.query.insert_or_assign(*name, *std::move(decoded));
  }
  return target;
}

}  // namespace tidemark::http
