#include "storage/http_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/time_text.h"

namespace tidemark::storage {

namespace {

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/// Exactly `count` digits at `at`; nullopt otherwise.
std::optional<int> Digits(std::string_view text, size_t at, size_t count) {
  if (at + count > text.size()) return std::nullopt;
  const std::string_view digits = text.substr(at, count);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

/// `pattern` with digits written as '0': the punctuation must be equal.
bool HasShape(std::string_view text, std::string_view pattern) {
  return text.size() >= pattern.size() &&
         std::ranges::equal(text.substr(0, pattern.size()), pattern, [](char c, char p) {
           return p == '0' ? c >= '0' && c <= '9' : c == p;
         });
}

std::optional<WallTime> Civil(std::optional<int> year, std::optional<int> month,
                              std::optional<int> day, std::string_view clock) {
  const auto hour = Digits(clock, 0, 2);
  const auto minute = Digits(clock, 3, 2);
  const auto second = Digits(clock, 6, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  return WallTimeFromCivil(*year, *month, *day, *hour, *minute, *second, 0);
}

}  // namespace

std::optional<WallTime> ParseIsoSeconds(std::string_view text) {
  if (!HasShape(text, "0000-00-00T00:00:00")) return std::nullopt;
  std::string_view rest = text.substr(19);
  if (rest.starts_with('.'))
    rest.remove_prefix(std::min(rest.find_first_not_of("0123456789", 1), rest.size()));
  if (rest != "Z" && rest != "+00:00") return std::nullopt;
  return Civil(Digits(text, 0, 4), Digits(text, 5, 2), Digits(text, 8, 2), text.substr(11, 8));
}

std::optional<WallTime> ParseHttpDate(std::string_view text) {
  if (text.size() != 29 || !text.ends_with(" GMT") || !HasShape(text.substr(16), " 00:00:00"))
    return std::nullopt;
  const auto* const month = std::ranges::find(kMonths, text.substr(8, 3));
  if (month == kMonths.end()) return std::nullopt;
  return Civil(Digits(text, 12, 4), static_cast<int>(month - kMonths.begin()) + 1,
               Digits(text, 5, 2), text.substr(17, 8));
}

std::string FormatHttpDate(WallTime time) {
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                     "Thu", "Fri", "Sat"};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::seconds>(time - day)};
  return fmt::format(
      "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays.at(std::chrono::weekday(day).c_encoding()),
      static_cast<unsigned>(date.day()), kMonths.at(static_cast<unsigned>(date.month()) - 1),
      static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
      clock.seconds().count());
}

}  // namespace tidemark::storage
