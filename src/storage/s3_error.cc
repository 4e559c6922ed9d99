#include "storage/s3_error.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::storage {

namespace {

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// What to check when access is refused.
std::string_view AdviceFor(std::string_view code) {
  if (code == "RequestTimeTooSkewed")
    return "RequestTimeTooSkewed: the clock of this machine is off by more than 15 minutes; set it";
  if (code == "InvalidAccessKeyId") return "the server does not know the access key id";
  if (code == "SignatureDoesNotMatch")
    return "the secret does not belong to the access key id (or a proxy changed the request)";
  if (IsOneOf(code, {"ExpiredToken", "ExpiredTokenException"}))
    return "the temporary credentials have expired; get new ones";
  if (IsOneOf(code, {"InvalidToken", "TokenRefreshRequired", "InvalidClientTokenId"}))
    return "the session token is not valid for the access key id; check AWS_SESSION_TOKEN";
  if (code == "AllAccessDisabled") return "all access to the bucket is disabled";
  return "access refused: the policies of the user and of the bucket must allow s3:GetObject, "
         "s3:ListBucket (without it a missing object looks refused) and, to write, s3:PutObject";
}

ErrorKind KindOf(int status, std::string_view code) {
  if (IsOneOf(code,
              {"ExpiredToken", "ExpiredTokenException", "InvalidToken", "TokenRefreshRequired",
               "InvalidAccessKeyId", "SignatureDoesNotMatch", "AuthorizationHeaderMalformed",
               "InvalidClientTokenId", "RequestTimeTooSkewed"}))
    return ErrorKind::kDenied;
  return KindOfStatus(status);
}

std::string_view TextFor(const HttpAnswer& answer, const S3ErrorText& text, ErrorKind kind,
                         std::string_view method) {
  if (answer.status >= 300 && answer.status < 400)
    return "the bucket answers at another endpoint; set the region or the endpoint";
  if (text.code == "NoSuchBucket") return "no such bucket";
  if (text.code == "NoSuchKey") return "no such object";
  if (text.code == "InvalidObjectState")
    return "the object is archived; restore it from its storage class first";
  switch (kind) {
    case ErrorKind::kDenied: return AdviceFor(text.code);
    case ErrorKind::kNotFound: return "no such object or bucket";
    case ErrorKind::kConflict: return "the object exists already or is being written";
    case ErrorKind::kUnsupported: return "the server does not support this request";
    case ErrorKind::kUnavailable: return "the server is not able to answer";
    case ErrorKind::kInvalidArgument:
      // An answer to HEAD has no text that could say why.
      return method == "HEAD" ? "the server refuses the request: check credentials and region"
                              : "the server refuses the request";
    default: return "not an answer of S3";
  }
}

}  // namespace

S3Verdict JudgeS3Answer(const HttpAnswer& answer, const S3ErrorText& text) {
  const int status = answer.status;
  if (status >= 200 && status < 300) return S3Verdict::kSuccess;
  if (IsOneOf(text.code, {"ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId",
                          "InvalidToken", "TokenRefreshRequired"}))
    return S3Verdict::kStaleCredentials;
  if (IsOneOf(text.code, {"SlowDown", "RequestTimeout", "InternalError", "ServiceUnavailable",
                          "ConditionalRequestConflict", "OperationAborted", "Throttling",
                          "ThrottlingException", "RequestLimitExceeded"}))
    return S3Verdict::kRetry;
  // 409 to a write without a code: another conditional write is under way.
  if (status == 409 || IsPassing(status)) return S3Verdict::kRetry;
  const bool may_be_elsewhere = (status >= 300 && status < 400 && status != 304) || status == 400;
  if (may_be_elsewhere && !S3Region(answer, text).empty()) return S3Verdict::kWrongRegion;
  return S3Verdict::kFailure;
}

std::string S3Region(const HttpAnswer& answer, const S3ErrorText& text) {
  const std::string_view header = answer.Header("x-amz-bucket-region");
  return header.empty() ? text.region : std::string(header);
}

bool IsCertainlyUndone(const HttpAnswer& answer, const S3ErrorText& text) {
  if (answer.status < 500) return true;
  return IsOneOf(text.code, {"SlowDown", "ServiceUnavailable"});
}

Error S3ErrorOf(const HttpAnswer& answer, const S3ErrorText& text, const BucketRequest& request,
                std::string_view host, std::string_view access_key_id) {
  const ErrorKind kind = KindOf(answer.status, text.code);
  // The server's text helps where ours is general; a refused signature's repeats the signed
  // request.
  return ErrorOf(request, answer, host,
                 {kind, TextFor(answer, text, kind, request.method), text.code,
                  fmt::format("access_key_id={}", access_key_id),
                  text.code == "SignatureDoesNotMatch" ? "" : text.message});
}

}  // namespace tidemark::storage
