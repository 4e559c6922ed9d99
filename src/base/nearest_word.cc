#include "base/nearest_word.h"

#include <algorithm>
#include <vector>

namespace tidemark {

namespace {

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> best(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        best[i][j] = i + j;
        continue;
      }
      const size_t replaced = best[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      best[i][j] = std::min({best[i - 1][j] + 1, best[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        best[i][j] = std::min(best[i][j], best[i - 2][j - 2] + 1);
      }
    }
  }
  return best[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> NearestWord(std::string_view word, const std::set<std::string>& known) {
  // Longer words are no misspelling of anything, and comparing them would cost their square.
  constexpr size_t kWordSizeMax = 64;
  if (word.size() > kWordSizeMax) return std::nullopt;
  const std::string* best = nullptr;
  size_t best_distance = std::max<size_t>(2, word.size() / 2);
  for (const std::string& candidate : known) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < best_distance || (distance == best_distance && best == nullptr)) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string DidYouMean(std::string_view word, const std::set<std::string>& known) {
  const auto nearest = NearestWord(word, known);
  return nearest ? ", did you mean '" + *nearest + "'?" : "";
}

}  // namespace tidemark
