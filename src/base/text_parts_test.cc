#include "base/text_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark {
namespace {

std::vector<std::string> PartsOf(std::string_view text) {
  std::vector<std::string> parts;
  ForEachPart(text, "/?", [&](std::string_view part) { parts.emplace_back(part); });
  return parts;
}

TEST(TextPartsTest, TextIsCutAtEachDelimiter) {
  EXPECT_THAT(PartsOf("a/bc?d"), testing::ElementsAre("a", "bc", "d"));
  EXPECT_THAT(PartsOf("/a//b/"), testing::ElementsAre("", "a", "", "b"));
  EXPECT_THAT(PartsOf("whole"), testing::ElementsAre("whole"));
  EXPECT_THAT(PartsOf(""), testing::IsEmpty());
}

TEST(TextPartsTest, WhatWasPutInIsNotLookedAtAgain) {
  std::string text = "abab and b";
  ReplaceAll(text, "b", "(b)");
  EXPECT_EQ(text, "a(b)a(b) and (b)");
  ReplaceAll(text, "none", "x");
  EXPECT_EQ(text, "a(b)a(b) and (b)");
}

}  // namespace
}  // namespace tidemark
