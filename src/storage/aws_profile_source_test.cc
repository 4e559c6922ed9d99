#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <string>

#include "base/time_text.h"
#include "storage/aws_credential_sources.h"
#include "support/child_process.h"
#include "support/result_matchers.h"
#include "support/scripted_http_server.h"

namespace tidemark::storage {
namespace {

using namespace std::chrono_literals;
using support::HttpReply;
using support::IsError;
using support::ScriptedHttpServer;
using support::ScriptedRequest;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

MATCHER(IsNothing, "is ok and holds no credentials") {
  return arg.has_value() && !arg->has_value();
}
MATCHER_P3(IsKey, id, secret, token, "") {
  return arg.has_value() && arg->has_value() && (*arg)->key.access_key_id == id &&
         (*arg)->key.secret_access_key == secret && (*arg)->key.session_token == token;
}

std::string StsAnswer(const std::string& id) {
  return "<AssumeRoleResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
         "<AssumeRoleResult><Credentials><AccessKeyId>" +
         id +
         "</AccessKeyId><SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken>"
         "<Expiration>2026-11-30T12:00:00Z</Expiration></Credentials></AssumeRoleResult>"
         "</AssumeRoleResponse>";
}

class ProfileSourceTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, std::string_view text) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  /// "" for no AWS_PROFILE.
  Result<std::optional<AwsCredentials>> Load(std::string_view config,
                                             const std::string& profile = "ci") {
    variables_["AWS_CONFIG_FILE"] = Write("config", config);
    if (!profile.empty()) variables_["AWS_PROFILE"] = profile;
    source_ = MakeProfileSource(
        [this](const char* name) -> std::optional<std::string> {
          const auto it = variables_.find(name);
          return it == variables_.end() ? std::nullopt : std::optional(it->second);
        },
        "eu-west-1", http_);
    return source_->Load(Budget::For(20s));
  }

  support::TemporaryFolder folder_;
  HttpClient http_;
  std::map<std::string, std::string> variables_;
  std::unique_ptr<AwsCredentialSource> source_;
};

constexpr const char* kKeys = "aws_access_key_id=A\naws_secret_access_key=K\n";

TEST_F(ProfileSourceTest, ARoleIsAssumedWithTheKeysOfItsSource) {
  ScriptedHttpServer sts(
      [](const ScriptedRequest&, int) { return HttpReply(200, StsAnswer("ASIA1")); });
  variables_["AWS_ENDPOINT_URL_STS"] = sts.endpoint();
  const auto loaded =
      Load(std::string("[profile ci]\nrole_arn=arn:aws:iam::1:role/reader\nsource_profile=base\n"
                       "external_id=x/1\nduration_seconds=900\n[profile base]\n") +
           kKeys);
  ASSERT_THAT(loaded, IsKey("ASIA1", "S", "T"));
  EXPECT_EQ((*loaded)->expires, WallTimeFromCivil(2026, 11, 30, 12, 0, 0, 0));
  const auto requests = sts.Requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].body,
            "Action=AssumeRole&DurationSeconds=900&ExternalId=x%2F1&RoleArn=arn%3Aaws%3Aiam%3A%3A1"
            "%3Arole%2Freader&RoleSessionName=tidemark&Version=2011-06-15");
  EXPECT_THAT(requests[0].headers.at("authorization"),
              AllOf(HasSubstr("Credential=A/"), HasSubstr("/eu-west-1/sts/aws4_request")));
}

TEST_F(ProfileSourceTest, RolesMayBeAssumedOneWithTheOther) {
  ScriptedHttpServer sts([](const ScriptedRequest&, int number) {
    return HttpReply(200, StsAnswer("ASIA" + std::to_string(number)));
  });
  variables_["AWS_ENDPOINT_URL_STS"] = sts.endpoint();
  EXPECT_THAT(Load(std::string("[profile ci]\nrole_arn=arn:b\nsource_profile=hop\n[profile hop]\n"
                               "role_arn=arn:a\nsource_profile=hop\n") +
                   kKeys),
              IsKey("ASIA2", "S", "T"));
  const auto requests = sts.Requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_THAT(requests[0].body, HasSubstr("RoleArn=arn%3Aa&"));
  EXPECT_THAT(requests[0].headers.at("authorization"), HasSubstr("Credential=A/"));
  EXPECT_THAT(requests[1].body, HasSubstr("RoleArn=arn%3Ab&"));
  EXPECT_THAT(requests[1].headers.at("authorization"), HasSubstr("Credential=ASIA1/"));
  EXPECT_EQ(requests[1].headers.at("x-amz-security-token"), "T");
}

TEST_F(ProfileSourceTest, ARoleMayBeAssumedWithTheCredentialsOfTheEnvironment) {
  ScriptedHttpServer sts(
      [](const ScriptedRequest&, int) { return HttpReply(200, StsAnswer("ASIA1")); });
  variables_["AWS_ENDPOINT_URL"] = sts.endpoint();
  const char* config = "[profile ci]\nrole_arn=arn:a\ncredential_source=Environment\n";
  EXPECT_THAT(Load(config), IsError(ErrorKind::kDenied, HasSubstr("source=Environment")));
  variables_["AWS_ACCESS_KEY_ID"] = "E";
  variables_["AWS_SECRET_ACCESS_KEY"] = "K";
  EXPECT_THAT(Load(config), IsKey("ASIA1", "S", "T"));
  EXPECT_THAT(Load("[profile ci]\nrole_arn=arn:a\ncredential_source=Moon\n"),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("EcsContainer")));
}

TEST_F(ProfileSourceTest, ARefusedRoleIsDeniedWithItsName) {
  ScriptedHttpServer sts([](const ScriptedRequest&, int) {
    return HttpReply(403,
                     "<ErrorResponse><Error><Code>AccessDenied</Code><Message>s3cr3t</Message>"
                     "</Error></ErrorResponse>");
  });
  variables_["AWS_ENDPOINT_URL_STS"] = sts.endpoint();
  EXPECT_THAT(Load(std::string("[profile ci]\nrole_arn=arn:a\nsource_profile=ci\n") + kKeys),
              IsError(ErrorKind::kDenied,
                      AllOf(HasSubstr("role=arn:a profile=ci http=403 code=AccessDenied"),
                            Not(HasSubstr("s3cr3t")))));
}

TEST_F(ProfileSourceTest, SourcesThatNameEachOtherAndSourcesThatAreNotThereAreSaid) {
  EXPECT_THAT(Load("[profile ci]\nrole_arn=arn:a\nsource_profile=b\n[profile b]\nrole_arn=arn:b\n"
                   "source_profile=ci\n"),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("circle")));
  EXPECT_THAT(Load("[profile ci]\nrole_arn=arn:a\nsource_profile=gone\n"),
              IsError(ErrorKind::kNotFound, HasSubstr("profile=gone")));
}

TEST_F(ProfileSourceTest, AProgramGivesTheCredentials) {
  const std::string tool =
      Write("my tool",
            "#!/bin/sh\necho '{\"Version\":1,\"AccessKeyId\":\"'$1'\",\"SecretAccessKey\":\"S\","
            "\"SessionToken\":\"T\",\"Expiration\":\"2026-11-30T12:00:00+00:00\"}'\n");
  const std::string config = "[profile ci]\ncredential_process=/bin/sh \"" + tool + "\" 'P1'\n";
  const auto loaded = Load(config);
  ASSERT_THAT(loaded, IsKey("P1", "S", "T"));
  EXPECT_EQ((*loaded)->expires, WallTimeFromCivil(2026, 11, 30, 12, 0, 0, 0));
}

TEST_F(ProfileSourceTest, AProgramThatGivesNoneIsSaidWithoutWhatItSays) {
  for (const std::string output :
       {"", "s3cr3t", "[]", R"({"Version":2,"AccessKeyId":"A","SecretAccessKey":"s3cr3t"})",
        R"({"AccessKeyId":"A","SecretAccessKey":"s3cr3t"})", R"({"Version":1,"AccessKeyId":"A"})",
        R"({"Version":1,"AccessKeyId":"A\n","SecretAccessKey":"s3cr3t"})",
        R"({"Version":1,"AccessKeyId":"A","SecretAccessKey":"s3cr3t","Expiration":"soon"})"}) {
    EXPECT_THAT(
        Load("[profile ci]\ncredential_process=/bin/cat " + Write("out", output) + "\n"),
        IsError(ErrorKind::kCorrupt, AllOf(HasSubstr("profile=ci"), Not(HasSubstr("s3cr3t")))))
        << output;
  }
  EXPECT_THAT(Load("[profile ci]\ncredential_process=/bin/false s3cr3t\n"),
              IsError(ErrorKind::kDenied, AllOf(HasSubstr("profile=ci"), HasSubstr("/bin/false"),
                                                Not(HasSubstr("s3cr3t")))));
}

TEST_F(ProfileSourceTest, WhatIsNotBuiltInIsUnsupportedWhenAskedForAndARemarkOtherwise) {
  for (const std::string way : {"sso_session=x", "sso_start_url=https://x", "role_arn=arn:a",
                                "role_arn=arn:a\nsource_profile=default\nmfa_serial=arn:mfa",
                                "role_arn=arn:a\nweb_identity_token_file=/t"}) {
    const std::string key = way.contains("mfa")   ? "mfa_serial"
                            : way.contains("web") ? "web_identity_token_file"
                                                  : way.substr(0, way.find('='));
    variables_.erase("AWS_PROFILE");
    EXPECT_THAT(Load("[default]\n" + way + "\n", ""), IsNothing()) << way;
    EXPECT_THAT(source_->Remark(), AllOf(HasSubstr("profile=default"), HasSubstr("way=" + key)));
    EXPECT_THAT(Load("[default]\n" + way + "\n", "default"),
                IsError(ErrorKind::kUnsupported, HasSubstr("way=" + key)));
    EXPECT_EQ(source_->Remark(), "");
  }
}

TEST_F(ProfileSourceTest, WhoFindsNothingIsToldWhichProfileWasPassedOver) {
  variables_["AWS_CONFIG_FILE"] = Write("config", "[default]\nsso_session=x\n");
  SystemClock clock;
  CredentialSources<AwsCredentials> sources;
  sources.push_back(MakeProfileSource(
      [this](const char* name) -> std::optional<std::string> {
        const auto it = variables_.find(name);
        return it == variables_.end() ? std::nullopt : std::optional(it->second);
      },
      "eu-west-1", http_));
  AwsCredentialChain chain(std::move(sources), clock);
  EXPECT_THAT(chain.Get(Budget::For(20s)),
              IsError(ErrorKind::kDenied,
                      AllOf(HasSubstr("no credentials found"), HasSubstr("profile=default"),
                            HasSubstr("way=sso_session"), HasSubstr("export-credentials"))));
}

}  // namespace
}  // namespace tidemark::storage
