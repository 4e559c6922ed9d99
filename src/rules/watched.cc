#include "rules/watched.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::rules {

namespace {

constexpr int64_t kPpm = 1'000'000;
constexpr int64_t kPpmOfPercent = kPpm / 100;

/// `number` / `unit` as a decimal without needless digits; unit is a power of ten.
std::string Decimal(int64_t number, int64_t unit) {
  std::string text = fmt::format("{}", number / unit);
  int64_t rest = number % unit;
  if (rest == 0) return text;
  text += '.';
  while (rest != 0) {
    unit /= 10;
    text += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
  return text;
}

}  // namespace

Milliseconds StepOf(const WatchedPipeline& pipeline, const RuleOptions& options) {
  return std::max(pipeline.interval, options.scrape_interval);
}

std::string PercentText(int64_t ppm) {
  return Decimal(ppm, kPpmOfPercent);
}

std::string ShareText(int64_t ppm) {
  return Decimal(ppm, kPpm);
}

}  // namespace tidemark::rules
