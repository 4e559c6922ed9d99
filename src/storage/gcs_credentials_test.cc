#include "storage/gcs_credentials.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "storage/digest.h"
#include "storage/small_file.h"
#include "support/child_process.h"
#include "support/result_matchers.h"
#include "support/scripted_http_server.h"

namespace tidemark::storage {
namespace {

using namespace std::chrono_literals;
using support::HttpReply;
using support::IsError;
using support::IsOk;
using support::ScriptedHttpServer;
using support::ScriptedRequest;
using ::testing::_;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

MATCHER(IsNothing, "is ok and holds no credentials") {
  return arg.has_value() && !arg->has_value();
}

class GcsCredentialsTest : public ::testing::Test {
 protected:
  Environment Variables() const {
    return [variables = variables_](const char* name) -> std::optional<std::string> {
      const auto it = variables.find(name);
      if (it == variables.end()) return std::nullopt;
      return it->second;
    };
  }
  std::string Write(const std::string& name, const nlohmann::json& json) {
    std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << json.dump();
    return path;
  }
  Result<std::optional<GcsCredentials>> LoadFile(const std::string& file = "") {
    return MakeGcsFileSource(Variables(), file, http_, clock_)->Load(budget_);
  }
  Result<std::optional<GcsCredentials>> LoadInstance() {
    return MakeGcsInstanceSource(Variables(), http_, clock_)->Load(budget_);
  }

  support::TemporaryFolder folder_;
  HttpClient http_;
  SystemClock clock_;
  std::map<std::string, std::string> variables_;
  const Budget budget_ = Budget::For(30s);
};

TEST_F(GcsCredentialsTest, AServiceAccountProvesItselfByASignedToken) {
  support::ChildOptions options;
  options.command = {"openssl", "genpkey", "-algorithm", "RSA", "-out", "key.pem"};
  options.folder = folder_.path();
  ASSERT_OK_ASSIGN(const auto openssl, support::ChildProcess::Start(options));
  ASSERT_OK_ASSIGN(const int code, openssl->WaitForExit(60s));
  ASSERT_EQ(code, 0);
  ScriptedHttpServer server([](const ScriptedRequest&, int) {
    return HttpReply(200, R"({"access_token":"t0ken","expires_in":3599,"token_type":"Bearer"})");
  });
  const std::string file = Write(
      "account.json", {{"type", "service_account"},
                       {"client_email", "reader@lake.iam.example"},
                       {"private_key_id", "k1"},
                       {"private_key", ReadSmallFile(folder_.path() + "/key.pem").value_or("")},
                       {"token_uri", server.endpoint() + "/token"}});
  const WallTime before = clock_.Now();
  variables_["GOOGLE_APPLICATION_CREDENTIALS"] = file;
  ASSERT_OK_ASSIGN(const auto found, LoadFile());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->token, "t0ken");
  EXPECT_EQ(found->who, "reader@lake.iam.example");
  EXPECT_GE(*found->expires - before, 3599s);
  EXPECT_LT(*found->expires - before, 3700s);
  const auto requests = server.Requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].target, "/token");
  EXPECT_THAT(requests[0].body,
              HasSubstr("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"));
  const std::string assertion = requests[0].body.substr(requests[0].body.find("=") + 1);
  const size_t dot = assertion.find('.');
  std::string claims = assertion.substr(dot + 1, assertion.find('.', dot + 1) - dot - 1);
  claims.resize((claims.size() + 3) / 4 * 4, '=');
  const auto json = nlohmann::json::parse(Base64Decoded(claims).value_or("{}"));
  EXPECT_EQ(json.value("iss", ""), "reader@lake.iam.example");
  EXPECT_EQ(json.value("aud", ""), server.endpoint() + "/token");
  EXPECT_EQ(json.value("exp", 0) - json.value("iat", 0), 3600);
  EXPECT_THAT(json.value("scope", ""), HasSubstr("devstorage"));
}

TEST_F(GcsCredentialsTest, AUserIsRefreshed) {
  ScriptedHttpServer server([](const ScriptedRequest&, int) {
    return HttpReply(200, R"({"access_token":"u","expires_in":"60"})");
  });
  variables_["HOME"] = folder_.path();
  variables_["CLOUDSDK_CONFIG"] = folder_.path();
  EXPECT_THAT(LoadFile(), IsNothing()) << "gcloud has written nothing";
  Write("application_default_credentials.json", {{"type", "authorized_user"},
                                                 {"client_id", "c"},
                                                 {"client_secret", "s3cr3t"},
                                                 {"refresh_token", "r"},
                                                 {"token_uri", server.endpoint()}});
  ASSERT_OK_ASSIGN(const auto found, LoadFile());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->token, "u");
  EXPECT_EQ(server.Requests()[0].body,
            "client_id=c&client_secret=s3cr3t&grant_type=refresh_token&refresh_token=r");
}

TEST_F(GcsCredentialsTest, WhatIsConfiguredAndDoesNotWorkIsSaid) {
  EXPECT_THAT(LoadFile("/dev/null/none"), IsError(ErrorKind::kNotFound, _));
  EXPECT_THAT(LoadFile(Write("a", nlohmann::json::array())), IsError(ErrorKind::kCorrupt, _));
  EXPECT_THAT(LoadFile(Write("b", {{"type", "external_account"}})),
              IsError(ErrorKind::kUnsupported, HasSubstr("external_account")));
  EXPECT_THAT(LoadFile(Write("c", {{"type", "service_account"}, {"private_key", "s3cr3t"}})),
              IsError(ErrorKind::kInvalidArgument,
                      AllOf(HasSubstr("private RSA key"), Not(HasSubstr("s3cr3t")))));
  const nlohmann::json user = {{"type", "authorized_user"}, {"client_secret", "s3cr3t"}};
  nlohmann::json in_clear = user;
  in_clear["token_uri"] = "http://tokens.example/";
  EXPECT_THAT(LoadFile(Write("d", in_clear)),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("https")));
  const struct {
    int status;
    const char* body;
    ErrorKind kind;
    const char* text;
  } cases[] = {
      {400, R"({"error":"invalid_grant","error_description":"Token has been revoked."})",
       ErrorKind::kDenied, "invalid_grant: Token has been revoked."},
      {200, "{}", ErrorKind::kCorrupt, "no access token"},
      {200, R"({"access_token":"a\r\nx-evil: 1"})", ErrorKind::kCorrupt, "no access token"},
      {503, "", ErrorKind::kUnavailable, "http=503"},
  };
  for (const auto& [status, body, kind, text] : cases) {
    ScriptedHttpServer server([&](const ScriptedRequest&, int) { return HttpReply(status, body); });
    nlohmann::json file = user;
    file["token_uri"] = server.endpoint();
    EXPECT_THAT(LoadFile(Write("e", file)),
                IsError(kind, AllOf(HasSubstr(text), HasSubstr("/e"), Not(HasSubstr("s3cr3t")))));
  }
}

TEST_F(GcsCredentialsTest, AMachineOfGooglesHasAToken) {
  ScriptedHttpServer server([](const ScriptedRequest&, int) {
    return HttpReply(200, R"({"access_token":"m","expires_in":100})",
                     "Metadata-Flavor: Google\r\n");
  });
  variables_["GCE_METADATA_HOST"] = "127.0.0.1:" + std::to_string(server.port());
  ASSERT_OK_ASSIGN(const auto found, LoadInstance());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->token, "m");
  const auto requests = server.Requests();
  EXPECT_EQ(requests[0].target, "/computeMetadata/v1/instance/service-accounts/default/token");
  EXPECT_EQ(requests[0].headers.at("metadata-flavor"), "Google");
  variables_["NO_GCE_CHECK"] = "true";
  EXPECT_THAT(LoadInstance(), IsNothing());
}

TEST_F(GcsCredentialsTest, ElsewhereNobodyOrSomebodyElseAnswers) {
  variables_["GCE_METADATA_HOST"] = "127.0.0.1:1";
  EXPECT_THAT(LoadInstance(), IsNothing());
  ScriptedHttpServer other([](const ScriptedRequest&, int) { return HttpReply(401, "EC2"); });
  variables_["GCE_METADATA_HOST"] = "127.0.0.1:" + std::to_string(other.port());
  EXPECT_THAT(LoadInstance(), IsNothing());
  ScriptedHttpServer bare([](const ScriptedRequest&, int) {
    return HttpReply(404, "", "Metadata-Flavor: Google\r\n");
  });
  variables_["GCE_METADATA_HOST"] = "127.0.0.1:" + std::to_string(bare.port());
  EXPECT_THAT(LoadInstance(), IsNothing()) << "a machine without a service account";
  std::stop_source source;
  source.request_stop();
  EXPECT_THAT(
      MakeGcsInstanceSource(Variables(), http_, clock_)->Load(Budget::For(1h, source.get_token())),
      IsError(ErrorKind::kCancelled, _));
}

}  // namespace
}  // namespace tidemark::storage
