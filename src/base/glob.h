/// Patterns with '*'.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tidemark {

/// Whether the whole of `text` is of the pattern, in which '*' stands for any run of bytes, the
/// empty one too, and `any_one`, where given, for any single byte. Every other byte is itself.
/// Cost: at most the product of both lengths, however many '*' there are.
bool MatchesGlob(std::string_view pattern, std::string_view text,
                 std::optional<char> any_one = std::nullopt);

/// Whether something that has these names is chosen by the patterns of a configuration: one of them
/// is of one of its names, or there is none at all.
bool IsChosen(std::span<const std::string> patterns, std::initializer_list<std::string_view> names);

}  // namespace tidemark
