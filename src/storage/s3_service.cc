#include "storage/s3_service.h"

#include <fmt/format.h>

#include "storage/aws_profile.h"
#include "storage/aws_session.h"
#include "storage/bucket_store.h"
#include "storage/digest.h"
#include "storage/s3_error.h"
#include "storage/s3_signer.h"
#include "storage/s3_xml.h"

namespace tidemark::storage {

namespace {

constexpr size_t kS3KeyBytesMax = 1024;
constexpr uint64_t kS3PutBytesMax = uint64_t{5} << 30;

BucketRequest ObjectRequest(std::string_view method, const std::string& key) {
  BucketRequest request;
  request.method = method;
  request.path = '/' + UrlEncoded(key, "/");
  return request;
}

}  // namespace

S3Service::S3Service(Private, std::string bucket, const StoreOptions& options,
                     Environment environment)
    : bucket_(std::move(bucket)),
      is_anonymous_(options.is_anonymous),
      is_path_style_(options.is_path_style),
      environment_(std::move(environment)),
      region_(options.region) {}

Result<std::unique_ptr<S3Service>> S3Service::Make(std::string bucket, const StoreOptions& options,
                                                   Environment environment) {
  auto service =
      std::make_unique<S3Service>(Private(), std::move(bucket), options, std::move(environment));
  std::string endpoint = options.endpoint;
  if (endpoint.empty()) endpoint = AwsEndpointOfEnvironment("s3", service->environment_);
  if (!endpoint.empty()) {
    TRY_ASSIGN(service->service_, ParseEndpoint(endpoint));
  }
  if (service->region_.empty()) service->region_ = AwsRegionOfEnvironment(service->environment_);
  if (!service->region_.empty() && !IsRegionName(service->region_)) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("not a name of a region: region='{}'", service->region_));
  }
  return service;
}

S3Service::Place S3Service::PlaceIn(std::string region) const {
  const Endpoint service = service_ ? *service_ : AwsEndpoint("s3", region);
  const bool is_path_style =
      is_path_style_.value_or(service_.has_value() || !FitsVirtualHost(bucket_, service));
  return {std::move(region), BucketEndpoint(service, bucket_, is_path_style)};
}

Result<S3Service::Place> S3Service::CurrentPlace() {
  const std::scoped_lock lock(mutex_);
  if (region_.empty()) region_ = AwsRegionOfProfile(environment_).value_or("");
  if (region_.empty()) region_ = kAwsDefaultRegion;
  if (!IsRegionName(region_)) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("not a name of a region: region='{}' from=profile", region_));
  }
  return PlaceIn(region_);
}

void S3Service::MoveTo(const std::string& region) {
  const std::scoped_lock lock(mutex_);
  region_ = region;
}

std::shared_ptr<AwsCredentialChain> S3Service::Chain() {
  if (is_anonymous_) return nullptr;
  const std::scoped_lock lock(mutex_);
  if (chain_ == nullptr) chain_ = SharedAwsCredentialChain(environment_, region_);
  return chain_;
}

/// A request over its tries: moves once to the region that a server names, and looks once for
/// credentials that replace refused ones.
class S3Service::Call final : public BucketCall {
 public:
  Call(S3Service& service, const BucketRequest& request) : service_(service), request_(request) {}

  Result<HttpRequest> NextTry(const Budget& budget) override {
    TRY_ASSIGN(place_, service_.CurrentPlace());
    chain_ = service_.Chain();
    credentials_.reset();
    if (chain_ != nullptr) {
      TRY_ASSIGN(credentials_, chain_->Get(budget));
    }
    return Signed();
  }

  BucketJudgement Judge(const HttpAnswer& answer, const Budget& budget) override {
    const S3ErrorText text = answer.status >= 300 ? ParseS3Error(answer.body) : S3ErrorText{};
    const S3Verdict verdict = JudgeS3Answer(answer, text);
    if (verdict == S3Verdict::kSuccess) return {};
    Error error =
        S3ErrorOf(answer, text, request_, place_.endpoint.host,
                  credentials_ ? credentials_->key.access_key_id : std::string("(anonymous)"));
    if (verdict == S3Verdict::kRetry)
      return {BucketVerdict::kRetry, std::move(error), IsCertainlyUndone(answer, text)};
    if (verdict == S3Verdict::kWrongRegion && !has_moved_) {
      const std::string region = S3Region(answer, text);
      if (region != place_.region && IsRegionName(region)) {
        service_.MoveTo(region);
        has_moved_ = true;
        return {.verdict = BucketVerdict::kAtOnce};
      }
    }
    if (verdict == S3Verdict::kStaleCredentials && credentials_ &&
        !std::exchange(has_renewed_, true) && chain_->Renew(*credentials_, budget))
      return {.verdict = BucketVerdict::kAtOnce};
    return {.verdict = BucketVerdict::kFailure, .error = std::move(error)};
  }

 private:
  HttpRequest Signed() const {
    std::string path = place_.endpoint.path + request_.path;
    if (path.empty()) path = "/";
    const std::string query = CanonicalQuery(request_.query);
    HttpRequest http;
    http.method = request_.method;
    http.url = place_.endpoint.scheme + "://" + place_.endpoint.host + path;
    if (!query.empty()) http.url += '?' + query;
    http.body = request_.body;
    http.answer_bytes_max = request_.answer_bytes_max;
    http.headers.push_back("host: " + place_.endpoint.host);
    for (const auto& [name, value] : request_.headers) http.headers.push_back(name + ": " + value);
    if (credentials_) {
      const RequestToSign to_sign{request_.method, place_.endpoint.host, path,
                                  request_.query,  request_.headers,     Sha256Hex(request_.body)};
      for (const auto& [name, value] :
           SignV4(to_sign, credentials_->key, place_.region, "s3", SystemClock().Now()))
        http.headers.push_back(name + ": " + value);
    }
    return http;
  }

  S3Service& service_;
  const BucketRequest& request_;
  Place place_;
  std::shared_ptr<AwsCredentialChain> chain_;
  std::optional<AwsCredentials> credentials_;
  bool has_moved_ = false;
  bool has_renewed_ = false;
};

BucketLimits S3Service::limits() const {
  return {"S3", kS3KeyBytesMax, kS3PutBytesMax, ListOrder::kBytes, true};
}

std::unique_ptr<BucketCall> S3Service::Begin(const BucketRequest& request) {
  return std::make_unique<Call>(*this, request);
}

BucketRequest S3Service::ListPageRequest(const ListQuestion& question,
                                         std::string_view token) const {
  BucketRequest request;
  request.method = "GET";
  request.query = {{"list-type", "2"}, {"encoding-type", "url"}, {"max-keys", "1000"}};
  if (!question.prefix.empty()) request.query.emplace_back("prefix", question.prefix);
  if (!question.options.is_recursive) request.query.emplace_back("delimiter", "/");
  const std::string start_after = question.StartAfter();
  if (!start_after.empty()) request.query.emplace_back("start-after", start_after);
  if (!token.empty()) request.query.emplace_back("continuation-token", token);
  return request;
}

Result<ListPage> S3Service::ParsePage(std::string_view body) const {
  return ParseS3ListPage(body);
}

BucketRequest S3Service::ReadRequest(const std::string& key, const std::string& tag) const {
  BucketRequest request = ObjectRequest("GET", key);
  // A weak tag cannot be asked for; it is compared with the answer's all the same.
  if (!tag.empty() && !tag.starts_with("W/")) request.headers.emplace_back("if-match", tag);
  return request;
}

std::string S3Service::TagOf(const HttpAnswer& answer) const {
  return std::string(answer.Header("etag"));
}

BucketRequest S3Service::StatRequest(const std::string& key) const {
  return ObjectRequest("HEAD", key);
}

Result<BucketRequest> S3Service::PutRequest(const std::string& key, std::string_view bytes,
                                            PutCondition condition) const {
  BucketRequest request = ObjectRequest("PUT", key);
  request.body = bytes;
  if (condition == PutCondition::kAbsent) request.headers.emplace_back("if-none-match", "*");
  return request;
}

BucketRequest S3Service::RemoveRequest(const std::string& key) const {
  return ObjectRequest("DELETE", key);
}

Result<std::unique_ptr<ObjectStore>> OpenS3Store(const StoreUri& uri, const StoreOptions& options,
                                                 Environment environment) {
  TRY_ASSIGN(auto service, S3Service::Make(uri.bucket, options, std::move(environment)));
  return std::make_unique<BucketStore>(uri, std::move(service));
}

}  // namespace tidemark::storage
