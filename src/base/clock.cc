#include "base/clock.h"

namespace tidemark {

WallTime SystemClock::Now() const {
  return std::chrono::floor<Milliseconds>(std::chrono::system_clock::now());
}

MonoTime SystemClock::Mono() const {
  return std::chrono::steady_clock::now();
}

}  // namespace tidemark
