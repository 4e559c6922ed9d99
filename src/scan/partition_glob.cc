#include "scan/partition_glob.h"

#include <cstddef>

namespace tidemark::scan {

bool MatchesGlob(std::string_view glob, std::string_view text) {
  size_t at = 0;
  size_t in_text = 0;
  size_t star = std::string_view::npos;  // the last one met, and where its text begins
  size_t star_text = 0;
  while (in_text < text.size()) {
    if (at < glob.size() && glob[at] == '*') {
      star = at++;
      star_text = in_text;
    } else if (at < glob.size() && (glob[at] == '?' || glob[at] == text[in_text])) {
      ++at;
      ++in_text;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_text = ++star_text;
    } else {
      return false;
    }
  }
  while (at < glob.size() && glob[at] == '*') ++at;
  return at == glob.size();
}

}  // namespace tidemark::scan
