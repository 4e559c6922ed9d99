#include "storage/azure_credentials.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

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
using support::ScriptedReply;
using support::ScriptedRequest;
using ::testing::_;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

MATCHER(IsNothing, "is ok and holds no credentials") {
  return arg.has_value() && !arg->has_value();
}
MATCHER_P(HasToken, token, "") {
  return arg.has_value() && arg->has_value() && (*arg)->token == token;
}

class AzureCredentialsTest : public ::testing::Test {
 protected:
  Environment Variables() const {
    return [variables = variables_](const char* name) -> std::optional<std::string> {
      const auto it = variables.find(name);
      if (it == variables.end()) return std::nullopt;
      return it->second;
    };
  }
  Result<std::optional<AzureCredentials>> LoadAccount(const AzureSecrets& settings = {}) {
    return MakeAzureAccountSource(Variables(), "lake", settings)->Load(budget_);
  }
  Result<std::optional<AzureCredentials>> LoadManaged() {
    return MakeAzureManagedSource(Variables(), http_, clock_)->Load(budget_);
  }

  HttpClient http_;
  SystemClock clock_;
  std::map<std::string, std::string> variables_;
  const Budget budget_ = Budget::For(30s);
};

TEST_F(AzureCredentialsTest, SettingsComeBeforeTheEnvironment) {
  EXPECT_THAT(LoadAccount(), IsNothing());
  variables_["AZURE_STORAGE_CONNECTION_STRING"] = "AccountName=lake;AccountKey=Yw==;";
  ASSERT_OK_ASSIGN(auto found, LoadAccount());
  EXPECT_EQ(found->account_key, "c");
  variables_["AZURE_STORAGE_SAS_TOKEN"] = "?sv=1&sig=a%2Fb";
  ASSERT_OK_ASSIGN(found, LoadAccount());
  EXPECT_EQ(found->sas, "sv=1&sig=a%2Fb");
  variables_["AZURE_STORAGE_KEY"] = "ZQ==";
  ASSERT_OK_ASSIGN(found, LoadAccount());
  EXPECT_EQ(found->account_key, "e");
  ASSERT_OK_ASSIGN(found, LoadAccount({"cw==", ""}));
  EXPECT_EQ(found->account_key, "s");
  EXPECT_FALSE(found->expires.has_value());
}

TEST_F(AzureCredentialsTest, ASecretOfAnotherAccountIsNotSent) {
  variables_["AZURE_STORAGE_ACCOUNT"] = "pond";
  variables_["AZURE_STORAGE_KEY"] = "ZQ==";
  EXPECT_THAT(LoadAccount(), IsNothing());
  variables_["AZURE_STORAGE_CONNECTION_STRING"] = "AccountName=pond;AccountKey=Yw==;";
  EXPECT_THAT(LoadAccount(), IsNothing());
}

TEST_F(AzureCredentialsTest, WhatIsNoSecretIsSaidAndNotRepeated) {
  const auto refused = IsError(ErrorKind::kInvalidArgument, Not(HasSubstr("s3cr3t")));
  EXPECT_THAT(LoadAccount({"s3cr3t!", ""}), refused);
  EXPECT_THAT(LoadAccount({"", "sv=s3cr3t\r\nx: y"}), refused);
  EXPECT_THAT(LoadAccount({"", "?"}), refused);
  variables_["AZURE_STORAGE_CONNECTION_STRING"] = "AccountName=lake;s3cr3t";
  EXPECT_THAT(LoadAccount(), refused);
}

TEST_F(AzureCredentialsTest, AConnectionStringNamesAccountEndpointAndSecret) {
  ASSERT_OK_ASSIGN(AzureConnection connection,
                   ParseAzureConnection("DefaultEndpointsProtocol=https;AccountName=lake;"
                                        "AccountKey=YQ==;EndpointSuffix=core.chinacloudapi.cn"));
  EXPECT_EQ(connection.account, "lake");
  EXPECT_EQ(connection.secrets.account_key, "YQ==");
  EXPECT_EQ(connection.blob_endpoint, "https://lake.blob.core.chinacloudapi.cn");
  ASSERT_OK_ASSIGN(connection, ParseAzureConnection("BlobEndpoint=http://127.0.0.1:10000/lake;"
                                                    "SharedAccessSignature=sv=1&sig=x=;;"));
  EXPECT_EQ(connection.blob_endpoint, "http://127.0.0.1:10000/lake");
  EXPECT_EQ(connection.secrets.sas_token, "sv=1&sig=x=");
}

TEST_F(AzureCredentialsTest, AClientGetsATokenByItsSecret) {
  ScriptedHttpServer server([](const ScriptedRequest&, int) {
    return HttpReply(200, R"({"token_type":"Bearer","expires_in":3599,"access_token":"t"})");
  });
  const auto source = [&] { return MakeAzureClientSource(Variables(), http_, clock_); };
  variables_ = {{"AZURE_TENANT_ID", "te/nant"},
                {"AZURE_CLIENT_ID", "client"},
                {"AZURE_AUTHORITY_HOST", server.endpoint() + "/"}};
  EXPECT_THAT(source()->Load(budget_), IsNothing());
  variables_["AZURE_CLIENT_SECRET"] = "s3cr3t";
  EXPECT_THAT(source()->Load(budget_), HasToken("t"));
  const auto requests = server.Requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].target, "/te%2Fnant/oauth2/v2.0/token");
  EXPECT_EQ(requests[0].body,
            "client_id=client&client_secret=s3cr3t&grant_type=client_credentials&"
            "scope=https%3A%2F%2Fstorage.azure.com%2F.default");
}

TEST_F(AzureCredentialsTest, APodGetsATokenByItsOwn) {
  ScriptedHttpServer server([](const ScriptedRequest&, int) {
    return HttpReply(200, R"({"expires_in":"3599","access_token":"w"})");
  });
  const support::TemporaryFolder folder;
  std::ofstream(folder.path() + "/token") << "assertion\n";
  variables_ = {{"AZURE_TENANT_ID", "t"},
                {"AZURE_CLIENT_ID", "c"},
                {"AZURE_AUTHORITY_HOST", server.endpoint()}};
  const auto source = [&] { return MakeAzureWorkloadSource(Variables(), http_, clock_); };
  EXPECT_THAT(source()->Load(budget_), IsNothing());
  variables_["AZURE_FEDERATED_TOKEN_FILE"] = folder.path() + "/token";
  EXPECT_THAT(source()->Load(budget_), HasToken("w"));
  EXPECT_THAT(server.Requests()[0].body,
              AllOf(HasSubstr("client_assertion=assertion&"), HasSubstr("jwt-bearer")));
  variables_["AZURE_FEDERATED_TOKEN_FILE"] = "/dev/null/none";
  EXPECT_THAT(source()->Load(budget_), IsError(ErrorKind::kNotFound, _));
}

TEST_F(AzureCredentialsTest, ARefusedClientIsSaid) {
  ScriptedHttpServer server([](const ScriptedRequest&, int) {
    return HttpReply(401, R"({"error":"invalid_client","error_description":"AADSTS7000215: no"})");
  });
  variables_ = {{"AZURE_TENANT_ID", "t"},
                {"AZURE_CLIENT_ID", "c"},
                {"AZURE_CLIENT_SECRET", "s3cr3t"},
                {"AZURE_AUTHORITY_HOST", server.endpoint()}};
  const auto source = [&] { return MakeAzureClientSource(Variables(), http_, clock_); };
  EXPECT_THAT(source()->Load(budget_),
              IsError(ErrorKind::kDenied, AllOf(HasSubstr("AADSTS7000215"), HasSubstr("client=c"),
                                                Not(HasSubstr("s3cr3t")))));
  variables_["AZURE_AUTHORITY_HOST"] = "http://login.example";
  EXPECT_THAT(source()->Load(budget_), IsError(ErrorKind::kInvalidArgument, HasSubstr("https")));
}

TEST_F(AzureCredentialsTest, AMachineAndAnAppHaveIdentities) {
  ScriptedHttpServer server([](const ScriptedRequest&, int) {
    return HttpReply(200, R"({"access_token":"m","expires_in":"86399"})");
  });
  variables_["AZURE_POD_IDENTITY_AUTHORITY_HOST"] = server.endpoint();
  EXPECT_THAT(LoadManaged(), HasToken("m"));
  variables_["AZURE_CLIENT_ID"] = "c";
  variables_["IDENTITY_ENDPOINT"] = server.endpoint() + "/app";
  variables_["IDENTITY_HEADER"] = "proof";
  EXPECT_THAT(LoadManaged(), HasToken("m"));
  const auto requests = server.Requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].target,
            "/metadata/identity/oauth2/token?api-version=2018-02-01&"
            "resource=https%3A%2F%2Fstorage.azure.com%2F");
  EXPECT_EQ(requests[0].headers.at("metadata"), "true");
  EXPECT_EQ(requests[1].target,
            "/app?api-version=2019-08-01&client_id=c&resource=https%3A%2F%2Fstorage.azure.com%2F");
  EXPECT_EQ(requests[1].headers.at("x-identity-header"), "proof");
}

TEST_F(AzureCredentialsTest, ElsewhereThereIsNoIdentityUnlessOneIsNamed) {
  variables_["AZURE_POD_IDENTITY_AUTHORITY_HOST"] = "http://127.0.0.1:1";
  EXPECT_THAT(LoadManaged(), IsNothing());
  ScriptedReply reply = HttpReply(404, "");
  ScriptedHttpServer server([&](const ScriptedRequest&, int) { return reply; });
  variables_["AZURE_POD_IDENTITY_AUTHORITY_HOST"] = server.endpoint();
  for (const int status : {400, 401, 403, 404}) {
    reply = HttpReply(status, R"({"error":"invalid_request"})");
    EXPECT_THAT(LoadManaged(), IsNothing()) << status;
  }
  variables_["AZURE_CLIENT_ID"] = "c";
  reply = HttpReply(400, R"({"error":"invalid_request","error_description":"Identity not found"})");
  EXPECT_THAT(LoadManaged(), IsError(ErrorKind::kDenied, HasSubstr("Identity not found")));
}

}  // namespace
}  // namespace tidemark::storage
