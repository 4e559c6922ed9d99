#include "lake/hudi/data_file_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace tidemark::lake::hudi {
namespace {

constexpr std::array<std::pair<BaseFileFormat, std::string_view>, 4> kFormatNames = {{
    {BaseFileFormat::kParquet, "parquet"},
    {BaseFileFormat::kOrc, "orc"},
    {BaseFileFormat::kHFile, "hfile"},
    {BaseFileFormat::kLance, "lance"},
}};
constexpr std::string_view kLogInfix = ".log.";
constexpr std::string_view kCdcSuffix = ".cdc";
/// File systems stop at 255; anything longer is no name.
constexpr size_t kNameSizeMax = 1024;

bool IsDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// "0-161-129".
bool IsWriteToken(std::string_view text) {
  for (int part = 0; part < 2; ++part) {
    const size_t dash = text.find('-');
    if (dash == text.npos || !IsDigits(text.substr(0, dash))) return false;
    text.remove_prefix(dash + 1);
  }
  return IsDigits(text);
}

/// Cuts what follows the last `mark` off `text`; nullopt, and no cut, when there is none.
std::optional<std::string_view> CutBehindLast(std::string_view& text, std::string_view mark) {
  const size_t at = text.rfind(mark);
  if (at == text.npos) return std::nullopt;
  const auto tail = text.substr(at + mark.size());
  text = text.substr(0, at);
  return tail;
}

/// What follows ".log." in a name.
bool ReadLogTail(std::string_view tail, LogFileName& name) {
  if (tail.ends_with(kCdcSuffix)) {
    name.is_cdc = true;
    tail.remove_suffix(kCdcSuffix.size());
  }
  const size_t mark = tail.find('_');
  const auto digits = tail.substr(0, mark);
  if (!IsDigits(digits)) return false;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), name.version);
  if (error != std::errc()) return false;
  if (mark == tail.npos) return !name.is_cdc;
  name.write_token = tail.substr(mark + 1);
  return IsWriteToken(name.write_token);
}

}  // namespace

std::string_view BaseFileFormatName(BaseFileFormat format) {
  for (const auto& [known, name] : kFormatNames)
    if (known == format) return name;
  std::unreachable();
}

std::optional<BaseFileName> ParseBaseFileName(std::string_view name) {
  if (name.size() > kNameSizeMax || name.starts_with('.')) return std::nullopt;
  const auto ending = CutBehindLast(name, ".");
  const auto format = std::ranges::find_if(
      kFormatNames, [&](const auto& entry) { return ending && entry.second == *ending; });
  if (format == kFormatNames.end()) return std::nullopt;
  const auto instant = CutBehindLast(name, "_");
  const auto token = CutBehindLast(name, "_");
  if (!instant || !token || !IsDigits(*instant) || !IsWriteToken(*token)) return std::nullopt;
  if (name.empty() || name.contains('_')) return std::nullopt;
  return BaseFileName{std::string(name), std::string(*token), std::string(*instant), format->first};
}

std::optional<LogFileName> ParseLogFileName(std::string_view name) {
  if (name.size() > kNameSizeMax || !name.starts_with('.')) return std::nullopt;
  name.remove_prefix(1);
  LogFileName result;
  const auto tail = CutBehindLast(name, kLogInfix);
  if (!tail || !ReadLogTail(*tail, result)) return std::nullopt;
  const auto instant = CutBehindLast(name, "_");
  if (!instant || !IsDigits(*instant) || name.empty()) return std::nullopt;
  result.instant = *instant;
  result.file_id = name;
  return result;
}

}  // namespace tidemark::lake::hudi
