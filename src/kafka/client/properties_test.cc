#include "kafka/client/properties.h"

#include <gtest/gtest.h>

#include "support/result_matchers.h"

namespace tidemark::kafka::client {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(PropertiesTest, KnownPropertiesWithPossibleValuesAreFine) {
  EXPECT_THAT(CheckProperty("security.protocol", "SASL_SSL"), IsOk());
  EXPECT_THAT(CheckProperty("sasl.password", "hunter2"), IsOk());
}

TEST(PropertiesTest, UnknownPropertiesAreNamed) {
  EXPECT_THAT(CheckProperty("security.protocoll", "SSL"),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("security.protocoll")));
}

TEST(PropertiesTest, ImpossibleValuesAreRefused) {
  EXPECT_THAT(CheckProperty("security.protocol", "CARRIER_PIGEON"),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("security.protocol")));
}

TEST(PropertiesTest, PropertiesThatWouldBreakAPromiseAreRefused) {
  for (const char* name : {"group.id", "auto.offset.reset", "enable.auto.commit"}) {
    EXPECT_THAT(CheckProperty(name, "x"), IsError(ErrorKind::kInvalidArgument, HasSubstr(name)));
  }
}

TEST(PropertiesTest, SecretsAreNotRepeated) {
  EXPECT_THAT(CheckProperty("ssl.key.pem", "not a key but secret"),
              ::testing::AnyOf(IsOk(), IsError(ErrorKind::kInvalidArgument,
                                               Not(HasSubstr("not a key but secret")))));
}

TEST(PropertiesTest, AValueToBeHiddenIsNotRepeatedNorIsAnyPartOfIt) {
  const auto hidden = ValueVisibility::kHidden;
  EXPECT_THAT(CheckProperty("security.protocol", "5ecret", hidden),
              IsError(ErrorKind::kInvalidArgument,
                      "invalid value of a kafka property name=security.protocol"));
  EXPECT_THAT(CheckProperty("debug", "broker,5ecret", hidden),
              IsError(ErrorKind::kInvalidArgument, Not(HasSubstr("5ecret"))));
  EXPECT_THAT(
      CheckProperty("security.protocoll", "5ecret", hidden),
      IsError(ErrorKind::kInvalidArgument, "unknown kafka property name=security.protocoll"));
  EXPECT_THAT(CheckProperty("security.protocol", "SSL", hidden), IsOk());
}

}  // namespace
}  // namespace tidemark::kafka::client
