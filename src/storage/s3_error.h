/// What an S3 answer other than success means, and what the user should check.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/error.h"
#include "storage/http_client.h"
#include "storage/s3_xml.h"

namespace tidemark::storage {

/// What the next step is after an answer.
enum class S3Verdict {
  kSuccess,
  kRetry,             ///< busy or broken for the moment
  kWrongRegion,       ///< S3Region() says where to ask
  kStaleCredentials,  ///< expired or replaced: the places may hold newer ones
  kFailure,
};

S3Verdict JudgeS3Answer(const HttpAnswer& answer, const S3ErrorText& text);

/// The region that the answer names, or empty.
std::string S3Region(const HttpAnswer& answer, const S3ErrorText& text);

/// Whether a request with this answer certainly changed nothing.
bool IsCertainlyUndone(const HttpAnswer& answer, const S3ErrorText& text);

/// The server's Retry-After in whole seconds; zero when it has none that can be read.
std::chrono::milliseconds RetryAfter(const HttpAnswer& answer);

/// What an error message may tell about the request.
struct S3RequestContext {
  std::string name;           ///< the object as the user would write it
  std::string method;         ///< "GET"
  std::string host;           ///< asked host
  std::string access_key_id;  ///< empty when anonymous
};

/// The Error of an answer that is no success. Never holds a secret or a signature.
Error S3ErrorOf(const HttpAnswer& answer, const S3ErrorText& text, const S3RequestContext& context);

}  // namespace tidemark::storage
