#include "base/clock.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace tidemark {

namespace {

/// The start of the machine, and the namespace that may shift its clocks (proc(5),
/// time_namespaces(7)).
std::string NameOfSteadyClock() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  if (!std::getline(file, boot) || boot.empty()) return "";
  std::error_code error;
  const auto space = std::filesystem::read_symlink("/proc/self/ns/time", error);
  return error ? boot : boot + " " + space.string();
}

}  // namespace

WallTime SystemClock::Now() const {
  return std::chrono::floor<Milliseconds>(std::chrono::system_clock::now());
}

MonoTime SystemClock::Mono() const {
  return std::chrono::steady_clock::now();
}

std::string SystemClock::SteadyName() const {
  static const std::string name = NameOfSteadyClock();
  return name;
}

ClockReading ReadClock(const Clock& clock) {
  // Whoever is held up between the two clocks would see a step that nobody made: the reading that
  // took least counts.
  constexpr int kReadingsMax = 5;
  constexpr Milliseconds kSoonEnough{1};
  ClockReading reading{.steady = clock.SteadyName()};
  MonoTime::duration least = MonoTime::duration::max();
  for (int i = 0; i < kReadingsMax && least > kSoonEnough; ++i) {
    const MonoTime before = clock.Mono();
    const WallTime wall = clock.Now();
    const MonoTime::duration took = clock.Mono() - before;
    if (took >= least) continue;
    least = took;
    reading.ahead = std::chrono::duration_cast<Milliseconds>(
        wall.time_since_epoch() - (before + took / 2).time_since_epoch());
  }
  return reading;
}

}  // namespace tidemark
