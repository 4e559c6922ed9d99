/// The XML answers of S3 and STS, as values.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "storage/bucket_listing.h"

namespace tidemark::storage {

/// One page of ListObjectsV2. kCorrupt for what is no ListBucketResult, lacks IsTruncated, is
/// truncated without a token (or the reverse says so), counts more entries than it holds, or has an
/// entry without key, size or time.
Result<ListPage> ParseS3ListPage(std::string_view xml);

struct S3ErrorText {
  std::string code;     ///< "NoSuchKey"; empty when the body is no S3 error
  std::string message;  ///< one line, shortened
  std::string region;   ///< where the bucket is, when the error says so
};

/// Never fails: what is no error document gives empty fields.
S3ErrorText ParseS3Error(std::string_view xml);

/// The credentials of an AssumeRole or AssumeRoleWithWebIdentity answer. kCorrupt when one is
/// missing; the message repeats nothing of the answer.
struct StsCredentials {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;
  std::string expiration;  ///< "2026-11-30T12:00:00Z"
};
Result<StsCredentials> ParseStsCredentials(std::string_view xml);

}  // namespace tidemark::storage
