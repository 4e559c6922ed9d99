#include "storage/aws_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/letter_case.h"
#include "storage/small_file.h"

namespace tidemark::storage {

namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// "profile   ci" to "profile ci".
std::string WithSingleBlanks(std::string_view text) {
  std::string single;
  for (const char c : text) {
    const bool is_blank = kBlanks.contains(c);
    if (is_blank && single.ends_with(' ')) continue;
    single += is_blank ? ' ' : c;
  }
  return single;
}

std::string PathOf(const Environment& environment, const char* variable, std::string_view file) {
  if (auto path = environment(variable)) return *std::move(path);
  const auto home = environment("HOME");
  return home ? fmt::format("{}/.aws/{}", *home, file) : std::string();
}

Result<AwsSections> ReadSections(const std::string& path) {
  if (path.empty()) return AwsSections{};
  auto text = ReadSmallFile(path);
  if (!text && text.error().kind == ErrorKind::kNotFound) return AwsSections{};
  if (!text) return std::unexpected(std::move(text).error());
  auto sections = ParseAwsFile(*text);
  if (!sections)
    return std::unexpected(std::move(sections).error().With(fmt::format("file={}", path)));
  return sections;
}

}  // namespace

Result<AwsSections> ParseAwsFile(std::string_view text) {
  AwsSections sections;
  AwsSection* section = nullptr;
  int line_number = 0;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++line_number;
    const std::string_view trimmed = Trimmed(line);
    if (trimmed.empty() || trimmed[0] == '#' || trimmed[0] == ';') continue;
    if (trimmed[0] == '[') {
      const size_t close = trimmed.find(']');
      const std::string_view name = Trimmed(trimmed.substr(1, close - 1));
      if (close == std::string_view::npos || name.empty())
        return Fail(ErrorKind::kCorrupt, fmt::format("not a [section]: line={}", line_number));
      section = &sections[WithSingleBlanks(name)];
      continue;
    }
    if (kBlanks.contains(line[0])) continue;  // a nested setting of the line above
    const size_t equals = trimmed.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return Fail(ErrorKind::kCorrupt, fmt::format("not 'name = value': line={}", line_number));
    if (section == nullptr) {
      return Fail(ErrorKind::kCorrupt,
                  fmt::format("a setting before the first [section]: line={}", line_number));
    }
    section->insert_or_assign(LowerCase(Trimmed(trimmed.substr(0, equals))),
                              std::string(Trimmed(trimmed.substr(equals + 1))));
  }
  return sections;
}

namespace {

Result<AwsProfile> Load(const Environment& environment, AwsProfile profile) {
  const std::string credentials_path =
      PathOf(environment, "AWS_SHARED_CREDENTIALS_FILE", "credentials");
  const std::string config_path = PathOf(environment, "AWS_CONFIG_FILE", "config");
  TRY_ASSIGN(AwsSections credentials, ReadSections(credentials_path));
  TRY_ASSIGN(AwsSections config, ReadSections(config_path));
  bool is_there = false;
  const auto take = [&](const AwsSections& sections, const std::string& name) {
    const auto it = sections.find(name);
    if (it == sections.end()) return;
    is_there = true;
    for (const auto& [key, value] : it->second) profile.settings.insert_or_assign(key, value);
  };
  // Later ones win.
  if (profile.name == "default") take(config, "default");
  take(config, "profile " + profile.name);
  take(credentials, profile.name);
  if (!is_there && profile.is_asked_for) {
    return Fail(ErrorKind::kNotFound, fmt::format("no such profile: profile={} files={},{}",
                                                  profile.name, credentials_path, config_path));
  }
  return profile;
}

}  // namespace

Result<AwsProfile> LoadAwsProfile(const Environment& environment) {
  if (auto name = environment("AWS_PROFILE")) return LoadAwsProfile(environment, *std::move(name));
  return Load(environment, {.name = "default", .is_asked_for = false, .settings = {}});
}

Result<AwsProfile> LoadAwsProfile(const Environment& environment, std::string name) {
  return Load(environment, {.name = std::move(name), .is_asked_for = true, .settings = {}});
}

std::string AwsRegionOfEnvironment(const Environment& environment) {
  for (const char* const variable : {"AWS_REGION", "AWS_DEFAULT_REGION"})
    if (auto region = environment(variable)) return *std::move(region);
  return "";
}

std::optional<std::string> AwsRegionOfProfile(const Environment& environment) {
  const auto profile = LoadAwsProfile(environment);
  if (!profile) return std::nullopt;
  const auto it = profile->settings.find("region");
  return it == profile->settings.end() ? std::nullopt : std::optional(it->second);
}

std::string AwsEndpointOfEnvironment(std::string_view service, const Environment& environment) {
  std::string own = "AWS_ENDPOINT_URL_";
  for (const char c : service) own += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  for (const char* const variable : {own.c_str(), "AWS_ENDPOINT_URL"})
    if (auto endpoint = environment(variable)) return *std::move(endpoint);
  return "";
}

}  // namespace tidemark::storage
