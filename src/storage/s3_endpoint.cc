#include "storage/s3_endpoint.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/url_text.h"

namespace tidemark::storage {

namespace {

constexpr size_t kRegionBytesMax = 64;

bool IsLowerOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace

bool IsRegionName(std::string_view region) {
  return !region.empty() && region.size() <= kRegionBytesMax &&
         std::ranges::all_of(region, [](char c) { return IsLowerOrDigit(c) || c == '-'; });
}

Endpoint AwsEndpoint(std::string_view service, std::string_view region) {
  const std::string_view suffix = region.starts_with("cn-") ? ".cn" : "";
  return {"https", fmt::format("{}.{}.amazonaws.com{}", service, region, suffix), ""};
}

Endpoint BucketEndpoint(const Endpoint& service, std::string_view bucket, bool is_path_style) {
  if (is_path_style) return {service.scheme, service.host, service.path + '/' + UrlEncoded(bucket)};
  return {service.scheme, fmt::format("{}.{}", bucket, service.host), service.path};
}

bool FitsVirtualHost(std::string_view bucket, const Endpoint& service) {
  return std::ranges::all_of(bucket, [&](char c) {
    return IsLowerOrDigit(c) || c == '-' || (c == '.' && service.scheme == "http");
  });
}

}  // namespace tidemark::storage
