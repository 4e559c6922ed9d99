/// When what could not be sent is tried again (change-feed P4).
#pragma once

#include "base/clock.h"

namespace tidemark::feed {

/// The wait after the try number `tries` (1, 2, …) that failed: 100 ms, 500 ms, 2 s, then 5 s for
/// ever, each up to a fifth longer by `jitter`, a number in [0, 1).
Milliseconds RetryDelay(int tries, double jitter);

}  // namespace tidemark::feed
