/// Which host and path an S3 request goes to.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tidemark::storage {

/// A service address without its object: "http://127.0.0.1:9000" or "https://gateway/s3".
struct Endpoint {
  std::string scheme;  ///< "http" or "https"
  std::string host;    ///< lower case, with the port unless it is the scheme's default
  std::string path;    ///< "" or "/base", encoded

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// kInvalidArgument for anything but scheme, host, port and path; credentials in it are not
/// repeated in the message. Without a scheme https is taken.
Result<Endpoint> ParseEndpoint(std::string_view text);

/// true for what AWS uses in names of regions; others must not become part of a host name.
bool IsRegionName(std::string_view region);

/// AWS' own: "https://s3.eu-west-1.amazonaws.com".
Endpoint AwsEndpoint(std::string_view service, std::string_view region);

/// Where a bucket answers: "https://bucket.s3.eu-west-1.amazonaws.com" (virtual-host style) or
/// "http://127.0.0.1:9000/bucket" (path style).
Endpoint BucketEndpoint(const Endpoint& service, std::string_view bucket, bool is_path_style);

/// Whether the bucket can be the first label of a host name that a wildcard certificate covers.
bool FitsVirtualHost(std::string_view bucket, const Endpoint& service);

}  // namespace tidemark::storage
