#include "base/time_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace tidemark {

namespace {

struct Unit {
  std::string_view suffix;
  double millis;
};
constexpr Unit kUnits[] = {{"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}, {"d", 86400e3}};
// Where four digits of a year end: 0000-01-01 and 9999-12-31.
constexpr WallTime kFirstMoment = WallTimeFromMillis(-62'167'219'200'000);
constexpr WallTime kLastMoment = WallTimeFromMillis(253'402'300'799'999);
constexpr double kDurationMaxMillis = 100.0 * 366 * 86400e3;

}  // namespace

std::string FormatRfc3339(WallTime time) {
  if (time < kFirstMoment || time > kLastMoment) return fmt::format("{} ms", MillisOf(time));
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::string FormatDuration(Milliseconds duration) {
  const std::string_view sign = duration.count() < 0 ? "-" : "";
  // Not std::abs: the most negative duration has no positive twin.
  const auto millis = duration.count() < 0 ? 0 - static_cast<unsigned long long>(duration.count())
                                           : static_cast<unsigned long long>(duration.count());
  if (millis < 10'000 && millis % 1000 != 0)
    return fmt::format("{}{}.{} s", sign, millis / 1000, millis % 1000 / 100);
  const auto seconds = millis / 1000;
  const auto two = [&](unsigned long long big, const char* unit, unsigned long long small,
                       const char* small_unit) {
    if (small == 0) return fmt::format("{}{} {}", sign, big, unit);
    return fmt::format("{}{} {} {} {}", sign, big, unit, small, small_unit);
  };
  if (seconds < 60) return fmt::format("{}{} s", sign, seconds);
  if (seconds < 3600) return two(seconds / 60, "min", seconds % 60, "s");
  if (seconds < 86400) return two(seconds / 3600, "h", seconds % 3600 / 60, "min");
  return two(seconds / 86400, "d", seconds % 86400 / 3600, "h");
}

Result<Milliseconds> ParseDuration(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return Fail(
        ErrorKind::kInvalidArgument,
        fmt::format(
            "'{}' is not a duration: {} (write a number and one of ms, s, m, h, d, as in 90s)",
            text, why));
  };
  double number = 0;
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{}) return bad("it does not begin with a number");
  const std::string_view suffix(rest, static_cast<size_t>(text.data() + text.size() - rest));
  if (suffix.empty()) return bad("the unit is missing");
  for (const Unit& unit : kUnits) {
    if (unit.suffix != suffix) continue;
    const double millis = number * unit.millis;
    if (!(millis >= 0)) return bad("it is negative");
    if (!(millis <= kDurationMaxMillis)) return bad("it is over 100 years");
    return Milliseconds(std::llround(millis));
  }
  return bad(fmt::format("the unit '{}' is unknown", suffix));
}

std::optional<WallTime> ParseRfc3339(std::string_view text) {
  // Takes `count` digits off the text.
  const auto number = [&](size_t count) -> int {
    if (text.size() < count) return -1;
    int value = 0;
    for (size_t i = 0; i < count; ++i) {
      if (text[i] < '0' || text[i] > '9') return -1;
      value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(count);
    return value;
  };
  const auto mark = [&](std::string_view any_of) -> char {
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return '\0';
    const char found = text.front();
    text.remove_prefix(1);
    return found;
  };
  const int year = number(4);
  if (mark("-") == '\0') return std::nullopt;
  const int month = number(2);
  if (mark("-") == '\0') return std::nullopt;
  const int day = number(2);
  if (mark("Tt ") == '\0') return std::nullopt;
  const int hour = number(2);
  if (mark(":") == '\0') return std::nullopt;
  const int minute = number(2);
  if (mark(":") == '\0') return std::nullopt;
  const int second = number(2);
  int millis = 0;
  if (mark(".") != '\0') {
    int scale = 100;
    size_t digits = 0;
    for (int digit = number(1); digit >= 0; digit = number(1), scale /= 10, ++digits)
      millis += digit * scale;
    if (digits == 0) return std::nullopt;
  }
  std::chrono::minutes offset{0};
  const char zone = mark("Zz+-");
  if (zone == '\0') return std::nullopt;
  if (zone == '+' || zone == '-') {
    const int hours = number(2);
    if (mark(":") == '\0') return std::nullopt;
    const int minutes = number(2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
    offset = std::chrono::minutes(hours * 60 + minutes) * (zone == '+' ? 1 : -1);
  }
  if (year < 0 || !text.empty()) return std::nullopt;
  const auto local = WallTimeFromCivil(year, month, day, hour, minute, second, millis);
  return local ? std::optional(*local - offset) : std::nullopt;
}

std::optional<WallTime> WallTimeFromCivil(int year, int month, int day, int hour, int minute,
                                          int second, int millis) {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year),
                            std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day))};
  if (month < 0 || day < 0 || !date.ok()) return std::nullopt;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
    return std::nullopt;
  if (millis < 0 || millis > 999) return std::nullopt;
  return WallTime(sys_days(date)) + hours(hour) + minutes(minute) + seconds(second) +
         Milliseconds(millis);
}

}  // namespace tidemark
