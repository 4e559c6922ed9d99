#include "storage/endpoint.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/letter_case.h"
#include "storage/url_text.h"

namespace tidemark::storage {

namespace {

constexpr size_t kHostBytesMax = 255;

bool IsLowerOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool IsHost(std::string_view host) {
  if (host.empty() || host.size() > kHostBytesMax) return false;
  // "[::1]:9000" or "name:9000"; curl judges the rest.
  return std::ranges::all_of(host, [](char c) {
    return IsLowerOrDigit(c) || c == '-' || c == '.' || c == '_' || c == ':' || c == '[' ||
           c == ']';
  });
}

}  // namespace

Result<Endpoint> ParseEndpoint(std::string_view text) {
  Endpoint endpoint;
  endpoint.scheme = "https";
  std::string_view rest = text;
  if (const size_t colon = rest.find("://"); colon != std::string_view::npos) {
    endpoint.scheme = rest.substr(0, colon);
    rest.remove_prefix(colon + 3);
  }
  const size_t slash = rest.find('/');
  std::string_view path = slash == std::string_view::npos ? "" : rest.substr(slash);
  while (path.ends_with('/')) path.remove_suffix(1);
  endpoint.path = UrlEncoded(path, "/%");
  endpoint.host = LowerCase(rest.substr(0, slash));
  const std::string_view default_port = endpoint.scheme == "http" ? ":80" : ":443";
  if (endpoint.host.ends_with(default_port))
    endpoint.host.resize(endpoint.host.size() - default_port.size());
  const bool is_scheme_known = endpoint.scheme == "http" || endpoint.scheme == "https";
  if (!is_scheme_known || !IsHost(endpoint.host) || text.find_first_of("?#") != text.npos) {
    const std::string_view shown = text.contains('@') ? "(holds credentials)" : text;
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("not an endpoint (write http://host:port or https://host): "
                            "endpoint='{}'",
                            shown));
  }
  return endpoint;
}

}  // namespace tidemark::storage
