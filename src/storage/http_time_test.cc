#include "storage/http_time.h"

#include <gtest/gtest.h>

#include "base/time_text.h"

namespace tidemark::storage {
namespace {

TEST(HttpTimeTest, BothSpellingsAreTheSameMoment) {
  const auto expected = WallTimeFromCivil(2009, 10, 12, 17, 50, 30, 0);
  ASSERT_TRUE(expected);
  for (const std::string_view text : {"2009-10-12T17:50:30.000Z", "2009-10-12T17:50:30Z",
                                      "2009-10-12T17:50:30.999999Z", "2009-10-12T17:50:30+00:00"})
    EXPECT_EQ(ParseIsoSeconds(text), expected) << text;
  EXPECT_EQ(ParseHttpDate("Mon, 12 Oct 2009 17:50:30 GMT"), expected);
  EXPECT_EQ(FormatHttpDate(*expected), "Mon, 12 Oct 2009 17:50:30 GMT");
  // RFC 9110, section 5.6.7.
  EXPECT_EQ(FormatHttpDate(*WallTimeFromCivil(1994, 11, 6, 8, 49, 37, 999)),
            "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(HttpTimeTest, WhatIsNoTimeIsNone) {
  for (const std::string_view text :
       {"", "2009-10-12", "2009-10-12T17:50:30", "2009-10-12T17:50:30+02:00",
        "2009-13-12T17:50:30Z", "2009-10-12T17:50:30.Zx", "2009-02-30T00:00:00Z",
        "2009-10-12 17:50:30Z", "x009-10-12T17:50:30Z"})
    EXPECT_EQ(ParseIsoSeconds(text), std::nullopt) << text;
  for (const std::string_view text :
       {"", "Mon, 12 Oct 2009 17:50:30 CET", "Monday, 12-Oct-09 17:50:30 GMT",
        "Mon, 12 Okt 2009 17:50:30 GMT", "Mon, 32 Oct 2009 17:50:30 GMT",
        "Mon, 12 Oct 2009 17:5:030 GMT", "Mon Oct 12 17:50:30 2009     "})
    EXPECT_EQ(ParseHttpDate(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tidemark::storage
