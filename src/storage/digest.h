/// SHA-256, HMAC and base64, as signatures of requests need them. All bytes are allowed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidemark::storage {

/// Lower-case hex of the SHA-256 digest.
std::string Sha256Hex(std::string_view bytes);

std::string HexOf(std::string_view bytes);

/// The 32 bytes themselves.
std::string HmacSha256(std::string_view key, std::string_view text);

/// RFC 4648: the alphabet with '+' and '/', padded.
std::string Base64(std::string_view bytes);
/// The one for URLs, with '-' and '_', not padded.
std::string Base64Url(std::string_view bytes);
/// nullopt for what Base64 does not give.
std::optional<std::string> Base64Decoded(std::string_view text);

}  // namespace tidemark::storage
