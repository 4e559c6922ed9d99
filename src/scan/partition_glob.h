/// Patterns over partition paths.
#pragma once

#include <string_view>

namespace tidemark::scan {

/// Whether the whole of `text` matches: '*' stands for any text, slashes included, '?' for one
/// byte, everything else for itself.
bool MatchesGlob(std::string_view glob, std::string_view text);

}  // namespace tidemark::scan
