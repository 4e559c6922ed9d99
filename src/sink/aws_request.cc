#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/clock.h"
#include "sink/aws_request_internal.h"
#include "storage/aws_credentials.h"
#include "storage/aws_profile.h"
#include "storage/aws_session.h"
#include "storage/digest.h"
#include "storage/endpoint.h"
#include "storage/environment.h"
#include "storage/http_client.h"
#include "storage/s3_endpoint.h"
#include "storage/s3_signer.h"

namespace tidemark::sink {

namespace {

constexpr std::string_view kDefaultRegion = "us-east-1";
constexpr uint64_t kAnswerBytesMax = uint64_t{64} << 20;
constexpr const char* kContentType = "application/x-amz-json-1.1";

std::string RegionOf(const AwsServiceOptions& options, const storage::Environment& environment) {
  if (!options.region.empty()) return options.region;
  for (const char* const variable : {"AWS_REGION", "AWS_DEFAULT_REGION"})
    if (const auto region = environment(variable)) return *region;
  if (const auto profile = storage::LoadAwsProfile(environment)) {
    const auto it = profile->settings.find("region");
    if (it != profile->settings.end()) return it->second;
  }
  return std::string(kDefaultRegion);
}

Result<storage::Endpoint> EndpointOf(const AwsServiceOptions& options,
                                     const storage::Environment& environment,
                                     const std::string& region) {
  std::string endpoint = options.endpoint;
  std::string own = "AWS_ENDPOINT_URL_";
  for (const char c : options.service)
    own += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  for (const char* const variable : {own.c_str(), "AWS_ENDPOINT_URL"})
    if (endpoint.empty()) endpoint = environment(variable).value_or("");
  if (endpoint.empty()) return storage::AwsEndpoint(options.service, region);
  return storage::ParseEndpoint(endpoint);
}

}  // namespace

struct AwsJsonService::State {
  std::string service;
  std::string region;
  storage::Endpoint endpoint;
  std::shared_ptr<storage::AwsCredentialChain> chain;
  std::mutex mutex;
  std::optional<storage::AwsCredentials> last;  // guarded by mutex
};

AwsJsonService::AwsJsonService() : state_(std::make_unique<State>()) {}
AwsJsonService::~AwsJsonService() = default;

Result<std::unique_ptr<AwsJsonService>> AwsJsonService::Make(const AwsServiceOptions& options) {
  const storage::Environment environment = storage::ProcessEnvironment();
  auto made = std::make_unique<AwsJsonService>();
  State& state = *made->state_;
  state.service = options.service;
  state.region = RegionOf(options, environment);
  if (!storage::IsRegionName(state.region))
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("not a name of a region: region='{}'", state.region));
  TRY_ASSIGN(state.endpoint, EndpointOf(options, environment, state.region));
  state.chain = storage::SharedAwsCredentialChain(environment, state.region);
  return made;
}

Result<AwsJsonAnswer> AwsJsonService::Send(std::string_view target, std::string_view body,
                                           const Budget& budget) {
  TRY_ASSIGN(const auto credentials, state_->chain->Get(budget));
  {
    const std::scoped_lock lock(state_->mutex);
    state_->last = credentials;
  }
  const storage::Endpoint& endpoint = state_->endpoint;
  const std::string path = endpoint.path + "/";
  const storage::RequestToSign to_sign{
      .method = "POST",
      .host = endpoint.host,
      .path = path,
      .query = {},
      .headers = {{"content-type", kContentType}, {"x-amz-target", std::string(target)}},
      .payload_hash = storage::Sha256Hex(body)};
  storage::HttpRequest request{.method = "POST",
                               .url = endpoint.scheme + "://" + endpoint.host + path,
                               .headers = {"host: " + endpoint.host},
                               .body = body,
                               .answer_bytes_max = kAnswerBytesMax};
  for (const auto& [name, value] : to_sign.headers) request.headers.push_back(name + ": " + value);
  for (const auto& [name, value] : storage::SignV4(to_sign, credentials.key, state_->region,
                                                   state_->service, SystemClock().Now()))
    request.headers.push_back(name + ": " + value);
  auto exchange = storage::SharedHttpClient().Send(request, budget);
  if (exchange.error) return std::unexpected(*std::move(exchange.error));
  return AwsJsonAnswer{exchange.answer.status, std::move(exchange.answer.body)};
}

void AwsJsonService::ForgetCredentials() {
  const std::scoped_lock lock(state_->mutex);
  if (state_->last) state_->chain->Forget(*state_->last);
}

}  // namespace tidemark::sink
