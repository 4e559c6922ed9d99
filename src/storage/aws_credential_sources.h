/// The places where AWS credentials are looked for, in the order of the chain.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/aws_credentials.h"
#include "storage/environment.h"
#include "storage/http_client.h"

namespace tidemark::storage {

/// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN.
std::unique_ptr<AwsCredentialSource> MakeEnvironmentSource(Environment environment);

/// AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN (Kubernetes service accounts), through STS in
/// `region`. The HTTP client must outlive the source, here and below.
std::unique_ptr<AwsCredentialSource> MakeWebIdentitySource(Environment environment,
                                                           std::string region, HttpClient& http);

/// Of the shared credentials and config files: keys, what a `credential_process` writes, and a
/// `role_arn` through STS in `region` with the credentials of its `source_profile` or
/// `credential_source`. A profile that needs single sign-on, a code (`mfa_serial`) or another way
/// is kUnsupported when asked for by AWS_PROFILE; else it is passed over, with a remark.
std::unique_ptr<AwsCredentialSource> MakeProfileSource(Environment environment, std::string region,
                                                       HttpClient& http);

/// AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI (ECS tasks, EKS pod identity).
std::unique_ptr<AwsCredentialSource> MakeContainerSource(Environment environment, HttpClient& http);

/// The metadata service of an EC2 instance, version 2. Gives up after a second: elsewhere nobody
/// answers.
std::unique_ptr<AwsCredentialSource> MakeInstanceSource(Environment environment, HttpClient& http);

/// All of the above, in this order.
CredentialSources<AwsCredentials> MakeUsualSources(const Environment& environment,
                                                   const std::string& region, HttpClient& http);

}  // namespace tidemark::storage
