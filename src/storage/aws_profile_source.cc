#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "storage/aws_credential_sources.h"
#include "storage/aws_profile.h"
#include "storage/digest.h"
#include "storage/http_time.h"
#include "storage/program_output.h"
#include "storage/s3_endpoint.h"
#include "storage/s3_signer.h"
#include "storage/s3_xml.h"
#include "storage/token_request.h"

namespace tidemark::storage {

namespace {

/// A helper may ask a server of its own.
constexpr std::chrono::seconds kProgramTimeout{60};

std::string SettingOf(const AwsProfile& profile, std::string_view key) {
  const auto it = profile.settings.find(key);
  return it == profile.settings.end() ? std::string() : it->second;
}

/// What `credential_process` writes, version 1.
Result<AwsCredentials> ParseProgramOutput(std::string_view text, std::string_view profile) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto field = [&](const char* name) {
    const auto it = json.is_object() ? json.find(name) : json.end();
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  const auto corrupt = [&](std::string_view why) {
    return Fail(ErrorKind::kCorrupt, fmt::format("credential_process of the profile gives {}: "
                                                 "profile={}",
                                                 why, profile));
  };
  if (!json.is_object()) return corrupt("no JSON object");
  const auto version = json.find("Version");
  if (version == json.end() || *version != 1) return corrupt("another Version than 1");
  AwsCredentials credentials{
      {field("AccessKeyId"), field("SecretAccessKey"), field("SessionToken")}, {}};
  const SigningKey& key = credentials.key;
  if (key.access_key_id.empty() || key.secret_access_key.empty()) return corrupt("no credentials");
  if ((key.access_key_id + key.secret_access_key + key.session_token).find_first_of(" \t\r\n") !=
      std::string::npos)
    return corrupt("credentials with a blank or a line break");
  const std::string expiration = field("Expiration");
  credentials.expires = ParseIsoSeconds(expiration);
  // Without it they would be taken for ones that never end.
  if (!expiration.empty() && !credentials.expires)
    return corrupt("an Expiration that is no time in UTC such as 2026-11-30T12:00:00Z");
  return credentials;
}

class ProfileSource final : public AwsCredentialSource {
 public:
  ProfileSource(Environment environment, std::string region, HttpClient& http)
      : environment_(std::move(environment)), region_(std::move(region)), http_(http) {}

  std::string_view name() const override {
    return "profile files (AWS_PROFILE, ~/.aws/credentials, ~/.aws/config)";
  }

  std::string Remark() const override {
    const std::lock_guard lock(mutex_);
    return remark_;
  }

  Result<std::optional<AwsCredentials>> Load(const Budget& budget) const override {
    TRY_ASSIGN(const AwsProfile profile, LoadAwsProfile(environment_));
    auto found = Of(profile, {}, budget);
    std::string remark;
    if (!found && found.error().kind == ErrorKind::kUnsupported && !profile.is_asked_for) {
      // Nobody asked for it: what runs elsewhere may still have credentials of another kind.
      remark = found.error().message;
      found = std::nullopt;
    }
    const std::lock_guard lock(mutex_);
    remark_ = std::move(remark);
    return found;
  }

 private:
  using Found = Result<std::optional<AwsCredentials>>;

  /// `users` are the profiles whose roles are assumed with the credentials of this one.
  Found Of(const AwsProfile& profile, std::vector<std::string> users, const Budget& budget) const {
    const bool is_its_own_source = !users.empty() && users.back() == profile.name;
    if (!is_its_own_source && std::ranges::find(users, profile.name) != users.end()) {
      return Fail(ErrorKind::kInvalidArgument,
                  fmt::format("source_profile goes in a circle: profile={}", profile.name));
    }
    const bool has_source = !SettingOf(profile, "source_profile").empty() ||
                            !SettingOf(profile, "credential_source").empty();
    if (has_source && !is_its_own_source && !SettingOf(profile, "role_arn").empty()) {
      users.push_back(profile.name);
      return AssumedRole(profile, std::move(users), budget);
    }
    const std::string id = SettingOf(profile, "aws_access_key_id");
    const std::string secret = SettingOf(profile, "aws_secret_access_key");
    if (!id.empty() && !secret.empty())
      return AwsCredentials{{id, secret, SettingOf(profile, "aws_session_token")}, {}};
    if (!id.empty() || !secret.empty()) {
      return Fail(ErrorKind::kDenied,
                  fmt::format("the profile has only one of aws_access_key_id and "
                              "aws_secret_access_key: profile={}",
                              profile.name));
    }
    if (const std::string command = SettingOf(profile, "credential_process"); !command.empty())
      return FromProgram(profile, command, budget);
    constexpr std::array<std::string_view, 6> kOtherWays = {
        "sso_session", "sso_start_url", "login_session", "web_identity_token_file",
        "role_arn",    "source_profile"};
    for (const std::string_view way : kOtherWays)
      if (!SettingOf(profile, way).empty()) return NotBuiltIn(profile, way);
    return std::nullopt;
  }

  static std::unexpected<Error> NotBuiltIn(const AwsProfile& profile, std::string_view way) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("the profile gets its credentials in a way that is not built in; "
                            "export them (aws configure export-credentials): profile={} way={}",
                            profile.name, way));
  }

  static Result<AwsCredentials> FromProgram(const AwsProfile& profile, const std::string& command,
                                            const Budget& budget) {
    const auto told = [&](Error error) {
      return std::unexpected(
          std::move(error).With(fmt::format("credential_process of profile={}", profile.name)));
    };
    auto words = SplitCommand(command);
    if (!words) return told(std::move(words).error());
    auto output = ProgramOutput(*words, budget.Within(kProgramTimeout));
    if (!output) return told(std::move(output).error());
    return ParseProgramOutput(*output, profile.name);
  }

  /// Whose credentials the role is assumed with.
  Found SourceOf(const AwsProfile& profile, std::vector<std::string> users,
                 const Budget& budget) const {
    const std::string source = SettingOf(profile, "source_profile");
    if (!source.empty()) {
      TRY_ASSIGN(const AwsProfile named, LoadAwsProfile(environment_, source));
      return Of(named, std::move(users), budget);
    }
    const std::string place = SettingOf(profile, "credential_source");
    if (place == "Environment") return MakeEnvironmentSource(environment_)->Load(budget);
    if (place == "Ec2InstanceMetadata")
      return MakeInstanceSource(environment_, http_)->Load(budget);
    if (place == "EcsContainer") return MakeContainerSource(environment_, http_)->Load(budget);
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("credential_source is Environment, Ec2InstanceMetadata or "
                            "EcsContainer: profile={}",
                            profile.name));
  }

  Found AssumedRole(const AwsProfile& profile, std::vector<std::string> users,
                    const Budget& budget) const {
    // Nobody is there to type its code.
    if (!SettingOf(profile, "mfa_serial").empty()) return NotBuiltIn(profile, "mfa_serial");
    TRY_ASSIGN(const auto source, SourceOf(profile, std::move(users), budget));
    if (!source) {
      return Fail(ErrorKind::kDenied,
                  fmt::format("there are no credentials to assume the role with: profile={} "
                              "source={}{}",
                              profile.name, SettingOf(profile, "source_profile"),
                              SettingOf(profile, "credential_source")));
    }
    return AskSts(profile, source->key, budget);
  }

  Result<AwsCredentials> AskSts(const AwsProfile& profile, const SigningKey& key,
                                const Budget& budget) const {
    const std::string role = SettingOf(profile, "role_arn");
    const std::string region = region_.empty() ? std::string(kAwsDefaultRegion) : region_;
    Endpoint endpoint = AwsEndpoint("sts", region);
    if (const auto given = AwsEndpointOfEnvironment("sts", environment_); !given.empty()) {
      TRY_ASSIGN(endpoint, ParseEndpoint(given));
    }
    const std::string body = BodyFor(profile, role);
    const RequestToSign to_sign{.method = "POST",
                                .host = endpoint.host,
                                .path = endpoint.path + "/",
                                .query = {},
                                .headers = {{"content-type", "application/x-www-form-urlencoded"}},
                                .payload_hash = Sha256Hex(body)};
    HttpRequest request;
    request.method = "POST";
    request.url = endpoint.scheme + "://" + endpoint.host + to_sign.path;
    request.headers = {"host: " + endpoint.host};
    for (const auto& [name, value] : to_sign.headers)
      request.headers.push_back(name + ": " + value);
    for (const auto& [name, value] : SignV4(to_sign, key, region, "sts", SystemClock().Now()))
      request.headers.push_back(name + ": " + value);
    request.body = body;
    TRY_ASSIGN(const HttpAnswer answer,
               SendForCredentials(http_, request, budget.Within(kTokenTimeout)));
    if (answer.status != 200) {
      return Fail(ErrorKind::kDenied,
                  fmt::format("the role may not be assumed: role={} profile={} http={} code={} "
                              "host={}",
                              role, profile.name, answer.status, ParseS3Error(answer.body).code,
                              endpoint.host));
    }
    TRY_ASSIGN(const StsCredentials sts, ParseStsCredentials(answer.body));
    AwsCredentials credentials{{sts.access_key_id, sts.secret_access_key, sts.session_token}, {}};
    credentials.expires = ParseIsoSeconds(sts.expiration);
    return credentials;
  }

  std::string BodyFor(const AwsProfile& profile, const std::string& role) const {
    std::string session = SettingOf(profile, "role_session_name");
    if (session.empty()) session = environment_("AWS_ROLE_SESSION_NAME").value_or("tidemark");
    QueryParts parts = {{"Action", "AssumeRole"},
                        {"Version", "2011-06-15"},
                        {"RoleArn", role},
                        {"RoleSessionName", std::move(session)}};
    for (const auto& [setting, parameter] : {std::pair("external_id", "ExternalId"),
                                             std::pair("duration_seconds", "DurationSeconds")}) {
      if (std::string value = SettingOf(profile, setting); !value.empty())
        parts.emplace_back(parameter, std::move(value));
    }
    return CanonicalQuery(parts);
  }

  Environment environment_;
  std::string region_;
  HttpClient& http_;
  mutable std::mutex mutex_;
  mutable std::string remark_;  // guarded by mutex_: of the last Load
};

}  // namespace

std::unique_ptr<AwsCredentialSource> MakeProfileSource(Environment environment, std::string region,
                                                       HttpClient& http) {
  return std::make_unique<ProfileSource>(std::move(environment), std::move(region), http);
}

}  // namespace tidemark::storage
