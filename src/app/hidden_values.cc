#include "app/hidden_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text_parts.h"
#include "storage/store_uri.h"

namespace tidemark::app {

namespace {

constexpr size_t kHiddenBytesMin = 4;
/// Parts of a path or a query are words like "services" and "alerts" beside tokens.
constexpr size_t kTokenBytesMin = 8;
/// Where parsers of URLs, of lists and of Kafka's properties cut.
constexpr std::string_view kDelimiters = "/?&=@:#%,;\"' \t\r\n";

bool IsToken(std::string_view part) {
  const auto is_small = [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '_'; };
  return part.size() >= kTokenBytesMin && !std::ranges::all_of(part, is_small);
}

/// What stands before the host of a URL, and behind it.
struct UrlSecrets {
  std::string_view user;
  std::string_view path_and_query;
};

std::optional<UrlSecrets> SecretsOfUrl(std::string_view value) {
  const size_t scheme = value.find("://");
  if (scheme == std::string_view::npos) return std::nullopt;
  value.remove_prefix(scheme + 3);
  // Of a password with a slash in it, which belongs encoded, the last @ still tells the end.
  const size_t at = value.rfind('@');
  UrlSecrets secrets;
  if (at != std::string_view::npos) {
    secrets.user = value.substr(0, at);
    value.remove_prefix(at + 1);
  }
  secrets.path_and_query = value.substr(std::min(value.find_first_of("/?#"), value.size()));
  return secrets;
}

}  // namespace

void HiddenValues::Add(std::string_view value, std::string_view source) {
  Take(value, source);
  const auto take_all = [&](std::string_view text) {
    ForEachPart(text, kDelimiters, [&](std::string_view part) { Take(part, source); });
    if (const auto decoded = storage::PercentDecoded(text); decoded && *decoded != text)
      ForEachPart(*decoded, kDelimiters, [&](std::string_view part) { Take(part, source); });
  };
  const auto take_tokens = [&](std::string_view text) {
    ForEachPart(text, kDelimiters, [&](std::string_view part) {
      if (IsToken(part)) Take(part, source);
    });
  };
  if (const auto url = SecretsOfUrl(value)) {
    take_all(url->user);
    Take(url->path_and_query, source);
    take_tokens(url->path_and_query);
  } else if (value.starts_with('/')) {
    take_tokens(value);
  } else {
    take_all(value);
  }
}

void HiddenValues::Take(std::string_view text, std::string_view source) {
  if (text.size() < kHiddenBytesMin) return;
  std::string shown = fmt::format("(from {})", source);
  const auto is_there = [&](const Entry& entry) { return entry.value == text; };
  if (std::ranges::any_of(entries_, is_there)) return;
  const auto place =
      std::ranges::upper_bound(entries_, text.size(), std::ranges::greater{},
                               [](const Entry& entry) { return entry.value.size(); });
  entries_.insert(place, {std::string(text), std::move(shown)});
}

std::string HiddenValues::Hide(std::string text) const {
  for (const Entry& entry : entries_) ReplaceAll(text, entry.value, entry.shown);
  return text;
}

Error HiddenValues::Hide(Error error) const {
  error.message = Hide(std::move(error.message));
  return error;
}

void HiddenValues::HideIn(kafka::ProbeResult& result) const {
  if (entries_.empty()) return;
  for (auto& topic : result.topics) topic.fault_message = Hide(std::move(topic.fault_message));
  for (auto& facts : result.partitions) facts.fault_message = Hide(std::move(facts.fault_message));
}

}  // namespace tidemark::app
