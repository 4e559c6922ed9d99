#include "storage/aws_profile.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "support/child_process.h"
#include "support/result_matchers.h"

namespace tidemark::storage {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::_;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kFile =
    "\xef\xbb\xbf# comment\r\n[default]\r\naws_access_key_id = AKIA1\r\n"
    "AWS_SECRET_ACCESS_KEY=abc=/+\n\n[ profile   ci ]\ns3 =\n  max_concurrent_requests = 20\n"
    "region = eu-west-1 \n; other\nregion=eu-west-2\n";

TEST(AwsFileTest, SectionsHoldSettings) {
  ASSERT_OK_ASSIGN(const AwsSections sections, ParseAwsFile(kFile));
  ASSERT_TRUE(sections.contains("default"));
  EXPECT_EQ(sections.at("default").at("aws_access_key_id"), "AKIA1");
  EXPECT_EQ(sections.at("default").at("aws_secret_access_key"), "abc=/+");
  ASSERT_TRUE(sections.contains("profile ci"));
  EXPECT_EQ(sections.at("profile ci").at("region"), "eu-west-2");
  EXPECT_FALSE(sections.at("profile ci").contains("max_concurrent_requests"));
}

TEST(AwsFileTest, ABadLineIsNamedByItsNumberOnly) {
  for (const std::string_view text :
       {"[default]\nsecret-without-equals\n", "x=1\n", "[default\n", "[]\n", "[a]\n=secret\n"}) {
    EXPECT_THAT(ParseAwsFile(text),
                IsError(ErrorKind::kCorrupt, AllOf(HasSubstr("line="), Not(HasSubstr("secret")))))
        << text;
  }
}

TEST(AwsFileTest, EveryTruncationAndFlipGivesAValueOrCorrupt) {
  for (size_t i = 0; i < kFile.size(); ++i) {
    (void)ParseAwsFile(kFile.substr(0, i)).has_value();
    for (int byte = 0; byte < 256; ++byte) {
      std::string flipped(kFile);
      flipped[i] = static_cast<char>(byte);
      const auto sections = ParseAwsFile(flipped);
      if (!sections) {
        EXPECT_EQ(sections.error().kind, ErrorKind::kCorrupt);
      }
    }
  }
}

class AwsProfileTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, std::string_view text) {
    std::ofstream(folder_.path() + "/" + name) << text;
  }
  Result<AwsProfile> Load(std::string profile = "") {
    std::map<std::string, std::string> variables = {
        {"AWS_SHARED_CREDENTIALS_FILE", folder_.path() + "/credentials"},
        {"AWS_CONFIG_FILE", folder_.path() + "/config"}};
    if (!profile.empty()) variables["AWS_PROFILE"] = profile;
    return LoadAwsProfile([variables](const char* name) -> std::optional<std::string> {
      const auto it = variables.find(name);
      if (it == variables.end()) return std::nullopt;
      return it->second;
    });
  }
  support::TemporaryFolder folder_;
};

TEST_F(AwsProfileTest, TheCredentialsFileWins) {
  Write("config", "[default]\nregion=eu-west-1\naws_access_key_id=from-config\n");
  Write("credentials", "[default]\naws_access_key_id=from-credentials\n");
  ASSERT_OK_ASSIGN(const AwsProfile profile, Load());
  EXPECT_EQ(profile.settings.at("region"), "eu-west-1");
  EXPECT_EQ(profile.settings.at("aws_access_key_id"), "from-credentials");
}

TEST_F(AwsProfileTest, ANamedProfileIsFoundInBothFiles) {
  Write("config", "[profile ci]\nregion=eu-west-3\n[ci]\nregion=wrong\n[default]\nregion=x\n");
  Write("credentials", "[ci]\naws_access_key_id=A\n");
  ASSERT_OK_ASSIGN(const AwsProfile profile, Load("ci"));
  EXPECT_EQ(profile.settings.at("region"), "eu-west-3");
  EXPECT_EQ(profile.settings.at("aws_access_key_id"), "A");
}

TEST_F(AwsProfileTest, FilesMayBeMissingUnlessAProfileIsAskedFor) {
  ASSERT_OK_ASSIGN(const AwsProfile profile, Load());
  EXPECT_TRUE(profile.settings.empty());
  EXPECT_THAT(Load("ci"), IsError(ErrorKind::kNotFound,
                                  AllOf(HasSubstr("profile=ci"), HasSubstr("/credentials"))));
}

TEST_F(AwsProfileTest, ABrokenFileIsNamed) {
  Write("credentials", "no section\n");
  EXPECT_THAT(Load(), IsError(ErrorKind::kCorrupt, HasSubstr("/credentials")));
}

TEST_F(AwsProfileTest, AnEndlessFileIsABound) {
  Write("config", std::string(2 << 20, '#'));
  EXPECT_THAT(Load(), IsError(ErrorKind::kExhausted, HasSubstr("/config")));
}

TEST_F(AwsProfileTest, RegionAndEndpointAreThoseOfTheEnvironmentBeforeTheProfiles) {
  const auto of = [](std::map<std::string, std::string> variables) -> Environment {
    return [variables](const char* name) -> std::optional<std::string> {
      const auto it = variables.find(name);
      return it == variables.end() ? std::nullopt : std::optional(it->second);
    };
  };
  EXPECT_EQ(AwsRegionOfEnvironment(of({{"AWS_REGION", "a"}, {"AWS_DEFAULT_REGION", "b"}})), "a");
  EXPECT_EQ(AwsRegionOfEnvironment(of({{"AWS_DEFAULT_REGION", "b"}})), "b");
  EXPECT_EQ(AwsRegionOfEnvironment(of({})), "");
  Write("config", "[default]\nregion=eu-west-1\n");
  EXPECT_EQ(AwsRegionOfProfile(of({{"AWS_CONFIG_FILE", folder_.path() + "/config"}})), "eu-west-1");
  Write("config", "no section\n");
  EXPECT_EQ(AwsRegionOfProfile(of({{"AWS_CONFIG_FILE", folder_.path() + "/config"}})),
            std::nullopt);
  EXPECT_EQ(AwsEndpointOfEnvironment(
                "sqs", of({{"AWS_ENDPOINT_URL_SQS", "own"}, {"AWS_ENDPOINT_URL", "all"}})),
            "own");
  EXPECT_EQ(AwsEndpointOfEnvironment("sqs", of({{"AWS_ENDPOINT_URL", "all"}})), "all");
  EXPECT_EQ(AwsEndpointOfEnvironment("sqs", of({{"AWS_ENDPOINT_URL_S3", "other"}})), "");
}

}  // namespace
}  // namespace tidemark::storage
