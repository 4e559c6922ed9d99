#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "columnar/value_text_internal.h"

namespace tidemark::columnar {
namespace {

constexpr int64_t kSecondsPerDay = 86400;

int64_t UnitsPerSecond(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kMillis: return 1000;
    case TimeUnit::kMicros: return 1'000'000;
    case TimeUnit::kNanos: break;
  }
  return 1'000'000'000;
}

// `value` / `divisor` rounded down, and what is left.
struct Quotient {
  int64_t whole;
  int64_t rest;
};
Quotient FloorDivide(int64_t value, int64_t divisor) {
  const int64_t rest = value % divisor;
  if (rest < 0) return {value / divisor - 1, rest + divisor};
  return {value / divisor, rest};
}

void AppendPadded(int64_t value, int digits, std::string& out) {
  char text[24];
  char* at = std::end(text);
  for (; digits > 0 || value > 0; --digits, value /= 10) {
    *--at = static_cast<char>('0' + value % 10);
  }
  out.append(at, std::end(text));
}

void AppendClock(int64_t value, TimeUnit unit, std::string& out) {
  const int64_t per_second = UnitsPerSecond(unit);
  const int64_t seconds = value / per_second;
  AppendPadded(seconds / 3600, 2, out);
  out += ':';
  AppendPadded(seconds / 60 % 60, 2, out);
  out += ':';
  AppendPadded(seconds % 60, 2, out);
  out += '.';
  AppendPadded(value % per_second,
               unit == TimeUnit::kMillis   ? 3
               : unit == TimeUnit::kMicros ? 6
                                           : 9,
               out);
}

// Java writes at least one digit behind the point, and an exponent from 10^7 on and below 10^-3.
template <class T>
void AppendJava(T value, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  const T size = std::abs(value);
  const bool is_plain = value == 0 || (size >= static_cast<T>(1e-3) && size < static_cast<T>(1e7));
  char text[64];
  const auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(text, std::end(text), value, format).ptr;
  std::string_view digits(text, static_cast<size_t>(end - text));
  if (is_plain) {
    out += digits;
    if (digits.find('.') == digits.npos) out += ".0";
    return;
  }
  const auto e = digits.find('e');
  out += digits.substr(0, e);
  if (digits.substr(0, e).find('.') == digits.npos) out += ".0";
  out += 'E';
  digits.remove_prefix(e + 1);
  if (digits[0] == '-') out += '-';
  digits.remove_prefix(1);
  while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
  out += digits;
}

}  // namespace

void AppendInteger(int64_t value, std::string& out) {
  char text[24];
  out.append(text, std::to_chars(text, std::end(text), value).ptr);
}

// Howard Hinnant's civil_from_days: eras of 400 years that begin in March.
void AppendDate(int64_t days, std::string& out) {
  const auto [era, day_of_era] = FloorDivide(days + 719468, 146097);
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const int64_t day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  const int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  const int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  if (year < 0) out += '-';
  if (year > 9999) out += '+';
  AppendPadded(year < 0 ? -year : year, 4, out);
  out += '-';
  AppendPadded(month, 2, out);
  out += '-';
  AppendPadded(day, 2, out);
}

void AppendTime(int64_t value, TimeUnit unit, std::string& out) {
  // Outside of the day it is shown as it is, not as another one.
  const auto size = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  if (value < 0) out += '-';
  AppendClock(static_cast<int64_t>(std::min<uint64_t>(size, INT64_MAX)), unit, out);
}

void AppendTimestamp(int64_t value, TimeUnit unit, bool is_local, std::string& out) {
  const auto [days, in_day] = FloorDivide(value, kSecondsPerDay * UnitsPerSecond(unit));
  AppendDate(days, out);
  out += 'T';
  AppendClock(in_day, unit, out);
  if (!is_local) out += 'Z';
}

double AsPrinted(float value) {
  double printed = value;
  if (!std::isfinite(value)) return printed;
  char text[32];
  const auto end = std::to_chars(std::begin(text), std::end(text), value).ptr;
  std::from_chars(text, end, printed);
  return printed;
}

void AppendJavaFloat(float value, std::string& out) {
  AppendJava(value, out);
}

void AppendJavaDouble(double value, std::string& out) {
  AppendJava(value, out);
}

void AppendUuid(std::string_view bytes, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += kDigits[static_cast<uint8_t>(bytes[i]) >> 4];
    out += kDigits[static_cast<uint8_t>(bytes[i]) & 15];
  }
}

void AppendBase64(std::string_view bytes, std::string& out) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](size_t at) {
      return at < bytes.size() ? uint32_t{static_cast<uint8_t>(bytes[at])} : 0U;
    };
    const uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out += kDigits[group >> 18];
    out += kDigits[group >> 12 & 63];
    out += i + 1 < bytes.size() ? kDigits[group >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kDigits[group & 63] : '=';
  }
}

}  // namespace tidemark::columnar
