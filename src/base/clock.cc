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
  return {.steady = clock.SteadyName(),
          .ahead = std::chrono::duration_cast<Milliseconds>(clock.Now().time_since_epoch() -
                                                            clock.Mono().time_since_epoch())};
}

}  // namespace tidemark
