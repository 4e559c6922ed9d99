#include "rules/burn_windows.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace tidemark::rules {

namespace {

using std::chrono::hours;
using std::chrono::minutes;

// 2 % of the budget in an hour, 5 % in six, 10 % in a day and in three: factor = share of the
// budget x 30 days / long window. The third pair is Sloth's addition to the book's table.
constexpr std::array kAll = {
    BurnWindow{hours(1), minutes(5), 144, Severity::kCritical},
    BurnWindow{hours(6), minutes(30), 60, Severity::kCritical},
    BurnWindow{hours(24), hours(2), 30, Severity::kWarning},
    BurnWindow{hours(72), hours(6), 10, Severity::kWarning},
};

constexpr int64_t kPpm = 1'000'000;

}  // namespace

std::span<const BurnWindow> AllBurnWindows() {
  return kAll;
}

bool CarriesStep(Milliseconds window, Milliseconds step) {
  return window >= step * kSamplesMin;
}

std::vector<BurnWindow> BurnWindowsFor(Milliseconds step, int64_t objective_ppm) {
  const int64_t budget_ppm = kPpm - objective_ppm;
  std::vector<BurnWindow> windows;
  std::ranges::copy_if(kAll, std::back_inserter(windows), [&](const BurnWindow& window) {
    const bool is_reachable = window.factor_tenths * budget_ppm < 10 * kPpm;
    return is_reachable && CarriesStep(window.short_window, step);
  });
  return windows;
}

}  // namespace tidemark::rules
