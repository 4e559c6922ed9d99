#include "scan/partition_glob.h"

#include <gtest/gtest.h>

#include <string>

namespace tidemark::scan {
namespace {

struct Case {
  const char* glob;
  const char* text;
  bool matches;
};

TEST(PartitionGlobTest, MatchesTheWholePath) {
  constexpr Case kCases[] = {
      {"", "", true},
      {"", "a", false},
      {"a", "a", true},
      {"a", "ab", false},
      {"a", "", false},
      {"*", "", true},
      {"*", "dt=2026-01-31/h=1", true},
      {"dt=2026-01-*", "dt=2026-01-31", true},
      {"dt=2026-01-*", "dt=2026-02-01", false},
      {"dt=2026-01-*", "dt=2026-01-31/h=1", true},
      {"*/h=1", "dt=2026-01-31/h=1", true},
      {"*/h=1", "dt=2026-01-31/h=10", false},
      {"dt=?\?\?\?-01-*", "dt=2026-01-31", true},
      {"?", "", false},
      {"*a*b*", "xxaxxbxx", true},
      {"*a*b", "aab", true},
      {"*a*b", "aaba", false},
      {"**", "x", true},
      {"a*", "a", true},
      {"[ab]", "a", false},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(MatchesGlob(c.glob, c.text), c.matches) << c.glob << " on " << c.text;
  }
}

TEST(PartitionGlobTest, ManyStarsTakeNoLongTime) {
  std::string glob;
  for (int i = 0; i < 1000; ++i) glob += "a*";
  EXPECT_FALSE(MatchesGlob(glob + "b", std::string(20'000, 'a')));
}

}  // namespace
}  // namespace tidemark::scan
