/// Patterns with '*'.
#pragma once

#include <optional>
#include <string_view>

namespace tidemark {

/// Whether the whole of `text` is of the pattern, in which '*' stands for any run of bytes, the
/// empty one too, and `any_one`, where given, for any single byte. Every other byte is itself.
/// Cost: at most the product of both lengths, however many '*' there are.
bool MatchesGlob(std::string_view pattern, std::string_view text,
                 std::optional<char> any_one = std::nullopt);

}  // namespace tidemark
