/// Times and durations as text: what JSON, tables and configuration hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"

namespace tidemark {

/// RFC 3339, UTC, three fraction digits: "2026-11-30T02:58:21.140Z". What lies outside
/// the years 0000-9999, which RFC 3339 cannot write, is shown as it is: "253402300800000 ms".
std::string FormatRfc3339(WallTime time);

/// The opposite, with any number of fraction digits (those below a millisecond are cut off) and any
/// offset from UTC: "2026-11-30T03:58:21.14+01:00". nullopt for anything else.
std::optional<WallTime> ParseRfc3339(std::string_view text);

/// A duration for people, two units at most, none that is zero: "45 s", "12 min 30 s", "3 h 5 min",
/// "17 d 4 h"; "-" in front when negative.
std::string FormatDuration(Milliseconds duration);

/// A duration from configuration and flags: a number and one of ms, s, m, h, d ("90s", "1.5h",
/// "7d"). A number alone, an empty text, a negative one or one over 100 years is kInvalidArgument.
Result<Milliseconds> ParseDuration(std::string_view text);

/// Days since 1970-01-01 and time of day to a moment; nullopt when the fields are not a date of the
/// calendar. Hudi instants use it: see lake/hudi/instant.h.
std::optional<WallTime> WallTimeFromCivil(int year, int month, int day, int hour, int minute,
                                          int second, int millis);

}  // namespace tidemark
