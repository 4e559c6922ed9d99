#include "storage/aws_session.h"

#include <array>
#include <map>
#include <mutex>

#include "base/clock.h"
#include "storage/aws_credential_sources.h"
#include "storage/s3_signer.h"

namespace tidemark::storage {

namespace {

/// All variables that the places of the chain look at.
constexpr std::array<const char*, 19> kVariables = {"AWS_ACCESS_KEY_ID",
                                                    "AWS_SECRET_ACCESS_KEY",
                                                    "AWS_SESSION_TOKEN",
                                                    "AWS_WEB_IDENTITY_TOKEN_FILE",
                                                    "AWS_ROLE_ARN",
                                                    "AWS_ROLE_SESSION_NAME",
                                                    "AWS_ENDPOINT_URL_STS",
                                                    "AWS_PROFILE",
                                                    "AWS_SHARED_CREDENTIALS_FILE",
                                                    "AWS_CONFIG_FILE",
                                                    "HOME",
                                                    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                                                    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                                                    "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                                                    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
                                                    "AWS_EC2_METADATA_DISABLED",
                                                    "AWS_EC2_METADATA_SERVICE_ENDPOINT",
                                                    "http_proxy",
                                                    "https_proxy"};

/// Chains that no store uses any more are dropped when there are so many.
constexpr size_t kChainsMax = 64;

/// A digest: the variables hold secrets.
std::string DigestOf(const Environment& environment, const std::string& region) {
  std::string text = region;
  for (const char* variable : kVariables) {
    const auto value = environment(variable);
    text += value ? "\n=" + Sha256Hex(*value) : "\n-";
  }
  return Sha256Hex(text);
}

}  // namespace

HttpClient& SharedHttpClient() {
  // Never destroyed: a thread may still be in a request while the process ends.
  static HttpClient& client = *std::make_unique<HttpClient>().release();
  return client;
}

std::shared_ptr<CredentialChain> SharedCredentialChain(const Environment& environment,
                                                       const std::string& region) {
  static const SystemClock& clock = *std::make_unique<SystemClock>().release();
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<CredentialChain>> chains;  // guarded by mutex
  std::string digest = DigestOf(environment, region);
  const std::scoped_lock lock(mutex);
  if (chains.size() >= kChainsMax)
    std::erase_if(chains, [](const auto& entry) { return entry.second.use_count() == 1; });
  std::shared_ptr<CredentialChain>& chain = chains[std::move(digest)];
  if (chain == nullptr) {
    chain = std::make_shared<CredentialChain>(
        MakeUsualSources(environment, region, SharedHttpClient()), clock);
  }
  return chain;
}

}  // namespace tidemark::storage
