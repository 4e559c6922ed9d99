#include "app/probe_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using support::IsError;
using ::testing::HasSubstr;
using ::testing::Not;

kafka::ClusterOptions With(std::vector<std::pair<std::string, std::string>> properties) {
  return {.bootstrap_servers = "broker:9092", .properties = std::move(properties)};
}

TEST(ProbeChoiceTest, OurOwnClientAsksUnlessAPropertyIsForeignToIt) {
  const struct {
    std::vector<std::pair<std::string, std::string>> properties;
    KafkaClient client;
    const char* named;
  } cases[] = {
      {{}, KafkaClient::kWire, "our own"},
      {{{"security.protocol", "SASL_SSL"},
        {"sasl.mechanism", "SCRAM-SHA-512"},
        {"sasl.username", "u"},
        {"sasl.password", "p"}},
       KafkaClient::kWire,
       "our own"},
      {{{"security.protocol", "SASL_PLAINTEXT"}, {"sasl.mechanism", "GSSAPI"}},
       KafkaClient::kLibrdkafka,
       "sasl.mechanisms"},
      // Kerberos is what librdkafka takes when no mechanism is named.
      {{{"security.protocol", "SASL_PLAINTEXT"}}, KafkaClient::kLibrdkafka, "sasl.mechanisms"},
      {{{"security.protocol", "SASL_SSL"},
        {"sasl.mechanism", "OAUTHBEARER"},
        {"sasl.oauthbearer.method", "oidc"}},
       KafkaClient::kLibrdkafka,
       "sasl.oauthbearer.method"},
      {{{"ssl.keystore.location", "/k"}}, KafkaClient::kLibrdkafka, "ssl.keystore.location"},
      {{{"check.crcs", "true"}}, KafkaClient::kLibrdkafka, "check.crcs"},
  };
  for (const auto& c : cases) {
    const ProbeChoice choice = ChooseProbe(With(c.properties), KafkaClient::kAuto);
    EXPECT_EQ(choice.client, c.client) << choice.reason;
    EXPECT_THAT(choice.reason, HasSubstr(c.named));
  }
}

TEST(ProbeChoiceTest, AWishOutranksTheProperties) {
  const auto kerberos = With({{"security.protocol", "SASL_SSL"}, {"sasl.mechanism", "GSSAPI"}});
  EXPECT_EQ(ChooseProbe({}, KafkaClient::kLibrdkafka).client, KafkaClient::kLibrdkafka);
  EXPECT_EQ(ChooseProbe(kerberos, KafkaClient::kWire).client, KafkaClient::kWire);
  EXPECT_THAT(OpenProbe(kerberos, KafkaClient::kWire),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("sasl.mechanisms")));
}

TEST(ProbeChoiceTest, TheReasonShowsNoValue) {
  const auto choice =
      ChooseProbe(With({{"ssl.keystore.location", "/k"}, {"ssl.keystore.password", "s3cr3t"}}),
                  KafkaClient::kAuto);
  EXPECT_THAT(choice.reason, Not(HasSubstr("s3cr3t")));
}

TEST(ProbeChoiceTest, EveryNameIsReadAgain) {
  for (const auto client : {KafkaClient::kAuto, KafkaClient::kWire, KafkaClient::kLibrdkafka}) {
    EXPECT_EQ(ParseKafkaClient(KafkaClientName(client)), client);
  }
  EXPECT_EQ(ParseKafkaClient("Wire"), std::nullopt);
  EXPECT_EQ(ParseKafkaClient(""), std::nullopt);
}

}  // namespace
}  // namespace tidemark::app
