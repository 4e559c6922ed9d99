#include "storage/gcs_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "storage/bucket_store.h"
#include "storage/gcs_json.h"
#include "storage/token_request.h"

namespace tidemark::storage {

namespace {

constexpr std::string_view kEndpoint = "https://storage.googleapis.com";
constexpr size_t kGcsKeyBytesMax = 1024;
/// Larger ones want several requests.
constexpr uint64_t kGcsPutBytesMax = uint64_t{5} << 30;

bool IsThrottled(std::string_view reason) {
  return reason == "rateLimitExceeded" || reason == "userRateLimitExceeded";
}

std::string_view AdviceFor(int status, std::string_view reason, bool is_anonymous) {
  if (is_anonymous) return "access refused: the bucket is not public, so credentials are needed";
  if (reason == "accountDisabled") return "the account of the bucket or of the user is disabled";
  if (status == 401) return "the token is not accepted; check the clock of this machine too";
  return "access refused: the account must have storage.objects.get and storage.objects.list "
         "(without it a missing object looks refused) and, to write, storage.objects.create";
}

std::string_view TextFor(const HttpAnswer& answer, const GcsErrorText& text, ErrorKind kind,
                         bool is_listing, bool is_anonymous) {
  switch (kind) {
    case ErrorKind::kDenied: return AdviceFor(answer.status, text.reason, is_anonymous);
    case ErrorKind::kNotFound:
      if (is_listing || text.message.contains("bucket does not exist")) return "no such bucket";
      return text.message.starts_with("No such object") ? "no such object"
                                                        : "no such object or bucket";
    case ErrorKind::kConflict: return "the object exists already or is being written";
    case ErrorKind::kUnsupported: return "the server does not support this request";
    case ErrorKind::kUnavailable: return "the server is not able to answer";
    case ErrorKind::kInvalidArgument:
      return answer.status < 400 ? "the bucket answers at another endpoint"
                                 : "the server refuses the request";
    default: return "not an answer of Google Cloud Storage";
  }
}

}  // namespace

/// A request over its tries: asks once for credentials that replace refused ones.
class GcsService::Call final : public BucketCall {
 public:
  Call(const GcsService& service, const BucketRequest& request)
      : service_(service), request_(request) {}

  Result<HttpRequest> NextTry(const Budget& budget) override {
    HttpRequest http;
    http.method = request_.method;
    http.url = service_.endpoint_.scheme + "://" + service_.endpoint_.host +
               service_.endpoint_.path + request_.path + '?' + CanonicalQuery(request_.query);
    http.body = request_.body;
    http.answer_bytes_max = request_.answer_bytes_max;
    for (const auto& [name, value] : request_.headers) http.headers.push_back(name + ": " + value);
    if (service_.chain_ != nullptr) {
      TRY_ASSIGN(credentials_, service_.chain_->Get(budget));
      http.headers.push_back("authorization: Bearer " + credentials_->token);
    }
    return http;
  }

  BucketJudgement Judge(const HttpAnswer& answer, const Budget& budget) override {
    const int status = answer.status;
    if (status >= 200 && status < 300) return {};
    const GcsErrorText text = ParseGcsError(answer.body);
    const bool is_bucket_missing = text.message.contains("bucket does not exist");
    if (status == 404 && request_.method == "DELETE" && !is_bucket_missing) return {};
    const bool is_passing = IsPassing(status) || IsThrottled(text.reason);
    const ErrorKind kind = is_passing ? ErrorKind::kUnavailable : KindOfStatus(status);
    Error error =
        ErrorOf(request_, answer, service_.endpoint_.host,
                {kind, TextFor(answer, text, kind, request_.is_listing, !credentials_), text.reason,
                 fmt::format("account={}", credentials_ ? credentials_->who : "(anonymous)"),
                 text.message});
    if (is_passing) return {BucketVerdict::kRetry, std::move(error), status < 500};
    if (status == 401 && credentials_ && !std::exchange(has_renewed_, true) &&
        service_.chain_->Renew(*credentials_, budget))
      return {.verdict = BucketVerdict::kAtOnce};
    return {.verdict = BucketVerdict::kFailure, .error = std::move(error)};
  }

 private:
  const GcsService& service_;
  const BucketRequest& request_;
  std::optional<GcsCredentials> credentials_;
  bool has_renewed_ = false;
};

GcsService::GcsService(Private, std::string bucket, Endpoint endpoint,
                       std::shared_ptr<CredentialChain<GcsCredentials>> chain)
    : bucket_(std::move(bucket)), endpoint_(std::move(endpoint)), chain_(std::move(chain)) {}

Result<std::unique_ptr<GcsService>> GcsService::Make(std::string bucket,
                                                     const StoreOptions& options,
                                                     const Environment& environment) {
  bool is_anonymous = options.is_anonymous;
  std::string address = options.endpoint;
  if (address.empty()) {
    // As Google's own libraries read it: with or without "http://", and nobody to log in to.
    if (const auto emulator = environment("STORAGE_EMULATOR_HOST")) {
      address = emulator->contains("://") ? *emulator : "http://" + *emulator;
      is_anonymous = true;
    }
  }
  TRY_ASSIGN(Endpoint endpoint,
             ParseEndpoint(address.empty() ? kEndpoint : std::string_view(address)));
  if (!is_anonymous) TRY(CheckTokenIsSafe(endpoint));
  std::shared_ptr<CredentialChain<GcsCredentials>> chain;
  if (!is_anonymous) chain = SharedGcsCredentialChain(environment, options.credentials_file);
  return std::make_unique<GcsService>(Private(), std::move(bucket), std::move(endpoint),
                                      std::move(chain));
}

BucketLimits GcsService::limits() const {
  return {"Google Cloud Storage", kGcsKeyBytesMax, kGcsPutBytesMax, ListOrder::kBytes, true};
}

std::unique_ptr<BucketCall> GcsService::Begin(const BucketRequest& request) {
  return std::make_unique<Call>(*this, request);
}

BucketRequest GcsService::ListPageRequest(const ListQuestion& question,
                                          std::string_view token) const {
  BucketRequest request;
  request.method = "GET";
  request.path = "/storage/v1/b/" + UrlEncoded(bucket_) + "/o";
  request.is_listing = true;
  request.query = {{"fields", "kind,nextPageToken,prefixes,items(name,size,timeCreated)"},
                   {"maxResults", "1000"},
                   {"projection", "noAcl"}};
  if (!question.prefix.empty()) request.query.emplace_back("prefix", question.prefix);
  if (!question.options.is_recursive) request.query.emplace_back("delimiter", "/");
  // From the object itself on; the listing leaves it out.
  const std::string start = question.StartAfter();
  if (!start.empty()) request.query.emplace_back("startOffset", start);
  if (!token.empty()) request.query.emplace_back("pageToken", token);
  return request;
}

Result<ListPage> GcsService::ParsePage(std::string_view body) const {
  return ParseGcsListPage(body);
}

BucketRequest GcsService::ObjectRequest(std::string_view method, const std::string& key) const {
  BucketRequest request;
  request.method = method;
  request.path = "/storage/v1/b/" + UrlEncoded(bucket_) + "/o/" + UrlEncoded(key);
  return request;
}

BucketRequest GcsService::ReadRequest(const std::string& key, const std::string& tag) const {
  BucketRequest request = ObjectRequest("GET", key);
  request.query = {{"alt", "media"}};
  if (!tag.empty()) request.query.emplace_back("ifGenerationMatch", tag);
  // Otherwise what is stored with Content-Encoding: gzip comes unpacked, and ranges of it whole.
  request.headers.emplace_back("accept-encoding", "gzip");
  return request;
}

std::string GcsService::TagOf(const HttpAnswer& answer) const {
  const std::string_view generation = answer.Header("x-goog-generation");
  return ParseNumber(generation) ? std::string(generation) : "";
}

BucketRequest GcsService::StatRequest(const std::string& key) const {
  BucketRequest request = ObjectRequest("GET", key);
  request.query = {{"fields", "kind,name,size,timeCreated"}};
  return request;
}

std::optional<ObjectInfo> GcsService::ParseStat(const HttpAnswer& answer) const {
  return ParseGcsObject(answer.body);
}

Result<BucketRequest> GcsService::PutRequest(const std::string& key, std::string_view bytes,
                                             PutCondition condition) const {
  if (ToValidUtf8(key) != key)
    return Fail(ErrorKind::kInvalidArgument, "a name of an object is UTF-8");
  // A boundary that the bytes do not hold.
  std::string boundary = "tidemark";
  while (bytes.contains(boundary)) boundary += 'x';
  const std::string head = fmt::format(
      "--{0}\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n{1}\r\n"
      "--{0}\r\ncontent-type: application/octet-stream\r\n\r\n",
      boundary, nlohmann::json({{"name", key}}).dump());
  const std::string tail = fmt::format("\r\n--{}--\r\n", boundary);
  auto body = std::make_shared<std::string>();
  body->reserve(head.size() + bytes.size() + tail.size());
  body->append(head).append(bytes).append(tail);
  BucketRequest request;
  request.method = "POST";
  request.path = "/upload/storage/v1/b/" + UrlEncoded(bucket_) + "/o";
  request.query = {{"uploadType", "multipart"}, {"fields", "kind"}};
  // No generation: no object.
  if (condition == PutCondition::kAbsent) request.query.emplace_back("ifGenerationMatch", "0");
  request.headers.emplace_back("content-type", "multipart/related; boundary=" + boundary);
  request.body = *body;
  request.body_owner = std::move(body);
  return request;
}

BucketRequest GcsService::RemoveRequest(const std::string& key) const {
  return ObjectRequest("DELETE", key);
}

Result<std::unique_ptr<ObjectStore>> OpenGcsStore(const StoreUri& uri, const StoreOptions& options,
                                                  const Environment& environment) {
  TRY_ASSIGN(auto service, GcsService::Make(uri.bucket, options, environment));
  return std::make_unique<BucketStore>(uri, std::move(service));
}

}  // namespace tidemark::storage
