#include "storage/aws_session.h"

#include <array>

#include "storage/aws_credential_sources.h"
#include "storage/http_client.h"

namespace tidemark::storage {

namespace {

/// All variables that the places of the chain look at.
constexpr std::array<const char*, 21> kVariables = {"AWS_ACCESS_KEY_ID",
                                                    "AWS_SECRET_ACCESS_KEY",
                                                    "AWS_SESSION_TOKEN",
                                                    "AWS_WEB_IDENTITY_TOKEN_FILE",
                                                    "AWS_ROLE_ARN",
                                                    "AWS_ROLE_SESSION_NAME",
                                                    "AWS_ENDPOINT_URL_STS",
                                                    "AWS_ENDPOINT_URL",
                                                    "PATH",
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

}  // namespace

std::shared_ptr<AwsCredentialChain> SharedAwsCredentialChain(const Environment& environment,
                                                             const std::string& region) {
  return SharedChain<AwsCredentials>(DigestOf(environment, kVariables, region), [&] {
    return MakeUsualSources(environment, region, SharedHttpClient());
  });
}

}  // namespace tidemark::storage
