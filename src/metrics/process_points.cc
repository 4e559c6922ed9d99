#include "metrics/process_points.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace tidemark::metrics {

namespace {

constexpr std::string_view kBuildFamily = "tidemark_build_info";

std::string TextOf(const char* path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The number that begins at word number `index` (from 0) of the text.
std::optional<uint64_t> NumberAt(const std::string& text, size_t index) {
  std::istringstream words(text);
  std::string word;
  for (size_t i = 0; i <= index; ++i)
    if (!(words >> word)) return std::nullopt;
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && rest == word.data() + word.size() ? std::optional(number)
                                                                   : std::nullopt;
}

/// The boot time (proc(5), stat: btime) and the ticks since then (pid/stat, field 22).
std::optional<double> StartTime() {
  std::string stat = TextOf("/proc/self/stat");
  const size_t name_end = stat.rfind(')');  // the name may hold blanks
  if (name_end == std::string::npos) return std::nullopt;
  const auto ticks = NumberAt(stat.substr(name_end + 1), 19);
  const std::string whole = TextOf("/proc/stat");
  const size_t boot_at = whole.find("\nbtime ");
  const auto boot =
      boot_at == std::string::npos ? std::nullopt : NumberAt(whole.substr(boot_at), 1);
  const long ticks_a_second = ::sysconf(_SC_CLK_TCK);
  if (!ticks || !boot || ticks_a_second <= 0) return std::nullopt;
  return static_cast<double>(*boot) +
         static_cast<double>(*ticks) / static_cast<double>(ticks_a_second);
}

std::optional<uint64_t> ResidentBytes() {
  const auto pages = NumberAt(TextOf("/proc/self/statm"), 1);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (!pages || page <= 0) return std::nullopt;
  return *pages * static_cast<uint64_t>(page);
}

std::optional<size_t> OpenFiles() {
  std::error_code error;
  size_t count = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error))
    ++count;
  if (error || count == 0) return std::nullopt;
  return count - 1;  // the folder itself was open
}

}  // namespace

Points ProcessPoints(std::string_view version) {
  Points points;
  for (const Family& family : FamiliesOf(FamilyGroup::kProcess)) {
    const auto add = [&](Labels labels, std::string value) {
      points.push_back({&family, std::move(labels), std::move(value)});
    };
    if (family.name == kBuildFamily) {
      add({{"version", std::string(version)}}, "1");
    } else if (family.name == "process_start_time_seconds") {
      if (const auto start = StartTime()) add({}, fmt::format("{:.2f}", *start));
    } else if (family.name == "process_resident_memory_bytes") {
      if (const auto bytes = ResidentBytes()) add({}, std::to_string(*bytes));
    } else if (family.name == "process_open_fds") {
      if (const auto files = OpenFiles()) add({}, std::to_string(*files));
    }
  }
  return points;
}

Points BuildPoints(std::string_view version) {
  const Family& build = FamilyNamed(FamilyGroup::kProcess, kBuildFamily);
  return {{&build, {{"version", std::string(version)}}, "1"}};
}

}  // namespace tidemark::metrics
