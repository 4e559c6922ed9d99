/// Base64 in the two alphabets that Kafka and its logins use.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidemark::kafka::wire {

/// With padding.
std::string Base64Of(std::string_view bytes);
/// The URL's alphabet, without padding.
std::string UrlBase64Of(std::string_view bytes);
/// nullopt when it is not padded base64.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace tidemark::kafka::wire
