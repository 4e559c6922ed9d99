#include "rules/promql.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/check.h"

namespace tidemark::rules {

namespace {

/// Characters that mean something in a regular expression (RE2).
constexpr std::string_view kRegexSigns = R"(\.+*?()|[]{}^$)";

std::string Literally(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (kRegexSigns.contains(c)) text += '\\';
    text += c;
  }
  return text;
}

}  // namespace

std::string QuotedText(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f || c == '{' || c == '}') {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string PipelineMatcher(const std::vector<std::string>& names) {
  CHECK(!names.empty(), "no pipeline to match");
  if (names.size() == 1) return "pipeline=" + QuotedText(names.front());
  std::string pattern;
  for (const std::string& name : names) {
    if (!pattern.empty()) pattern += '|';
    pattern += Literally(name);
  }
  return "pipeline=~" + QuotedText(pattern);
}

std::string RangeText(Milliseconds duration) {
  constexpr std::array<std::pair<int64_t, std::string_view>, 4> kUnits = {
      {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1'000, "s"}}};
  for (const auto& [unit, name] : kUnits) {
    if (duration.count() % unit == 0) return fmt::format("{}{}", duration.count() / unit, name);
  }
  return fmt::format("{}ms", duration.count());
}

}  // namespace tidemark::rules
