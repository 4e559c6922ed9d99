/// The word that somebody probably meant.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tidemark {

/// The word of `known` that is nearest to `word` by edit distance; nullopt when none is near.
std::optional<std::string> NearestWord(std::string_view word, const std::set<std::string>& known);

}  // namespace tidemark
