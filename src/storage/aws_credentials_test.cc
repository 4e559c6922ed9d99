#include "storage/aws_credentials.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <thread>

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
using support::IsOk;
using support::ScriptedHttpServer;
using support::ScriptedReply;
using support::ScriptedRequest;
using ::testing::_;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Environment Variables(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    if (it == variables.end()) return std::nullopt;
    return it->second;
  };
}

MATCHER(IsNothing, "is ok and holds no credentials") {
  return arg.has_value() && !arg->has_value();
}
MATCHER_P3(IsKey, id, secret, token, "") {
  return arg.has_value() && arg->has_value() && (*arg)->key.access_key_id == id &&
         (*arg)->key.secret_access_key == secret && (*arg)->key.session_token == token;
}

const Budget kBudget = [] {
  Budget budget = Budget::For(20s);
  budget.retry_delay = 1ms;
  return budget;
}();

TEST(EnvironmentSourceTest, ReadsKeyAndToken) {
  EXPECT_THAT(MakeEnvironmentSource(Variables({}))->Load(kBudget), IsNothing());
  EXPECT_THAT(
      MakeEnvironmentSource(Variables({{"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "S"}}))
          ->Load(kBudget),
      IsKey("A", "S", ""));
  EXPECT_THAT(MakeEnvironmentSource(Variables({{"AWS_ACCESS_KEY_ID", "A"},
                                               {"AWS_SECRET_ACCESS_KEY", "S"},
                                               {"AWS_SESSION_TOKEN", "T"}}))
                  ->Load(kBudget),
              IsKey("A", "S", "T"));
}

TEST(EnvironmentSourceTest, HalfAKeyIsSaid) {
  EXPECT_THAT(MakeEnvironmentSource(Variables({{"AWS_ACCESS_KEY_ID", "A"}}))->Load(kBudget),
              IsError(ErrorKind::kDenied, HasSubstr("missing=AWS_SECRET_ACCESS_KEY")));
  EXPECT_THAT(
      MakeEnvironmentSource(
          Variables({{"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "s3cr3t\n"}}))
          ->Load(kBudget),
      IsError(ErrorKind::kDenied, AllOf(HasSubstr("line break"), Not(HasSubstr("s3cr3t")))));
}

class FileSourceTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, std::string_view text) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  std::map<std::string, std::string> Files(std::string_view credentials, std::string_view config) {
    return {{"AWS_SHARED_CREDENTIALS_FILE", Write("credentials", credentials)},
            {"AWS_CONFIG_FILE", Write("config", config)}};
  }
  support::TemporaryFolder folder_;
  HttpClient http_;
};

TEST_F(FileSourceTest, AProfileGivesItsKeys) {
  auto variables = Files(
      "[default]\naws_access_key_id=A\naws_secret_access_key=S\n"
      "[ci]\naws_access_key_id=B\naws_secret_access_key=T\naws_session_token=U\n",
      "");
  EXPECT_THAT(MakeProfileSource(Variables(variables), "eu-west-1", http_)->Load(kBudget),
              IsKey("A", "S", ""));
  variables["AWS_PROFILE"] = "ci";
  EXPECT_THAT(MakeProfileSource(Variables(variables), "eu-west-1", http_)->Load(kBudget),
              IsKey("B", "T", "U"));
}

TEST_F(FileSourceTest, HalfAProfileIsSaid) {
  const auto variables = Files("[default]\naws_access_key_id=A\n", "");
  EXPECT_THAT(MakeProfileSource(Variables(variables), "eu-west-1", http_)->Load(kBudget),
              IsError(ErrorKind::kDenied, HasSubstr("profile=default")));
}

constexpr std::string_view kStsAnswer =
    "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>"
    "<AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>S</SecretAccessKey>"
    "<SessionToken>T</SessionToken><Expiration>2026-11-30T12:00:00Z</Expiration>"
    "</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>";

TEST_F(FileSourceTest, AWebIdentityIsExchangedForARole) {
  ScriptedHttpServer sts([](const ScriptedRequest&, int number) {
    return number == 1 ? HttpReply(503, "") : HttpReply(200, std::string(kStsAnswer));
  });
  const auto source =
      MakeWebIdentitySource(Variables({{"AWS_WEB_IDENTITY_TOKEN_FILE", Write("token", "jwt+1/\n")},
                                       {"AWS_ROLE_ARN", "arn:aws:iam::1:role/reader"},
                                       {"AWS_ENDPOINT_URL_STS", sts.endpoint()}}),
                            "eu-west-1", http_);
  const auto loaded = source->Load(kBudget);
  ASSERT_THAT(loaded, IsKey("ASIA1", "S", "T"));
  EXPECT_EQ((*loaded)->expires, WallTimeFromCivil(2026, 11, 30, 12, 0, 0, 0));
  const auto requests = sts.Requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[1].method, "POST");
  EXPECT_EQ(requests[1].body,
            "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Freader&"
            "RoleSessionName=tidemark&Version=2011-06-15&WebIdentityToken=jwt%2B1%2F");
}

TEST_F(FileSourceTest, ARefusedWebIdentityIsDeniedWithoutTheToken) {
  ScriptedHttpServer sts([](const ScriptedRequest&, int) {
    return HttpReply(400,
                     "<ErrorResponse><Error><Code>InvalidIdentityToken</Code>"
                     "<Message>jwt-secret</Message></Error></ErrorResponse>");
  });
  const auto source = MakeWebIdentitySource(
      Variables({{"AWS_WEB_IDENTITY_TOKEN_FILE", Write("token", "jwt-secret")},
                 {"AWS_ROLE_ARN", "arn:role"},
                 {"AWS_ENDPOINT_URL_STS", sts.endpoint()}}),
      "eu-west-1", http_);
  EXPECT_THAT(source->Load(kBudget),
              IsError(ErrorKind::kDenied, AllOf(HasSubstr("InvalidIdentityToken"),
                                                HasSubstr("arn:role"), Not(HasSubstr("jwt")))));
}

constexpr std::string_view kJson =
    R"({"Code":"Success","AccessKeyId":"ASIA2","SecretAccessKey":"S","Token":"T",)"
    R"("Expiration":"2026-11-30T12:00:00Z"})";

TEST_F(FileSourceTest, AContainerAsksItsAgentWithTheToken) {
  ScriptedHttpServer agent(
      [](const ScriptedRequest&, int) { return HttpReply(200, std::string(kJson)); });
  const auto source = MakeContainerSource(
      Variables({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", agent.endpoint() + "/v1/credentials"},
                 {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", Write("token", "secret-token\n")}}),
      http_);
  EXPECT_THAT(source->Load(kBudget), IsKey("ASIA2", "S", "T"));
  const auto requests = agent.Requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].target, "/v1/credentials");
  EXPECT_EQ(requests[0].headers.at("authorization"), "secret-token");
}

TEST_F(FileSourceTest, AContainerAgentElsewhereIsNotAskedInClearText) {
  for (const char* uri : {"http://evil.example/x", "http://127.0.0.1.evil.example/x",
                          "ftp://127.0.0.1/x", "http://localhost@evil.example/"}) {
    const auto source =
        MakeContainerSource(Variables({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", uri}}), http_);
    EXPECT_THAT(source->Load(kBudget), IsError(ErrorKind::kDenied, HasSubstr("https"))) << uri;
  }
}

TEST_F(FileSourceTest, AContainerAnswerWithoutCredentialsIsCorrupt) {
  for (const std::string body : {"", "[]", "{}", "{\"AccessKeyId\":1}", "{\"AccessKeyId\":\"A\""}) {
    ScriptedHttpServer agent([&](const ScriptedRequest&, int) { return HttpReply(200, body); });
    const auto source = MakeContainerSource(
        Variables({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", agent.endpoint()}}), http_);
    EXPECT_THAT(source->Load(kBudget), IsError(ErrorKind::kCorrupt, _)) << body;
  }
}

ScriptedReply Imds(const ScriptedRequest& request) {
  if (request.target == "/latest/api/token" && request.method == "PUT")
    return HttpReply(200, "metadata-token");
  if (!request.headers.contains("x-aws-ec2-metadata-token")) return HttpReply(401, "");
  if (request.target == "/latest/meta-data/iam/security-credentials/")
    return HttpReply(200, "lake-reader");
  if (request.target == "/latest/meta-data/iam/security-credentials/lake-reader")
    return HttpReply(200, std::string(kJson));
  return HttpReply(404, "");
}

TEST_F(FileSourceTest, AnInstanceGivesTheCredentialsOfItsRole) {
  ScriptedHttpServer imds([](const ScriptedRequest& request, int) { return Imds(request); });
  const auto source = MakeInstanceSource(
      Variables({{"AWS_EC2_METADATA_SERVICE_ENDPOINT", imds.endpoint()}}), http_);
  EXPECT_THAT(source->Load(kBudget), IsKey("ASIA2", "S", "T"));
}

TEST_F(FileSourceTest, AnInstanceWithoutARoleHasNone) {
  ScriptedHttpServer imds([](const ScriptedRequest& request, int) {
    return request.method == "PUT" ? HttpReply(200, "t") : HttpReply(404, "");
  });
  const auto source = MakeInstanceSource(
      Variables({{"AWS_EC2_METADATA_SERVICE_ENDPOINT", imds.endpoint()}}), http_);
  EXPECT_THAT(source->Load(kBudget), IsNothing());
}

TEST_F(FileSourceTest, ElsewhereTheInstanceQuestionEndsSoon) {
  ScriptedHttpServer silent([](const ScriptedRequest&, int) {
    ScriptedReply reply;
    reply.wait_before = 1min;
    return reply;
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto source = MakeInstanceSource(
      Variables({{"AWS_EC2_METADATA_SERVICE_ENDPOINT", silent.endpoint()}}), http_);
  EXPECT_THAT(source->Load(kBudget), IsNothing());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
}

TEST_F(FileSourceTest, TheInstanceQuestionCanBeSwitchedOff) {
  ScriptedHttpServer imds([](const ScriptedRequest& request, int) { return Imds(request); });
  const auto source =
      MakeInstanceSource(Variables({{"AWS_EC2_METADATA_SERVICE_ENDPOINT", imds.endpoint()},
                                    {"AWS_EC2_METADATA_DISABLED", "true"}}),
                         http_);
  EXPECT_THAT(source->Load(kBudget), IsNothing());
  EXPECT_TRUE(imds.Requests().empty());
}

class FakeClock final : public Clock {
 public:
  WallTime Now() const override { return WallTime(1h) + passed; }
  MonoTime Mono() const override { return MonoTime(1h) + passed; }
  Milliseconds passed{0};
};

/// Gives "K1", "K2", … that end after an hour each, or fails.
class CountingSource final : public AwsCredentialSource {
 public:
  explicit CountingSource(const Clock& clock, int& calls, const std::optional<Error>& error)
      : clock_(clock), calls_(calls), error_(error) {}
  std::string_view name() const override { return "counting"; }
  Result<std::optional<AwsCredentials>> Load(const Budget&) const override {
    ++calls_;
    if (error_) return std::unexpected(*error_);
    return AwsCredentials{{"K" + std::to_string(calls_), "S", "T"}, clock_.Now() + 1h};
  }

 private:
  const Clock& clock_;
  int& calls_;
  const std::optional<Error>& error_;
};

class CredentialChainTest : public ::testing::Test {
 protected:
  CredentialChainTest() : chain_(Sources(), clock_) {}
  CredentialSources<AwsCredentials> Sources() {
    CredentialSources<AwsCredentials> sources;
    sources.push_back(MakeEnvironmentSource(Variables({})));
    sources.push_back(std::make_unique<CountingSource>(clock_, calls_, error_));
    return sources;
  }
  std::string Key() {
    const auto credentials = chain_.Get(kBudget);
    return credentials ? credentials->key.access_key_id : "error";
  }

  FakeClock clock_;
  int calls_ = 0;
  std::optional<Error> error_;
  AwsCredentialChain chain_;
};

TEST_F(CredentialChainTest, TemporaryCredentialsAreRenewedBeforeTheyEnd) {
  EXPECT_EQ(Key(), "K1");
  clock_.passed = 54min;
  EXPECT_EQ(Key(), "K1");
  clock_.passed = 56min;
  EXPECT_EQ(Key(), "K2");
  EXPECT_EQ(calls_, 2);
}

TEST_F(CredentialChainTest, AFailedRenewalLeavesWhatStillHolds) {
  EXPECT_EQ(Key(), "K1");
  clock_.passed = 56min;
  error_ = Error{ErrorKind::kUnavailable, "down"};
  EXPECT_EQ(Key(), "K1");
  EXPECT_EQ(Key(), "K1");
  EXPECT_EQ(calls_, 2) << "a failure is not asked for again at once";
  clock_.passed = 61min;
  EXPECT_EQ(Key(), "error");
  error_.reset();
  clock_.passed = 62min;
  EXPECT_EQ(Key(), "K4");
}

TEST_F(CredentialChainTest, AFailureNamesItsPlaceAndIsKeptForAWhile) {
  error_ = Error{ErrorKind::kDenied, "no"};
  EXPECT_THAT(chain_.Get(kBudget), IsError(ErrorKind::kDenied, HasSubstr("counting")));
  EXPECT_THAT(chain_.Get(kBudget), IsError(ErrorKind::kDenied, _));
  EXPECT_EQ(calls_, 1);
  error_.reset();
  clock_.passed = 31s;
  EXPECT_EQ(Key(), "K2");
}

TEST_F(CredentialChainTest, RefusedCredentialsAreForgottenOnce) {
  ASSERT_OK_ASSIGN(const AwsCredentials first, chain_.Get(kBudget));
  chain_.Forget(first);
  EXPECT_EQ(Key(), "K2");
  chain_.Forget(first);
  EXPECT_EQ(Key(), "K2");
}

TEST_F(CredentialChainTest, AWaitForAnotherCallersQuestionEndsWithTheBudget) {
  ScriptedHttpServer slow([](const ScriptedRequest&, int) {
    ScriptedReply reply = HttpReply(200, std::string(kJson));
    reply.wait_before = 1s;
    return reply;
  });
  HttpClient http;
  CredentialSources<AwsCredentials> sources;
  sources.push_back(MakeContainerSource(
      Variables({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", slow.endpoint()}}), http));
  AwsCredentialChain chain(std::move(sources), clock_);
  std::jthread first([&] { EXPECT_THAT(chain.Get(kBudget), IsOk()); });
  while (slow.Requests().empty()) std::this_thread::yield();
  EXPECT_THAT(chain.Get(Budget::For(50ms)), IsError(ErrorKind::kUnavailable, _));
  EXPECT_THAT(chain.Get(kBudget), IsOk());
  EXPECT_EQ(slow.Requests().size(), 1u);
}

TEST(CredentialChainPlacesTest, NothingFoundNamesThePlaces) {
  SystemClock clock;
  HttpClient http;
  CredentialSources<AwsCredentials> sources;
  sources.push_back(MakeEnvironmentSource(Variables({})));
  sources.push_back(MakeProfileSource(Variables({}), "eu-west-1", http));
  AwsCredentialChain chain(std::move(sources), clock);
  EXPECT_THAT(chain.Get(kBudget),
              IsError(ErrorKind::kDenied,
                      AllOf(HasSubstr("AWS_ACCESS_KEY_ID"), HasSubstr("~/.aws/credentials"))));
}

}  // namespace
}  // namespace tidemark::storage
