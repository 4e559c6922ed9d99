#include "base/glob.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace tidemark
