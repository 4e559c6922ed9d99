#include "base/glob.h"

#include <algorithm>
#include <cstddef>

namespace tidemark {

bool MatchesGlob(std::string_view pattern, std::string_view text, std::optional<char> any_one) {
  size_t at = 0;
  size_t in_text = 0;
  size_t star = std::string_view::npos;  // the last one met, and where its text begins
  size_t star_text = 0;
  while (in_text < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      star_text = in_text;
    } else if (at < pattern.size() && (pattern[at] == any_one || pattern[at] == text[in_text])) {
      ++at;
      ++in_text;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_text = ++star_text;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

bool IsChosen(std::span<const std::string> patterns,
              std::initializer_list<std::string_view> names) {
  const auto fits = [&](const std::string& pattern) {
    return std::ranges::any_of(names, [&](auto name) { return MatchesGlob(pattern, name); });
  };
  return patterns.empty() || std::ranges::any_of(patterns, fits);
}

}  // namespace tidemark
