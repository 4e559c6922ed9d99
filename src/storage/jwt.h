/// Signed JSON web tokens (RFC 7519), as service accounts prove who they are.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tidemark::storage {

/// "header.claims.signature" with RS256 (RSA, SHA-256). kInvalidArgument for a key that is no
/// private RSA key in PEM; the message repeats nothing of it.
Result<std::string> SignedJwt(std::string_view header_json, std::string_view claims_json,
                              std::string_view private_key_pem);

}  // namespace tidemark::storage
