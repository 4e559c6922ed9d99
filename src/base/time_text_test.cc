#include "base/time_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/result_matchers.h"

namespace tidemark {
namespace {

using namespace std::chrono_literals;
using support::IsError;
using support::IsOkAnd;
using ::testing::HasSubstr;

TEST(TimeTextTest, Rfc3339HasMillisecondsAndZ) {
  // `date -u -d @1795982400.007 +%FT%T.%3NZ`
  EXPECT_EQ(FormatRfc3339(WallTimeFromMillis(1795982400007)), "2026-11-29T20:00:00.007Z");
  EXPECT_EQ(FormatRfc3339(WallTimeFromMillis(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatRfc3339(WallTimeFromMillis(-1)), "1969-12-31T23:59:59.999Z");
}

TEST(TimeTextTest, MomentsThatRfc3339CannotWriteAreNumbers) {
  EXPECT_EQ(FormatRfc3339(WallTimeFromMillis(253'402'300'799'999)), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(FormatRfc3339(WallTimeFromMillis(253'402'300'800'000)), "253402300800000 ms");
  EXPECT_EQ(FormatRfc3339(WallTimeFromMillis(INT64_MAX)), "9223372036854775807 ms");
  EXPECT_EQ(FormatRfc3339(WallTimeFromMillis(-62'167'219'200'000)), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatRfc3339(WallTimeFromMillis(-62'167'219'200'001)), "-62167219200001 ms");
  EXPECT_EQ(FormatRfc3339(WallTimeFromMillis(INT64_MIN)), "-9223372036854775808 ms");
}

TEST(TimeTextTest, DurationsForPeopleShowTwoUnits) {
  EXPECT_EQ(FormatDuration(0ms), "0 s");
  EXPECT_EQ(FormatDuration(1250ms), "1.2 s");
  EXPECT_EQ(FormatDuration(59s), "59 s");
  EXPECT_EQ(FormatDuration(750s), "12 min 30 s");
  EXPECT_EQ(FormatDuration(30min), "30 min");
  EXPECT_EQ(FormatDuration(1h + 20s), "1 h");
  EXPECT_EQ(FormatDuration(3h + 5min + 59s), "3 h 5 min");
  EXPECT_EQ(FormatDuration(412h), "17 d 4 h");
  EXPECT_EQ(FormatDuration(-90s), "-1 min 30 s");
  EXPECT_EQ(FormatDuration(Milliseconds::min()), "-106751991167 d 7 h");
}

TEST(TimeTextTest, DurationsOfEveryUnitParse) {
  EXPECT_THAT(ParseDuration("250ms"), IsOkAnd(Milliseconds(250ms)));
  EXPECT_THAT(ParseDuration("90s"), IsOkAnd(Milliseconds(90s)));
  EXPECT_THAT(ParseDuration("60m"), IsOkAnd(Milliseconds(1h)));
  EXPECT_THAT(ParseDuration("1.5h"), IsOkAnd(Milliseconds(90min)));
  EXPECT_THAT(ParseDuration("7d"), IsOkAnd(Milliseconds(168h)));
  EXPECT_THAT(ParseDuration("0s"), IsOkAnd(Milliseconds(0ms)));
}

TEST(TimeTextTest, NonDurationsNameTheTextAndTheReason) {
  for (const char* text :
       {"", "m", "60", "60 m", "-1s", "1e3s", "nan", "infs", "60w", "99999999999d", "1h30m"}) {
    EXPECT_THAT(ParseDuration(text),
                IsError(ErrorKind::kInvalidArgument,
                        HasSubstr("'" + std::string(text) + "' is not a duration")));
  }
}

TEST(TimeTextTest, CivilFieldsAreCheckedAgainstTheCalendar) {
  EXPECT_EQ(WallTimeFromCivil(2026, 11, 29, 20, 0, 0, 7), WallTimeFromMillis(1795982400007));
  EXPECT_EQ(WallTimeFromCivil(2024, 2, 29, 0, 0, 0, 0), WallTimeFromMillis(1709164800000));
  EXPECT_EQ(WallTimeFromCivil(2023, 2, 29, 0, 0, 0, 0), std::nullopt);
  EXPECT_EQ(WallTimeFromCivil(2024, 13, 1, 0, 0, 0, 0), std::nullopt);
  EXPECT_EQ(WallTimeFromCivil(2024, 1, 1, 24, 0, 0, 0), std::nullopt);
  EXPECT_EQ(WallTimeFromCivil(2024, 1, 1, 0, 0, 60, 0), std::nullopt);
  EXPECT_EQ(WallTimeFromCivil(2024, 0, 0, 0, 0, 0, 0), std::nullopt);
}

TEST(Rfc3339Test, TimesAreReadWithTheirOffset) {
  struct Case {
    const char* text;
    const char* utc;
  };
  for (const Case& c : {Case{"2026-11-30T02:58:21.140Z", "2026-11-30T02:58:21.140Z"},
                        {"2026-11-30T02:58:21Z", "2026-11-30T02:58:21.000Z"},
                        {"2026-11-30t02:58:21.14z", "2026-11-30T02:58:21.140Z"},
                        {"2026-11-30 02:58:21.1409999Z", "2026-11-30T02:58:21.140Z"},
                        {"2026-11-30T03:58:21+01:00", "2026-11-30T02:58:21.000Z"},
                        {"2026-11-29T21:28:21-05:30", "2026-11-30T02:58:21.000Z"},
                        {"0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"}}) {
    const auto time = ParseRfc3339(c.text);
    ASSERT_TRUE(time.has_value()) << c.text;
    EXPECT_EQ(FormatRfc3339(*time), c.utc) << c.text;
  }
}

TEST(Rfc3339Test, WhatIsNoTimeIsNone) {
  for (const char* bad : {"", "2026", "2026-11-30", "2026-11-30T02:58:21", "2026-11-30T02:58Z",
                          "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-30T24:00:00Z",
                          "2026-11-30T02:58:60Z", "2026-11-30T02:58:21.Z", "2026-11-30T02:58:21Zx",
                          "2026-11-30T02:58:21+1:00", "2026-11-30T02:58:21+24:00",
                          "-026-11-30T02:58:21Z", "+2026-11-30T02:58:21Z", "1764471501"})
    EXPECT_EQ(ParseRfc3339(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace tidemark
