/// Percent-encoding of paths and queries.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::storage {

/// RFC 3986: every byte but letters, digits and "-_.~" becomes %XX in upper case. `kept` are bytes
/// that stay as well ("/" in a path).
std::string UrlEncoded(std::string_view text, std::string_view kept = "");

/// Names and values of a query, not encoded yet, in any order.
using QueryParts = std::vector<std::pair<std::string, std::string>>;

/// "a=1&b=x%20y": encoded and sorted, as it is sent, and as AWS wants it signed.
std::string CanonicalQuery(const QueryParts& query);

}  // namespace tidemark::storage
