/// Texts taken apart and put together again.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace tidemark {

/// Calls `take` with each piece between the characters of `delimiters`, empty ones included.
template <class Take>
void ForEachPart(std::string_view text, std::string_view delimiters, Take take) {
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(delimiters), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Every occurrence of `part` in `text`, from the left, becomes `shown`, which is not looked at
/// again. REQUIRES: `part` is not empty.
inline void ReplaceAll(std::string& text, std::string_view part, std::string_view shown) {
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + shown.size()))
    text.replace(at, part.size(), shown);
}

}  // namespace tidemark
