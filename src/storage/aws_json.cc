#include "storage/aws_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/utf8.h"
#include "storage/aws_credentials.h"
#include "storage/aws_profile.h"
#include "storage/aws_session.h"
#include "storage/digest.h"
#include "storage/endpoint.h"
#include "storage/environment.h"
#include "storage/http_client.h"
#include "storage/s3_endpoint.h"
#include "storage/s3_signer.h"

namespace tidemark::storage {

namespace {

constexpr uint64_t kAnswerBytesMax = uint64_t{64} << 20;
constexpr size_t kQuotedBytesMax = 300;

std::string RegionOf(const AwsServiceOptions& options, const Environment& environment) {
  if (!options.region.empty()) return options.region;
  if (auto region = AwsRegionOfEnvironment(environment); !region.empty()) return region;
  return AwsRegionOfProfile(environment).value_or(std::string(kAwsDefaultRegion));
}

Result<Endpoint> EndpointOf(const AwsServiceOptions& options, const Environment& environment,
                            const std::string& region) {
  std::string endpoint = options.endpoint;
  if (endpoint.empty()) endpoint = AwsEndpointOfEnvironment(options.service, environment);
  if (endpoint.empty()) endpoint = options.endpoint_otherwise;
  if (endpoint.empty()) return AwsEndpoint(options.service, region);
  return ParseEndpoint(endpoint);
}

}  // namespace

AwsJsonError AwsErrorOf(const AwsJsonAnswer& answer) {
  const nlohmann::json parsed =
      nlohmann::json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  AwsJsonError error;
  if (parsed.is_object()) {
    for (const char* const key : {"__type", "code"}) {
      const auto it = parsed.find(key);
      if (error.code.empty() && it != parsed.end() && it->is_string()) error.code = *it;
    }
    for (const char* const key : {"Message", "message"}) {
      const auto it = parsed.find(key);
      if (error.message.empty() && it != parsed.end() && it->is_string()) error.message = *it;
    }
  }
  if (const size_t hash = error.code.rfind('#'); hash != std::string::npos)
    error.code.erase(0, hash + 1);
  if (error.code.empty()) error.code = fmt::format("Http{}", answer.status);
  error.code = Printable(error.code.substr(0, kQuotedBytesMax));
  error.message = Printable(error.message.substr(0, kQuotedBytesMax));
  return error;
}

bool IsStaleCredential(std::string_view code) {
  return code == "ExpiredTokenException" || code == "ExpiredToken";
}

struct AwsJsonService::State {
  std::string service;
  std::string content_type;
  std::string region;
  Endpoint endpoint;
  std::shared_ptr<AwsCredentialChain> chain;
  std::mutex mutex;
  std::optional<AwsCredentials> last;  // guarded by mutex
};

AwsJsonService::AwsJsonService() : state_(std::make_unique<State>()) {}
AwsJsonService::~AwsJsonService() = default;

Result<std::unique_ptr<AwsJsonService>> AwsJsonService::Make(const AwsServiceOptions& options) {
  const Environment environment = ProcessEnvironment();
  auto made = std::make_unique<AwsJsonService>();
  State& state = *made->state_;
  state.service = options.service;
  state.content_type = "application/x-amz-json-" + options.protocol;
  state.region = RegionOf(options, environment);
  if (!IsRegionName(state.region))
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("not a name of a region: region='{}'", state.region));
  TRY_ASSIGN(state.endpoint, EndpointOf(options, environment, state.region));
  state.chain = SharedAwsCredentialChain(environment, state.region);
  return made;
}

Result<AwsJsonAnswer> AwsJsonService::Send(std::string_view target, std::string_view body,
                                           const Budget& budget) {
  TRY_ASSIGN(const auto credentials, state_->chain->Get(budget));
  {
    const std::scoped_lock lock(state_->mutex);
    state_->last = credentials;
  }
  const Endpoint& endpoint = state_->endpoint;
  const std::string path = endpoint.path + "/";
  const RequestToSign to_sign{
      .method = "POST",
      .host = endpoint.host,
      .path = path,
      .query = {},
      .headers = {{"content-type", state_->content_type}, {"x-amz-target", std::string(target)}},
      .payload_hash = Sha256Hex(body)};
  HttpRequest request{.method = "POST",
                      .url = endpoint.scheme + "://" + endpoint.host + path,
                      .headers = {"host: " + endpoint.host},
                      .body = body,
                      .answer_bytes_max = kAnswerBytesMax};
  for (const auto& [name, value] : to_sign.headers) request.headers.push_back(name + ": " + value);
  for (const auto& [name, value] :
       SignV4(to_sign, credentials.key, state_->region, state_->service, SystemClock().Now()))
    request.headers.push_back(name + ": " + value);
  auto exchange = SharedHttpClient().Send(request, budget);
  if (exchange.error) return std::unexpected(*std::move(exchange.error));
  return AwsJsonAnswer{exchange.answer.status, std::move(exchange.answer.body)};
}

void AwsJsonService::ForgetCredentials() {
  const std::scoped_lock lock(state_->mutex);
  const auto& last = state_->last;
  if (last) state_->chain->Forget(*last);
}

}  // namespace tidemark::storage
