/// How fast an error budget may burn before somebody is told: the window pairs of the Site
/// Reliability Workbook, chapter 5, for a budget of 30 days, as far as a sampling step can carry
/// them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"

namespace tidemark::rules {

/// The period that budgets are counted over.
inline constexpr Milliseconds kBudgetPeriod = std::chrono::hours(24 * 30);

/// A short window must hold this many samples: with fewer, one bad sample alone is over any
/// threshold.
inline constexpr int kSamplesMin = 3;

enum class Severity { kCritical, kWarning };

/// True when the budget burns `factor_tenths`/10 times as fast as it may, over both windows: the
/// long one shows that it matters, the short one that it still goes on. The short one is a twelfth
/// of the long one.
struct BurnWindow {
  Milliseconds long_window{0};
  Milliseconds short_window{0};
  int factor_tenths = 0;
  Severity severity = Severity::kWarning;
};

/// All pairs, the fastest first.
std::span<const BurnWindow> AllBurnWindows();

/// Whether `window` holds enough samples that are `step` apart.
bool CarriesStep(Milliseconds window, Milliseconds step);

/// The pairs whose short window carries the step, and whose threshold can be reached at all: a
/// budget of 10 % never burns 14.4 times as fast as it may. May be empty.
std::vector<BurnWindow> BurnWindowsFor(Milliseconds step, int64_t objective_ppm);

}  // namespace tidemark::rules
