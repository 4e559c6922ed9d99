#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "storage/aws_credential_sources.h"
#include "storage/http_time.h"
#include "storage/s3_endpoint.h"
#include "storage/s3_xml.h"
#include "storage/small_file.h"
#include "storage/token_request.h"

namespace tidemark::storage {

namespace {

using std::chrono::seconds;

constexpr seconds kContainerTimeout{5};

/// The JSON that the container and the instance endpoints share.
Result<std::optional<AwsCredentials>> ParseCredentialJson(std::string_view text,
                                                          std::string_view host) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto field = [&](const char* name) {
    const auto it = json.is_object() ? json.find(name) : json.end();
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  if (json.is_discarded() || field("AccessKeyId").empty() || field("SecretAccessKey").empty()) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("the answer holds no credentials: host={} code='{}'", host,
                            json.is_discarded() ? "" : field("Code").substr(0, 64)));
  }
  AwsCredentials credentials{{field("AccessKeyId"), field("SecretAccessKey"), field("Token")}, {}};
  credentials.expires = ParseIsoSeconds(field("Expiration"));
  return credentials;
}

class WebIdentitySource final : public AwsCredentialSource {
 public:
  WebIdentitySource(Environment environment, std::string region, HttpClient& http)
      : environment_(std::move(environment)), region_(std::move(region)), http_(http) {}

  std::string_view name() const override { return "web identity (AWS_WEB_IDENTITY_TOKEN_FILE)"; }

  Result<std::optional<AwsCredentials>> Load(const Budget& budget) const override {
    const auto file = environment_("AWS_WEB_IDENTITY_TOKEN_FILE");
    const auto role = environment_("AWS_ROLE_ARN");
    if (!file || !role) return std::nullopt;
    // Read each time: the platform replaces the token.
    TRY_ASSIGN(const std::string token, ReadSmallFile(*file));
    const auto override_url = environment_("AWS_ENDPOINT_URL_STS");
    Endpoint endpoint = AwsEndpoint("sts", region_);
    if (override_url) {
      TRY_ASSIGN(endpoint, ParseEndpoint(*override_url));
    }
    const std::string body = CanonicalQuery(
        {{"Action", "AssumeRoleWithWebIdentity"},
         {"Version", "2011-06-15"},
         {"RoleArn", *role},
         {"RoleSessionName", environment_("AWS_ROLE_SESSION_NAME").value_or("tidemark")},
         {"WebIdentityToken", std::string(WithoutLineEnd(token))}});
    HttpRequest request;
    request.method = "POST";
    request.url = endpoint.scheme + "://" + endpoint.host + endpoint.path + "/";
    request.headers = {"content-type: application/x-www-form-urlencoded"};
    request.body = body;
    TRY_ASSIGN(const HttpAnswer answer,
               SendForCredentials(http_, request, budget.Within(kTokenTimeout)));
    if (answer.status != 200) {
      const S3ErrorText text = ParseS3Error(answer.body);
      return Fail(ErrorKind::kDenied,
                  fmt::format("the role may not be assumed with the token: role={} file={} http={} "
                              "code={} host={}",
                              *role, *file, answer.status, text.code, endpoint.host));
    }
    TRY_ASSIGN(const StsCredentials sts, ParseStsCredentials(answer.body));
    AwsCredentials credentials{{sts.access_key_id, sts.secret_access_key, sts.session_token}, {}};
    credentials.expires = ParseIsoSeconds(sts.expiration);
    return credentials;
  }

 private:
  Environment environment_;
  std::string region_;
  HttpClient& http_;
};

/// Credentials go out in clear text only to this machine and to the addresses that AWS reserves.
bool IsTrustedForPlainHttp(std::string_view host) {
  constexpr std::array<std::string_view, 3> kTrusted = {"169.254.170.2", "169.254.170.23",
                                                        "[fd00:ec2::23]"};
  const std::string_view name = HostWithoutPort(host);
  return IsThisMachine(name) || std::ranges::find(kTrusted, name) != kTrusted.end();
}

class ContainerSource final : public AwsCredentialSource {
 public:
  ContainerSource(Environment environment, HttpClient& http)
      : environment_(std::move(environment)), http_(http) {}

  std::string_view name() const override {
    return "container (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, _FULL_URI)";
  }

  Result<std::optional<AwsCredentials>> Load(const Budget& budget) const override {
    const auto relative = environment_("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    const auto full = environment_("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    if (!relative && !full) return std::nullopt;
    HttpRequest request;
    request.is_direct = true;
    request.url = relative ? "http://169.254.170.2" + *relative : *full;
    const std::string host(HostOfUrl(request.url));
    if (!request.url.starts_with("https://") &&
        !(request.url.starts_with("http://") && IsTrustedForPlainHttp(host))) {
      return Fail(ErrorKind::kDenied,
                  fmt::format("credentials are fetched by https, or from this machine or the "
                              "container agent only: host={}",
                              host));
    }
    TRY_ASSIGN(const std::string token, Token());
    if (!token.empty()) request.headers.push_back("authorization: " + token);
    TRY_ASSIGN(const HttpAnswer answer,
               SendForCredentials(http_, request, budget.Within(kContainerTimeout)));
    if (answer.status != 200) {
      return Fail(ErrorKind::kDenied,
                  fmt::format("the container agent gives no credentials: host={} http={}", host,
                              answer.status));
    }
    return ParseCredentialJson(answer.body, host);
  }

 private:
  Result<std::string> Token() const {
    std::string token;
    if (const auto file = environment_("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")) {
      TRY_ASSIGN(const std::string text, ReadSmallFile(*file));
      token = WithoutLineEnd(text);
    } else {
      token = environment_("AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or("");
    }
    if (token.find_first_of("\r\n") != std::string::npos) {
      return Fail(ErrorKind::kInvalidArgument, "the authorization token has more than one line");
    }
    return token;
  }

  Environment environment_;
  HttpClient& http_;
};

class InstanceSource final : public AwsCredentialSource {
 public:
  InstanceSource(Environment environment, HttpClient& http)
      : environment_(std::move(environment)), http_(http) {}

  std::string_view name() const override { return "EC2 instance metadata"; }

  Result<std::optional<AwsCredentials>> Load(const Budget& budget) const override {
    const std::string disabled = environment_("AWS_EC2_METADATA_DISABLED").value_or("");
    if (disabled == "true" || disabled == "TRUE" || disabled == "True" || disabled == "1")
      return std::nullopt;
    TRY_ASSIGN(
        const Endpoint endpoint,
        ParseEndpoint(
            environment_("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or("http://169.254.169.254")));
    const std::string base = endpoint.scheme + "://" + endpoint.host + endpoint.path + "/latest/";
    HttpRequest request;
    request.is_direct = true;
    request.method = "PUT";
    request.url = base + "api/token";
    request.headers = {"x-aws-ec2-metadata-token-ttl-seconds: 21600"};
    TRY_ASSIGN(const auto token, AskInstance(http_, request, budget));
    if (!token) return std::nullopt;
    if (token->status != 200 || token->body.find_first_of("\r\n") != std::string::npos)
      return std::nullopt;

    request.method = "GET";
    request.headers = {"x-aws-ec2-metadata-token: " + token->body};
    request.url = base + "meta-data/iam/security-credentials/";
    Budget short_budget = budget.Within(kInstanceTimeout);
    short_budget.tries_max = 1;
    TRY_ASSIGN(const HttpAnswer role, SendForCredentials(http_, request, short_budget));
    if (role.status == 404) return std::nullopt;  // an instance without a role
    const std::string_view name =
        std::string_view(role.body).substr(0, role.body.find_first_of("\r\n"));
    if (role.status != 200 || name.empty()) {
      return Fail(ErrorKind::kUnavailable,
                  fmt::format("the metadata service names no role: http={}", role.status));
    }
    request.url += UrlEncoded(name);
    short_budget = budget.Within(kInstanceTimeout);
    short_budget.tries_max = 1;
    TRY_ASSIGN(const HttpAnswer answer, SendForCredentials(http_, request, short_budget));
    if (answer.status != 200) {
      return Fail(ErrorKind::kUnavailable,
                  fmt::format("the metadata service gives no credentials: http={}", answer.status));
    }
    return ParseCredentialJson(answer.body, endpoint.host);
  }

 private:
  Environment environment_;
  HttpClient& http_;
};

}  // namespace

std::unique_ptr<AwsCredentialSource> MakeWebIdentitySource(Environment environment,
                                                           std::string region, HttpClient& http) {
  return std::make_unique<WebIdentitySource>(std::move(environment), std::move(region), http);
}

std::unique_ptr<AwsCredentialSource> MakeContainerSource(Environment environment,
                                                         HttpClient& http) {
  return std::make_unique<ContainerSource>(std::move(environment), http);
}

std::unique_ptr<AwsCredentialSource> MakeInstanceSource(Environment environment, HttpClient& http) {
  return std::make_unique<InstanceSource>(std::move(environment), http);
}

}  // namespace tidemark::storage
