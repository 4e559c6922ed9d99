#include "base/number_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"

namespace tidemark {

namespace {

/// Cuts zeros at the end, down to one digit behind the point.
void Trim(std::string& text) {
  while (text.ends_with('0') && !text.ends_with(".0")) text.pop_back();
}

}  // namespace

std::string SecondsText(Milliseconds duration) {
  // Not std::abs: the most negative duration has no positive twin.
  const bool is_negative = duration.count() < 0;
  const auto millis = is_negative ? 0 - static_cast<unsigned long long>(duration.count())
                                  : static_cast<unsigned long long>(duration.count());
  std::string text =
      fmt::format("{}{}.{:03}", is_negative ? "-" : "", millis / 1000, millis % 1000);
  Trim(text);
  return text;
}

std::string ShortSecondsText(Milliseconds duration) {
  std::string text = SecondsText(duration);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string DecimalText(double number) {
  CHECK(std::isfinite(number), fmt::format("number={}", number));
  std::string text = fmt::format("{:.9f}", number);
  Trim(text);
  return text == "-0.0" ? "0.0" : text;
}

}  // namespace tidemark
