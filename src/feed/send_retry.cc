#include "feed/send_retry.h"

#include <algorithm>
#include <array>

namespace tidemark::feed {

Milliseconds RetryDelay(int tries, double jitter) {
  constexpr std::array kDelays = {Milliseconds(100), Milliseconds(500), Milliseconds(2000),
                                  Milliseconds(5000)};
  const auto at = static_cast<size_t>(std::clamp(tries, 1, static_cast<int>(kDelays.size())) - 1);
  const auto more = static_cast<double>(kDelays[at].count()) * jitter / 5;
  return kDelays[at] + Milliseconds(static_cast<int64_t>(more));
}

}  // namespace tidemark::feed
