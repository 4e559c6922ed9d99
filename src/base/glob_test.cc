#include "base/glob.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark {
namespace {

struct Case {
  const char* pattern;
  const char* text;
  bool matches;
};

TEST(GlobTest, AStarStandsForAnyRunAndNothingElseIsSpecial) {
  for (const Case& c :
       {Case{"", "", true}, Case{"", "a", false}, Case{"*", "", true}, Case{"*", "a/b", true},
        Case{"a*", "a", true}, Case{"a*", "ba", false}, Case{"*a", "ba", true},
        Case{"a*c", "abbc", true}, Case{"a*c", "abb", false},
        Case{"s3://lake/*", "s3://lake/orders", true}, Case{"a*b*c", "aXbYbZc", true},
        Case{"a?c", "abc", false}, Case{"a?c", "a?c", true}, Case{"**", "x", true}}) {
    EXPECT_EQ(MatchesGlob(c.pattern, c.text), c.matches) << c.pattern << " on " << c.text;
  }
}

TEST(GlobTest, AMarkForOneByteStandsForExactlyOne) {
  for (const Case& c : {Case{"a?c", "abc", true}, Case{"a?c", "ac", false}, Case{"?", "", false},
                        Case{"*?", "a", true}, Case{"*?", "", false}}) {
    EXPECT_EQ(MatchesGlob(c.pattern, c.text, '?'), c.matches) << c.pattern << " on " << c.text;
  }
}

TEST(GlobTest, ManyStarsCostNoMoreThanTheProductOfTheLengths) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  EXPECT_FALSE(MatchesGlob(pattern + "b", std::string(2000, 'a')));
}

TEST(GlobTest, AnythingIsChosenByNoPatternOrByOneThatIsOfOneOfItsNames) {
  const std::vector<std::string> patterns = {"lake.*", "s3://b/orders"};
  EXPECT_TRUE(IsChosen({}, {"x"}));
  EXPECT_TRUE(IsChosen(patterns, {"lake.orders", "s3://a/orders"}));
  EXPECT_TRUE(IsChosen(patterns, {"other.orders", "s3://b/orders"}));
  EXPECT_FALSE(IsChosen(patterns, {"other.orders", "s3://b/orders2", ""}));
}

}  // namespace
}  // namespace tidemark
