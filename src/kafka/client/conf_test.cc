#include <gtest/gtest.h>

#include "kafka/client/conf_internal.h"
#include "support/result_matchers.h"

namespace tidemark::kafka::client {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Result<Owned<rd_kafka_t>> Open(const Properties& properties) {
  static Watch watch;
  auto conf = MakeConf(Role::kAsker, {.bootstrap_servers = "127.0.0.1:1", .properties = properties},
                       ProbeSettings());
  if (!conf) return std::unexpected(conf.error());
  return OpenClient(Role::kAsker, *std::move(conf), &watch);
}

TEST(ConfTest, PropertiesOfReachingAndTrustingAreTaken) {
  EXPECT_THAT(Open({{"security.protocol", "SASL_SSL"},
                    {"sasl.mechanisms", "SCRAM-SHA-512"},
                    {"sasl.username", "reader"},
                    {"sasl.password", "hunter2"},
                    {"socket.timeout.ms", "5000"},
                    {"client.id", "mine"}}),
              IsOk());
}

TEST(ConfTest, PropertiesThatWouldBreakAPromiseAreRefused) {
  for (const char* name :
       {"group.id", "group.instance.id", "enable.auto.commit", "enable.auto.offset.store",
        "auto.offset.reset", "isolation.level", "allow.auto.create.topics", "client.rack",
        "enable.partition.eof", "fetch.message.max.bytes", "max.partition.fetch.bytes",
        "fetch.max.bytes", "fetch.min.bytes", "queued.max.messages.kbytes", "topic.blacklist",
        "plugin.library.paths", "test.mock.num.brokers"}) {
    EXPECT_THAT(Open({{name, "1"}}),
                IsError(ErrorKind::kInvalidArgument,
                        AllOf(HasSubstr("cannot be changed"), HasSubstr(name))))
        << name;
  }
}

TEST(ConfTest, BrokersAreGivenByTheAddressOnly) {
  for (const char* name : {"bootstrap.servers", "metadata.broker.list"}) {
    EXPECT_THAT(Open({{name, "elsewhere:9092"}}),
                IsError(ErrorKind::kInvalidArgument, HasSubstr("bootstrap address")));
  }
}

TEST(ConfTest, UnknownPropertyIsNamed) {
  EXPECT_THAT(Open({{"sasl.jaas.confg", "x"}}),
              IsError(ErrorKind::kInvalidArgument, "unknown kafka property name=sasl.jaas.confg"));
}

TEST(ConfTest, MissingBootstrapAddressIsNamed) {
  EXPECT_THAT(MakeConf(Role::kAsker, {}, {}),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("bootstrap address")));
}

TEST(ConfTest, RefusedValueIsShown) {
  EXPECT_THAT(Open({{"security.protocol", "SASL_TSL"}}),
              IsError(ErrorKind::kInvalidArgument,
                      AllOf(HasSubstr("security.protocol"), HasSubstr("SASL_TSL"))));
}

TEST(ConfTest, RefusedValueOfASecretIsNotShown) {
  EXPECT_THAT(Open({{"sasl.jaas.config", "password=hunter2"}}),
              IsError(ErrorKind::kInvalidArgument, Not(HasSubstr("hunter2"))));
  EXPECT_THAT(Open({{"security.protocol", "SSL"}, {"ssl.key.pem", "hunter2"}}),
              IsError(ErrorKind::kInvalidArgument, Not(HasSubstr("hunter2"))));
}

TEST(ConfTest, EveryPropertyThatMayHoldASecretIsOne) {
  for (const char* name :
       {"sasl.password", "ssl.key.password", "ssl.key.pem", "ssl.certificate.pem",
        "ssl.keystore.password", "sasl.oauthbearer.client.secret", "sasl.oauthbearer.config",
        "sasl.oauthbearer.assertion.private.key.passphrase", "sasl.jaas.config"}) {
    EXPECT_TRUE(IsSecretProperty(name)) << name;
  }
  EXPECT_FALSE(IsSecretProperty("security.protocol"));
  EXPECT_FALSE(IsSecretProperty("ssl.ca.location"));
}

TEST(ConfTest, TokensMayComeFromAnOpenIdProvider) {
  EXPECT_THAT(Open({{"security.protocol", "SASL_SSL"},
                    {"sasl.mechanisms", "OAUTHBEARER"},
                    {"sasl.oauthbearer.method", "oidc"},
                    {"sasl.oauthbearer.client.id", "tidemark"},
                    {"sasl.oauthbearer.client.secret", "hunter2"},
                    {"sasl.oauthbearer.token.endpoint.url", "https://127.0.0.1:1/token"}}),
              IsOk());
}

TEST(ConfTest, MechanismThatIsNotBuiltInIsNamed) {
  EXPECT_THAT(Open({{"security.protocol", "SASL_PLAINTEXT"}, {"sasl.mechanisms", "NTLM"}}),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("NTLM")));
}

}  // namespace
}  // namespace tidemark::kafka::client
