/// The word that somebody probably meant.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tidemark {

/// The word of `known` that is nearest to `word` by edit distance; nullopt when none is near.
std::optional<std::string> NearestWord(std::string_view word, const std::set<std::string>& known);

/// The end of a message about `word`: ", did you mean 'orders'?"; empty when none is near.
std::string DidYouMean(std::string_view word, const std::set<std::string>& known);

}  // namespace tidemark
