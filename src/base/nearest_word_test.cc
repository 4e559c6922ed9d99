#include "base/nearest_word.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(NearestWordTest, ASlipOfTheHandIsNear) {
  const std::set<std::string> known = {"freshness", "timeline", "checkpoint", "doctor"};
  EXPECT_EQ(NearestWord("freshnes", known), "freshness");
  EXPECT_EQ(NearestWord("frehsness", known), "freshness");
  EXPECT_EQ(NearestWord("timelines", known), "timeline");
  EXPECT_EQ(NearestWord("doktor", known), "doctor");
}

TEST(NearestWordTest, AnotherWordIsNot) {
  EXPECT_EQ(NearestWord("xyz", {"freshness"}), std::nullopt);
  EXPECT_EQ(NearestWord("a", {}), std::nullopt);
  EXPECT_EQ(NearestWord(std::string(100'000, 'a'), {std::string(100'000, 'a')}), std::nullopt);
}

TEST(NearestWordTest, AMessageEndsInTheWordThatIsNear) {
  EXPECT_EQ(DidYouMean("oders", {"orders", "returns"}), ", did you mean 'orders'?");
  EXPECT_EQ(DidYouMean("x", {"orders", "returns"}), "");
}

}  // namespace
}  // namespace tidemark
