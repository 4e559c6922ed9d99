/// Which host and path an S3 request goes to.
#pragma once

#include <string>
#include <string_view>

#include "storage/endpoint.h"

namespace tidemark::storage {

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
