/// Azure's "Shared Key" proves that a request comes from the holder of an account key. By
/// https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/url_text.h"

namespace tidemark::storage {

/// A request as it is signed. Names of headers are in lower case; all that are sent are here.
struct AzureRequestToSign {
  std::string method;
  std::string account;
  std::string path;  ///< encoded, as it is sent
  QueryParts query;  ///< not encoded
  std::vector<std::pair<std::string, std::string>> headers;
  size_t body_bytes = 0;
};

/// What is signed, for versions from 2015-02-21 on.
std::string AzureStringToSign(const AzureRequestToSign& request);

/// The value of the header "authorization". `key` are the bytes of the account key.
std::string AzureSharedKey(const AzureRequestToSign& request, std::string_view key);

}  // namespace tidemark::storage
