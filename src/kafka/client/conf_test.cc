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
  return OpenClient(Role::kAsker, *std::move(conf), properties, &watch);
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

constexpr const char* kBrokenPem = TIDEMARK_TESTDATA "/hudi/README.md";

TEST(ConfTest, PropertyThatDoesNotFitTheOthersIsNamed) {
  const std::pair<Properties, const char*> cases[] = {
      {{{"security.protocol", "SASL_SSL"}, {"sasl.mechanisms", "NTLM"}},
       "name=sasl.mechanisms value=NTLM: one of PLAIN"},
      {{{"security.protocol", "sasl_plaintext"}, {"sasl.mechanism", "GSSAPI"}},
       "name=sasl.mechanisms value=GSSAPI: one of PLAIN"},
      {{{"security.protocol", "SASL_SSL"}}, "name=sasl.mechanisms value=GSSAPI: one of PLAIN"},
      {{{"security.protocol", "SASL_SSL"}, {"sasl.mechanism", "PLAIN"}},
       "name=sasl.username: sasl.username and sasl.password must be set"},
      {{{"security.protocol", "SASL_SSL"}, {"sasl.mechanism", "PLAIN"}, {"sasl.username", "u"}},
       "name=sasl.password: sasl.username and sasl.password must be set"},
      {{{"security.protocol", "SASL_SSL"}, {"sasl.mechanism", "OAUTHBEARER"}},
       "name=sasl.oauthbearer.method: OAUTHBEARER needs oidc"},
      {{{"security.protocol", "SASL_SSL"},
        {"sasl.mechanism", "OAUTHBEARER"},
        {"sasl.oauthbearer.method", "oidc"},
        {"sasl.oauthbearer.client.id", "tidemark"}},
       "name=sasl.oauthbearer.token.endpoint.url: "},
      {{{"security.protocol", "SSL"}, {"ssl.ca.location", "/nowhere/ca.pem"}},
       "name=ssl.ca.location value=/nowhere/ca.pem: the file cannot be opened: No such file"},
      {{{"security.protocol", "SSL"}, {"ssl.certificate.location", "/nowhere/me.pem"}},
       "name=ssl.certificate.location value=/nowhere/me.pem: the file cannot be opened: No such"},
      {{{"security.protocol", "SSL"}, {"ssl.key.location", "/nowhere/me.key"}},
       "name=ssl.key.location value=/nowhere/me.key: the file cannot be opened: No such file"},
      {{{"https.ca.location", "/nowhere/ca.pem"}},
       "name=https.ca.location value=/nowhere/ca.pem: the file cannot be opened: No such file"},
      {{{"security.protocol", "SSL"}, {"ssl.ca.location", kBrokenPem}},
       "name=ssl.ca.location value=" TIDEMARK_TESTDATA "/hudi/README.md: ssl.ca.location failed"},
      {{{"security.protocol", "SSL"}, {"ssl.ca.pem", "hunter2"}}, "name=ssl.ca.pem: "},
      {{{"security.protocol", "SSL"}, {"ssl.certificate.pem", "hunter2"}},
       "name=ssl.certificate.pem: "},
      {{{"security.protocol", "SSL"}, {"ssl.key.pem", "hunter2"}}, "name=ssl.key.pem: "},
      {{{"security.protocol", "SSL"}, {"ssl.keystore.location", "/nowhere/me.p12"}},
       "name=ssl.keystore.password: "},
      {{{"security.protocol", "SSL"}, {"ssl.cipher.suites", "NOPE"}},
       "name=ssl.cipher.suites value=NOPE: "},
      {{{"security.protocol", "SSL"}, {"ssl.providers", "nope"}},
       "name=ssl.providers value=nope: "},
  };
  for (const auto& [properties, named] : cases) {
    EXPECT_THAT(Open(properties), IsError(ErrorKind::kInvalidArgument,
                                          AllOf(HasSubstr(named), HasSubstr("properties"),
                                                Not(HasSubstr("hunter2")))))
        << named;
  }
}

TEST(ConfTest, FilesOfAProtocolThatIsNotSpokenAreNotLookedAt) {
  EXPECT_THAT(Open({{"ssl.ca.location", "/nowhere/ca.pem"}, {"sasl.mechanisms", "OAUTHBEARER"}}),
              IsOk());
}

}  // namespace
}  // namespace tidemark::kafka::client
