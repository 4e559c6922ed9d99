#include "app/maintenance.h"

#include <cctz/time_zone.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "base/letter_case.h"

namespace tidemark::app {

namespace {

constexpr std::array<std::string_view, 7> kDayNames = {"mon", "tue", "wed", "thu",
                                                       "fri", "sat", "sun"};
constexpr unsigned kEveryDay = 0x7f;
constexpr int kMinutesOfDay = 24 * 60;

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == text.npos ? text.npos : end - begin));
    if (end == text.npos) return parts;
    begin = end + 1;
  }
}

std::optional<unsigned> ParseDay(std::string_view word) {
  const std::string lower = LowerCase(word);
  for (unsigned day = 0; day < kDayNames.size(); ++day) {
    if (lower == kDayNames[day]) return day;
  }
  return std::nullopt;
}

/// "Sat", "Sat,Sun", "Mon-Fri", "daily" to a set of days.
std::optional<unsigned> ParseDays(std::string_view text) {
  if (text == "daily") return kEveryDay;
  unsigned days = 0;
  for (const std::string_view part : Split(text, ',')) {
    const size_t dash = part.find('-');
    const auto first = ParseDay(part.substr(0, dash));
    const auto last = dash == part.npos ? first : ParseDay(part.substr(dash + 1));
    if (!first || !last) return std::nullopt;
    for (unsigned day = *first;; day = (day + 1) % 7) {
      days |= 1U << day;
      if (day == *last) break;
    }
  }
  return days;
}

/// "02:00" to minutes of the day; "24:00" is allowed.
std::optional<int> ParseMinute(std::string_view text) {
  const auto parts = Split(text, ':');
  if (parts.size() != 2 || parts[0].size() != 2 || parts[1].size() != 2) return std::nullopt;
  int values[2];
  for (size_t i = 0; i < 2; ++i) {
    const auto [end, error] =
        std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), values[i]);
    if (error != std::errc{} || end != parts[i].data() + parts[i].size()) return std::nullopt;
  }
  const int minute = values[0] * 60 + values[1];
  if (values[0] < 0 || values[1] < 0 || values[1] > 59 || minute > kMinutesOfDay) {
    return std::nullopt;
  }
  return minute;
}

}  // namespace

Result<MaintenanceWindow> MaintenanceWindow::Parse(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("'{}' is not a maintenance window: {} (write it like \"Sat 02:00-04:00 "
                            "Europe/Berlin\")",
                            text, why));
  };
  const auto parts = Split(text, ' ');
  if (parts.size() != 3) return bad("it needs days, times and a time zone");
  const auto days = ParseDays(parts[0]);
  if (!days) return bad(fmt::format("'{}' names no days", parts[0]));
  const size_t dash = parts[1].find('-');
  if (dash == parts[1].npos) return bad(fmt::format("'{}' is no span of time", parts[1]));
  const auto start = ParseMinute(parts[1].substr(0, dash));
  const auto end = ParseMinute(parts[1].substr(dash + 1));
  if (!start || !end || *start == kMinutesOfDay) {
    return bad(fmt::format("'{}' is no span of time", parts[1]));
  }
  if (*start == *end) return bad("it begins and ends at the same time");
  cctz::time_zone zone;
  if (!cctz::load_time_zone(std::string(parts[2]), &zone)) {
    return bad(fmt::format("the time zone '{}' is unknown", parts[2]));
  }
  MaintenanceWindow window;
  window.text_ = text;
  window.zone_ = parts[2];
  window.days_ = *days;
  window.start_minute_ = *start;
  window.length_minutes_ = *end > *start ? *end - *start : *end + kMinutesOfDay - *start;
  return window;
}

bool MaintenanceWindow::Contains(WallTime time) const {
  cctz::time_zone zone;
  if (!cctz::load_time_zone(zone_, &zone)) return false;  // loaded once by Parse: cached by cctz
  const auto civil =
      cctz::convert(std::chrono::time_point_cast<std::chrono::system_clock::duration>(time), zone);
  const int minute = civil.hour() * 60 + civil.minute();
  const auto weekday = static_cast<unsigned>(cctz::get_weekday(cctz::civil_day(civil)));
  const bool opens_today = (days_ >> weekday & 1U) != 0;
  if (opens_today && minute >= start_minute_ && minute < start_minute_ + length_minutes_) {
    return true;
  }
  const unsigned yesterday = (weekday + 6) % 7;
  const bool opened_yesterday = (days_ >> yesterday & 1U) != 0;
  return opened_yesterday && minute + kMinutesOfDay < start_minute_ + length_minutes_;
}

}  // namespace tidemark::app
