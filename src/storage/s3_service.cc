#include "storage/s3_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/aws_profile.h"
#include "storage/aws_session.h"
#include "storage/s3_error.h"
#include "storage/s3_signer.h"

namespace tidemark::storage {

namespace {

constexpr std::string_view kDefaultRegion = "us-east-1";

std::string RegionFromProfile(const Environment& environment) {
  // A broken profile is reported when credentials are looked for in it; it is not needed for a
  // region.
  const auto profile = LoadAwsProfile(environment);
  if (!profile) return "";
  const auto it = profile->settings.find("region");
  return it == profile->settings.end() ? "" : it->second;
}

}  // namespace

/// The state of one Send over its tries.
struct S3Client::Call {
  std::optional<Error> last_error;
  std::chrono::milliseconds wait_at_least{};
  bool has_moved = false;
  bool has_renewed = false;
  bool may_have_happened = false;
  bool is_at_once = false;  ///< the next try needs no wait and does not count
};

S3Client::S3Client(Private, std::string bucket, const StoreOptions& options,
                   Environment environment)
    : bucket_(std::move(bucket)),
      is_anonymous_(options.is_anonymous),
      is_path_style_(options.is_path_style),
      environment_(std::move(environment)),
      region_(options.region) {}

Result<std::unique_ptr<S3Client>> S3Client::Make(std::string bucket, const StoreOptions& options,
                                                 Environment environment) {
  auto client =
      std::make_unique<S3Client>(Private(), std::move(bucket), options, std::move(environment));
  std::string endpoint = options.endpoint;
  for (const char* variable : {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}) {
    if (endpoint.empty()) endpoint = client->environment_(variable).value_or("");
  }
  if (!endpoint.empty()) {
    TRY_ASSIGN(client->service_, ParseEndpoint(endpoint));
  }
  for (const char* variable : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (client->region_.empty()) client->region_ = client->environment_(variable).value_or("");
  }
  if (!client->region_.empty() && !IsRegionName(client->region_)) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("not a name of a region: region='{}'", client->region_));
  }
  return client;
}

S3Client::Place S3Client::PlaceIn(std::string region) const {
  const Endpoint service = service_ ? *service_ : AwsEndpoint("s3", region);
  const bool is_path_style =
      is_path_style_.value_or(service_.has_value() || !FitsVirtualHost(bucket_, service));
  return {std::move(region), BucketEndpoint(service, bucket_, is_path_style)};
}

Result<S3Client::Place> S3Client::CurrentPlace() {
  const std::scoped_lock lock(mutex_);
  if (region_.empty()) region_ = RegionFromProfile(environment_);
  if (region_.empty()) region_ = kDefaultRegion;
  if (!IsRegionName(region_)) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("not a name of a region: region='{}' from=profile", region_));
  }
  return PlaceIn(region_);
}

void S3Client::MoveTo(const std::string& region) {
  const std::scoped_lock lock(mutex_);
  region_ = region;
}

Result<std::optional<AwsCredentials>> S3Client::CurrentCredentials(const Budget& budget) {
  if (is_anonymous_) return std::nullopt;
  CredentialChain* chain = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    if (chain_ == nullptr) chain_ = SharedCredentialChain(environment_, region_);
    chain = chain_.get();
  }
  auto credentials = chain->Get(budget);
  if (!credentials) return std::unexpected(std::move(credentials).error());
  return *std::move(credentials);
}

HttpRequest S3Client::Signed(const S3Request& request, const Place& place,
                             const std::optional<AwsCredentials>& credentials) {
  std::string path = place.endpoint.path;
  if (path.empty() || !request.key.empty()) path += '/';
  path += UrlEncoded(request.key, "/");
  const std::string query = CanonicalQuery(request.query);
  HttpRequest http;
  http.method = request.method;
  http.url = place.endpoint.scheme + "://" + place.endpoint.host + path;
  if (!query.empty()) http.url += '?' + query;
  http.body = request.body;
  http.answer_bytes_max = request.answer_bytes_max;
  http.headers.push_back("host: " + place.endpoint.host);
  for (const auto& [name, value] : request.headers) http.headers.push_back(name + ": " + value);
  if (credentials) {
    const RequestToSign to_sign{request.method, place.endpoint.host, path,
                                request.query,  request.headers,     Sha256Hex(request.body)};
    for (const auto& [name, value] :
         SignV4(to_sign, credentials->key, place.region, "s3", SystemClock().Now()))
      http.headers.push_back(name + ": " + value);
  }
  return http;
}

std::optional<Result<S3Answer>> S3Client::Judge(const S3Request& request, Call& call,
                                                const Place& place,
                                                const std::optional<AwsCredentials>& credentials,
                                                HttpAnswer answer, const Budget& budget) {
  if (std::ranges::find(request.wanted_statuses, answer.status) != request.wanted_statuses.end())
    return S3Answer{std::move(answer), call.may_have_happened};
  const S3ErrorText text = answer.status >= 300 ? ParseS3Error(answer.body) : S3ErrorText{};
  const S3Verdict verdict = JudgeS3Answer(answer, text);
  if (verdict == S3Verdict::kSuccess) return S3Answer{std::move(answer), call.may_have_happened};
  Error error = S3ErrorOf(answer, text,
                          {request.name, request.method, place.endpoint.host,
                           credentials ? credentials->key.access_key_id : std::string()});
  if (verdict == S3Verdict::kRetry) {
    call.may_have_happened |= !IsCertainlyUndone(answer, text);
    call.wait_at_least = RetryAfter(answer);
    // A conflict that lasts is no answer to "did it get written".
    if (error.kind != ErrorKind::kDenied) error.kind = ErrorKind::kUnavailable;
    call.last_error = std::move(error);
    return std::nullopt;
  }
  if (verdict == S3Verdict::kWrongRegion && !call.has_moved) {
    const std::string region = S3Region(answer, text);
    if (region != place.region && IsRegionName(region)) {
      MoveTo(region);
      call.has_moved = call.is_at_once = true;
      return std::nullopt;
    }
  }
  if (verdict == S3Verdict::kStaleCredentials && !call.has_renewed && credentials) {
    call.has_renewed = true;
    chain_->Forget(*credentials);
    const auto renewed = chain_->Get(budget);
    if (renewed && renewed->key != credentials->key) {
      call.is_at_once = true;
      return std::nullopt;
    }
  }
  return std::unexpected(std::move(error));
}

std::optional<Result<S3Answer>> S3Client::TryOnce(const S3Request& request, Call& call,
                                                  const Budget& budget) {
  const auto named = [&](Error error) -> Result<S3Answer> {
    return std::unexpected(std::move(error).With(fmt::format("object={}", request.name)));
  };
  call.is_at_once = false;
  if (auto status = budget.Check(); !status) return named(std::move(status).error());
  auto place = CurrentPlace();
  if (!place) return named(std::move(place).error());
  auto credentials = CurrentCredentials(budget);
  if (!credentials) return named(std::move(credentials).error());
  HttpExchange exchange = SharedHttpClient().Send(Signed(request, *place, *credentials), budget);
  if (!exchange.error)
    return Judge(request, call, *place, *credentials, std::move(exchange.answer), budget);
  call.may_have_happened |= exchange.may_have_arrived;
  if (exchange.error->kind != ErrorKind::kUnavailable) return named(*std::move(exchange.error));
  call.wait_at_least = {};
  call.last_error = (*std::move(exchange.error)).With(fmt::format("object={}", request.name));
  return std::nullopt;
}

Result<S3Answer> S3Client::Send(const S3Request& request, const Budget& budget) {
  Call call;
  for (int tries = 1;;) {
    if (auto result = TryOnce(request, call, budget)) return *std::move(result);
    if (call.is_at_once) continue;
    if (budget.WaitForTry(tries + 1, call.wait_at_least)) {
      ++tries;
      continue;
    }
    if (budget.is_stopped()) {
      return Fail(ErrorKind::kCancelled, fmt::format("stopped: object={}", request.name));
    }
    call.last_error->message += fmt::format(" tries={}", tries);
    if (call.wait_at_least.count() > 0)
      call.last_error->message +=
          fmt::format(" retry_after={}s", call.wait_at_least.count() / 1000);
    return std::unexpected(*std::move(call.last_error));
  }
}

}  // namespace tidemark::storage
