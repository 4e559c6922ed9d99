/// Letters of ASCII in one case: for names of protocols, which no locale changes.
#pragma once

#include <string>
#include <string_view>

namespace tidemark {

constexpr char LowerCase(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Bytes that are no letters of ASCII stay as they are.
inline std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = LowerCase(c);
  return lower;
}

}  // namespace tidemark
