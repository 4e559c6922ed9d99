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

TEST(HiddenValuesTest, PartsThatAParserCutsOutAreReplacedToo) {
  HiddenValues hidden;
  hidden.Add("Xk3part/tail9%longer", "${env:PASSWORD}");
  const std::string shown = "(from ${env:PASSWORD})";
  EXPECT_EQ(hidden.Hide("no integer: Xk3part for port, token %longer, then tail9"),
            "no integer: " + shown + " for port, token %" + shown + ", then " + shown);
}

TEST(HiddenValuesTest, OfAUrlUserPathAndTokensAreReplacedAndCommonWordsStay) {
  HiddenValues hidden;
  hidden.Add("https://me:p%2Fw4@hooks.example/services/T0secret9?key=Ab12cd34&team=lake",
             "${env:URL}");
  const std::string shown = "(from ${env:URL})";
  EXPECT_EQ(hidden.Hide("cannot POST /services/T0secret9?key=Ab12cd34&team=lake"),
            "cannot POST " + shown);
  EXPECT_EQ(hidden.Hide("no T0secret9, no Ab12cd34"), "no " + shown + ", no " + shown);
  EXPECT_EQ(hidden.Hide("all services of the lake's team"), "all services of the lake's team");
  HiddenValues encoded;
  encoded.Add("postgresql://me:pass%2Fw0rd@db/x", "${env:URL}");
  EXPECT_EQ(encoded.Hide("pass, w0rd, pass%2Fw0rd at db"),
            shown + ", " + shown + ", " + shown + "%" + shown + " at db");
}

TEST(HiddenValuesTest, FoldersOfAPathStay) {
  HiddenValues hidden;
  hidden.Add("/data/lake/key.json", "${env:KEY}");
  EXPECT_EQ(hidden.Hide("data of the lake: /data/lake/key.json"),
            "data of the lake: (from ${env:KEY})");
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
