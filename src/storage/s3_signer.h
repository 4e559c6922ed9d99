/// AWS Signature Version 4: proves that a request comes from the holder of a secret key.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "storage/url_text.h"

namespace tidemark::storage {

struct SigningKey {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;  ///< empty: none

  friend bool operator==(const SigningKey&, const SigningKey&) = default;
};

/// A request as it is signed. Names and values are not encoded yet, except `path`.
struct RequestToSign {
  std::string method;
  std::string host;  ///< with the port unless the default
  std::string path;  ///< encoded, begins with '/'
  QueryParts query;
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case, without host
  std::string payload_hash;                                  ///< Sha256Hex of the body
};

/// The headers to send besides host and those of the request: x-amz-date, x-amz-content-sha256,
/// x-amz-security-token when there is one, authorization.
std::vector<std::pair<std::string, std::string>> SignV4(const RequestToSign& request,
                                                        const SigningKey& key,
                                                        std::string_view region,
                                                        std::string_view service, WallTime now);

}  // namespace tidemark::storage
