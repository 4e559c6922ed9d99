#include "app/hidden_values.h"

#include <gtest/gtest.h>

namespace tidemark::app {
namespace {

TEST(HiddenValuesTest, EachOccurrenceIsReplacedByItsSource) {
  HiddenValues hidden;
  hidden.Add("hunter22", "${env:PASSWORD}");
  EXPECT_EQ(hidden.Hide("user hunter22, again hunter22"),
            "user (from ${env:PASSWORD}), again (from ${env:PASSWORD})");
  EXPECT_EQ(hidden.Hide(Error{ErrorKind::kDenied, "hunter22"}),
            (Error{ErrorKind::kDenied, "(from ${env:PASSWORD})"}));
}

TEST(HiddenValuesTest, TheLongerOfTwoThatOverlapGoesFirst) {
  HiddenValues hidden;
  hidden.Add("hunter", "${env:A}");
  hidden.Add("hunter22", "${env:B}");
  EXPECT_EQ(hidden.Hide("hunter22 hunter"), "(from ${env:B}) (from ${env:A})");
}

TEST(HiddenValuesTest, AValueThatIsPartOfItsSourceEndsTheReplacing) {
  HiddenValues hidden;
  hidden.Add("from", "${env:from}");
  EXPECT_EQ(hidden.Hide("from"), "(from ${env:from})");
}

TEST(HiddenValuesTest, ShortValuesAreLeftAlone) {
  HiddenValues hidden;
  hidden.Add("", "${env:A}");
  hidden.Add("SSL", "${env:B}");
  EXPECT_EQ(hidden.Hide("SSL failed"), "SSL failed");
}

TEST(HiddenValuesTest, FaultsOfAProbeAreCleaned) {
  HiddenValues hidden;
  hidden.Add("broker-of-ours", "${env:BROKER}");
  kafka::ProbeResult result;
  result.topics.emplace_back().fault_message = "broker-of-ours:9092 refused";
  result.partitions.emplace_back().fault_message = "broker-of-ours:9092 refused";
  hidden.HideIn(result);
  EXPECT_EQ(result.topics[0].fault_message, "(from ${env:BROKER}):9092 refused");
  EXPECT_EQ(result.partitions[0].fault_message, "(from ${env:BROKER}):9092 refused");
}

}  // namespace
}  // namespace tidemark::app
