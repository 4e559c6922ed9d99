/// What an S3 answer other than success means, and what the user should check.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "storage/bucket_service.h"
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

/// The Error of an answer that is no success. Never holds a secret or a signature. `host` was asked
/// with `access_key_id`.
Error S3ErrorOf(const HttpAnswer& answer, const S3ErrorText& text, const BucketRequest& request,
                std::string_view host, std::string_view access_key_id);

}  // namespace tidemark::storage
