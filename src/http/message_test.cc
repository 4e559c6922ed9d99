#include "http/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tidemark::http {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(TargetTest, ThePathIsSplitBeforeItIsDecoded) {
  const auto target = ParseTarget("/api/v1/pipelines/a%2Fb%20c");
  ASSERT_TRUE(target.has_value());
  EXPECT_THAT(target->segments, ElementsAre("api", "v1", "pipelines", "a/b c"));
}

TEST(TargetTest, TheRootHasNoSegments) {
  EXPECT_THAT(ParseTarget("/")->segments, IsEmpty());
  EXPECT_THAT(ParseTarget("/?a=1")->segments, IsEmpty());
}

TEST(TargetTest, AQueryIsDecodedAndItsLastValueCounts) {
  const auto target =
      ParseTarget("/timeline?table=s3%3A%2F%2Flake%2Fa+b&limit=1&limit=2&flag#part");
  ASSERT_TRUE(target.has_value());
  EXPECT_THAT(target->query,
              ElementsAre(Pair("flag", ""), Pair("limit", "2"), Pair("table", "s3://lake/a b")));
}

TEST(TargetTest, APlusInAPathIsAPlus) {
  EXPECT_THAT(ParseTarget("/a+b")->segments, ElementsAre("a+b"));
}

TEST(TargetTest, WhatIsNoPathOrHasABrokenEscapeIsRefused) {
  for (const char* bad :
       {"", "a", "*", "http://host/", "/%", "/%2", "/%zz", "/%+1", "/a?x=%4", "/a?%=1"})
    EXPECT_FALSE(ParseTarget(bad).has_value()) << bad;
}

TEST(TargetTest, AnyBytesComeThrough) {
  EXPECT_THAT(ParseTarget("/%00%ff")->segments, ElementsAre(std::string("\0\xff", 2)));
}

}  // namespace
}  // namespace tidemark::http
