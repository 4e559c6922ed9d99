#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace tidemark {
namespace {

const std::string kBad = "\xEF\xBF\xBD";

TEST(Utf8Test, WellFormedTextIsUnchanged) {
  for (const std::string text :
       {"", "plain", "é", "日本", "😀", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF",
        "\xC2\x80", "\xE0\xA0\x80", "\xF0\x90\x80\x80"})
    EXPECT_EQ(ToValidUtf8(text), text);
  EXPECT_EQ(ToValidUtf8(std::string("a\0b", 3)), std::string("a\0b", 3));
}

TEST(Utf8Test, MalformedBytesAreReplacedOneByOne) {
  EXPECT_EQ(ToValidUtf8("a\xFF"), "a" + kBad);
  EXPECT_EQ(ToValidUtf8("\x80z"), kBad + "z");
  EXPECT_EQ(ToValidUtf8("\xC3"), kBad);
  EXPECT_EQ(ToValidUtf8("\xC3("), kBad + "(");
  EXPECT_EQ(ToValidUtf8("\xE2\x82"), kBad + kBad);
}

TEST(Utf8Test, OverlongFormsSurrogatesAndTooLargeValuesAreMalformed) {
  EXPECT_EQ(ToValidUtf8("\xC0\x80"), kBad + kBad);
  EXPECT_EQ(ToValidUtf8("\xE0\x9F\xBF"), kBad + kBad + kBad);
  EXPECT_EQ(ToValidUtf8("\xED\xA0\x80"), kBad + kBad + kBad);
  EXPECT_EQ(ToValidUtf8("\xF0\x8F\xBF\xBF"), kBad + kBad + kBad + kBad);
  EXPECT_EQ(ToValidUtf8("\xF4\x90\x80\x80"), kBad + kBad + kBad + kBad);
}

}  // namespace
}  // namespace tidemark
