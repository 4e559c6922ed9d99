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

TEST(PrintableTest, PrintableTextIsUnchanged) {
  for (const std::string text : {"", "orders", "a b\\c", "größe", "日本", "😀", "\xC2\xA0"})
    EXPECT_EQ(Printable(text), text);
}

TEST(PrintableTest, ControlCharactersAreWrittenOut) {
  EXPECT_EQ(Printable("a\x1b[31mb\tc\x7f"), "a\\x1b[31mb\\x09c\\x7f");
  EXPECT_EQ(Printable("two\nlines\r"), "two\\x0alines\\x0d");
  EXPECT_EQ(Printable(std::string("a\0b", 3)), "a\\x00b");
  // What terminals take for ESC [ in eight bits.
  EXPECT_EQ(Printable("\xC2\x9B"
                      "2J"),
            "\\u009b2J");
}

TEST(PrintableTest, BytesThatAreNoUtf8AreWrittenOut) {
  EXPECT_EQ(Printable("t\xFFu\xC3("), "t\\xffu\\xc3(");
  EXPECT_EQ(Printable("\x9B"
                      "2J"),
            "\\x9b2J");
}

TEST(PrintableTest, LineSeparatorsAndTurnedTextAreWrittenOut) {
  EXPECT_EQ(Printable("a\xE2\x80\xA8z"), "a\\u2028z");
  EXPECT_EQ(Printable("txt\xE2\x80\xAEgnp"), "txt\\u202egnp");
  EXPECT_EQ(Printable("\xE2\x81\xA6x"), "\\u2066x");
  EXPECT_EQ(Printable("\xD8\x9C"), "\\u061c");
}

TEST(PrintableTest, EveryByteGivesOneLineOfValidText) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string shown = Printable(std::string(1, static_cast<char>(byte)));
    EXPECT_EQ(ToValidUtf8(shown), shown);
    EXPECT_EQ(shown.find('\n'), shown.npos);
    EXPECT_FALSE(shown.empty());
  }
}

TEST(PrintableTest, LinesOfOursStayLines) {
  EXPECT_EQ(PrintableLines("2 mistakes\na\x1b:1\n"), "2 mistakes\na\\x1b:1\n");
}

TEST(ShortenedTest, TextIsCutBetweenCharactersAndTheCutIsShown) {
  EXPECT_EQ(Shortened("", 3), "");
  EXPECT_EQ(Shortened("abc", 3), "abc");
  EXPECT_EQ(Shortened("abcd", 3), "abc…");
  EXPECT_EQ(Shortened("ab\xC3\xA9", 3), "ab…");
  EXPECT_EQ(Shortened("\x80\x80\x80", 2), "…");
  EXPECT_EQ(Shortened("abc", 0), "…");
}

}  // namespace
}  // namespace tidemark
