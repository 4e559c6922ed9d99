#include "storage/aws_credential_sources.h"

#include <fmt/format.h>

namespace tidemark::storage {

namespace {

class EnvironmentSource final : public AwsCredentialSource {
 public:
  explicit EnvironmentSource(Environment environment) : environment_(std::move(environment)) {}

  std::string_view name() const override { return "environment (AWS_ACCESS_KEY_ID)"; }

  Result<std::optional<AwsCredentials>> Load(const Budget&) const override {
    const auto id = environment_("AWS_ACCESS_KEY_ID");
    const auto secret = environment_("AWS_SECRET_ACCESS_KEY");
    if (!id && !secret) return std::nullopt;
    if (!id || !secret) {
      return Fail(ErrorKind::kDenied,
                  fmt::format("only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set: "
                              "missing={}",
                              id ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID"));
    }
    const std::string token = environment_("AWS_SESSION_TOKEN").value_or("");
    // They become header lines, so a line break from a careless export must not get through.
    if ((*id + *secret + token).find_first_of(" \t\r\n") != std::string::npos) {
      return Fail(
          ErrorKind::kDenied,
          "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY or AWS_SESSION_TOKEN holds a blank or a "
          "line break");
    }
    return AwsCredentials{{*id, *secret, token}, {}};
  }

 private:
  Environment environment_;
};

}  // namespace

std::unique_ptr<AwsCredentialSource> MakeEnvironmentSource(Environment environment) {
  return std::make_unique<EnvironmentSource>(std::move(environment));
}

CredentialSources<AwsCredentials> MakeUsualSources(const Environment& environment,
                                                   const std::string& region, HttpClient& http) {
  CredentialSources<AwsCredentials> sources;
  sources.push_back(MakeEnvironmentSource(environment));
  sources.push_back(MakeWebIdentitySource(environment, region, http));
  sources.push_back(MakeProfileSource(environment, region, http));
  sources.push_back(MakeContainerSource(environment, http));
  sources.push_back(MakeInstanceSource(environment, http));
  return sources;
}

}  // namespace tidemark::storage
