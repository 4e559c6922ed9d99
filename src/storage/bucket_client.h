/// Sends requests to services of objects, and tries again as the budget and the server say.
#pragma once

#include <chrono>

#include "base/budget.h"
#include "base/error.h"
#include "storage/bucket_service.h"

namespace tidemark::storage {

/// A success, 416, or an answer about the request's condition; everything else is an Error that
/// names the object. Blocks the caller only, and ends promptly when the budget is stopped or over.
Result<BucketAnswer> SendToBucket(BucketService& service, const BucketRequest& request,
                                  const Budget& budget);

/// The server's Retry-After in whole seconds; zero when it has none that can be read.
std::chrono::milliseconds RetryAfter(const HttpAnswer& answer);

}  // namespace tidemark::storage
