#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "app/text_file.h"
#include "app/yaml_map_internal.h"
#include "base/nearest_word.h"
#include "base/time_text.h"

namespace tidemark::app {

namespace {

/// A secret file is a password or a token, not a disk image.
constexpr uint64_t kSecretBytesMax = 1 << 20;
/// A mistake quotes what is wrong; what is longer is no word anybody mistyped.
constexpr size_t kMistakeBytesMax = 1000;

/// A bound as a configuration would say it: "100ms", "30d".
std::string AsWritten(Milliseconds bound) {
  using std::chrono::days, std::chrono::hours, std::chrono::minutes, std::chrono::seconds;
  for (const auto& [unit, suffix] : {std::pair<Milliseconds, const char*>(days(1), "d"),
                                     {hours(1), "h"},
                                     {minutes(1), "m"},
                                     {seconds(1), "s"}})
    if (bound.count() > 0 && bound % unit == Milliseconds(0))
      return fmt::format("{}{}", bound / unit, suffix);
  return fmt::format("{}ms", bound.count());
}

}  // namespace

std::string ConfigText::Shown() const {
  return is_hidden() ? fmt::format("(from {})", source) : value;
}

std::string ConfigText::Mistake(std::string message, std::string_view wanted) const {
  if (!is_hidden()) return message;
  return fmt::format("{} is wanted, the value (from {}) is none", wanted, source);
}

void ConfigContext::Add(const std::string& file, const YAML::Mark& mark, std::string message) {
  if (message.size() > kMistakeBytesMax) {
    size_t end = kMistakeBytesMax;
    // Not in the middle of a UTF-8 sequence.
    while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80) --end;
    message.resize(end);
    message += "…";
  }
  mistakes_.push_back({file, mark.line + 1, mark.column + 1, std::move(message)});
}

std::optional<std::string> ConfigContext::Lookup(const std::string& file,
                                                 std::string_view reference,
                                                 std::string& why) const {
  const size_t colon = reference.find(':');
  const std::string kind(reference.substr(0, colon));
  const std::string name(colon == reference.npos ? "" : reference.substr(colon + 1));
  if (kind == "env") {
    auto value = sources_.environment(name);
    if (!value) why = fmt::format("the environment variable {} is not set", name);
    return value;
  }
  if (kind != "file") {
    why = fmt::format("'${{{}}}' is neither ${{env:NAME}} nor ${{file:PATH}}", reference);
    return std::nullopt;
  }
  const auto path = std::filesystem::path(file).parent_path() / name;
  auto text = ReadTextFile(path.string(), kSecretBytesMax);
  if (!text) {
    why = text.error().message;
    return std::nullopt;
  }
  // The line end that editors and `echo` put at the end is not part of a password.
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  return *std::move(text);
}

std::optional<ConfigText> ConfigContext::Resolve(const std::string& file, const YAML::Node& node,
                                                 std::string_view name) {
  if (!node.IsScalar()) {
    Add(file, node.Mark(), fmt::format("{}: a single value is wanted here", name));
    return std::nullopt;
  }
  const std::string& text = node.Scalar();
  ConfigText resolved;
  size_t position = 0;
  for (;;) {
    const size_t start = text.find("${", position);
    if (start == text.npos) break;
    const size_t end = text.find('}', start);
    if (end == text.npos) {
      Add(file, node.Mark(), fmt::format("{}: '${{' without its '}}'", name));
      return std::nullopt;
    }
    resolved.value.append(text, position, start - position);
    std::string why;
    auto value = Lookup(file, std::string_view(text).substr(start + 2, end - start - 2), why);
    if (!value) {
      Add(file, node.Mark(), fmt::format("{}: {}", name, why));
      return std::nullopt;
    }
    resolved.value += *value;
    resolved.looked_up.push_back({*std::move(value), text.substr(start, end + 1 - start)});
    resolved.source = text;
    position = end + 1;
  }
  resolved.value.append(text, position);
  if (resolved.value.contains('\0')) {
    // Libraries in C would take what stands before it for the whole.
    Add(file, node.Mark(), fmt::format("{}: a NUL byte cannot be part of a value", name));
    return std::nullopt;
  }
  return resolved;
}

YamlMap::YamlMap(ConfigContext& context, const std::string& file, const YAML::Node& node,
                 std::string path)
    : context_(context), file_(file), path_(std::move(path)), mark_(node.Mark()) {
  if (!node.IsDefined() || node.IsNull()) return;
  if (!node.IsMap()) {
    context_.Add(file_, mark_,
                 fmt::format("{}: a mapping of keys to values is wanted here", path_));
    return;
  }
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) {
      context_.Add(file_, entry.first.Mark(), fmt::format("{}: a key must be a word", path_));
      continue;
    }
    const std::string& key = entry.first.Scalar();
    if (!values_.emplace(key, entry.second).second) {
      context_.Add(file_, entry.first.Mark(), fmt::format("{}: '{}' is given twice", path_, key));
      continue;
    }
    key_marks_.emplace(key, entry.first.Mark());
  }
}

YAML::Node YamlMap::Take(const std::string& key) {
  known_.insert(key);
  const auto found = values_.find(key);
  if (found == values_.end() || found->second.IsNull()) {
    return YAML::Node(YAML::NodeType::Undefined);
  }
  return found->second;
}

bool YamlMap::Has(const std::string& key) const {
  return values_.contains(key);
}

std::optional<ConfigText> YamlMap::TakeText(const std::string& key) {
  const YAML::Node node = Take(key);
  if (!node.IsDefined()) return std::nullopt;
  return context_.Resolve(file_, node, path_ + "." + key);
}

std::optional<std::string> YamlMap::TakeValue(const std::string& key) {
  auto text = TakeText(key);
  if (!text) return std::nullopt;
  return std::move(text->value);
}

ConfigText YamlMap::TakeNeededText(const std::string& key, std::string wanted) {
  const YAML::Node node = Take(key);
  auto text = node.IsDefined() ? context_.Resolve(file_, node, path_ + "." + key) : ConfigText{};
  if (!text) return {};
  if (text->value.empty()) Complain(key, std::move(wanted));
  return *std::move(text);
}

std::optional<bool> YamlMap::TakeBool(const std::string& key) {
  const auto text = TakeText(key);
  if (!text) return std::nullopt;
  if (text->value == "true") return true;
  if (text->value == "false") return false;
  Complain(key, fmt::format("true or false is wanted, not '{}'", text->Shown()));
  return std::nullopt;
}

std::optional<int64_t> YamlMap::TakeInteger(const std::string& key, int64_t least, int64_t most) {
  const auto text = TakeText(key);
  if (!text) return std::nullopt;
  int64_t value = 0;
  const char* const text_end = text->value.data() + text->value.size();
  const auto [end, error] = std::from_chars(text->value.data(), text_end, value);
  if (error != std::errc{} || end != text_end || value < least || value > most) {
    Complain(key, fmt::format("a whole number from {} to {} is wanted, not '{}'", least, most,
                              text->Shown()));
    return std::nullopt;
  }
  return value;
}

std::optional<Milliseconds> YamlMap::TakeDuration(const std::string& key) {
  const auto text = TakeText(key);
  if (!text) return std::nullopt;
  auto duration = ParseDuration(text->value);
  if (!duration) {
    Complain(key, text->Mistake(duration.error().message, "a duration such as 90s"));
    return std::nullopt;
  }
  return *duration;
}

std::optional<Milliseconds> YamlMap::TakeDurationWithin(const std::string& key, Milliseconds least,
                                                        Milliseconds most) {
  const auto duration = TakeDuration(key);
  if (!duration || (*duration >= least && *duration <= most)) return duration;
  const std::string bounds = most == Milliseconds::max()
                                 ? fmt::format("of at least {}", AsWritten(least))
                                 : fmt::format("from {} to {}", AsWritten(least), AsWritten(most));
  Complain(key, fmt::format("a duration {} is wanted, not '{}'", bounds,
                            TakeText(key).value_or(ConfigText{}).Shown()));
  return std::nullopt;
}

std::optional<int64_t> YamlMap::TakePercent(const std::string& key) {
  constexpr size_t kDigitsAfterPoint = 4;
  const auto text = TakeText(key);
  if (!text) return std::nullopt;
  std::string digits =
      text->value.ends_with('%') ? text->value.substr(0, text->value.size() - 1) : text->value;
  const size_t point = std::min(digits.find('.'), digits.size());
  const size_t after = point == digits.size() ? 0 : digits.size() - point - 1;
  const bool has_point = point < digits.size();
  if (has_point) digits.erase(point, 1);
  digits.append(kDigitsAfterPoint - std::min(after, kDigitsAfterPoint), '0');
  int64_t ppm = 0;
  const char* const digits_end = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), digits_end, ppm);
  const bool is_number = error == std::errc{} && end == digits_end && point > 0 &&
                         after <= kDigitsAfterPoint && (!has_point || after > 0);
  if (!is_number || ppm <= 0 || ppm >= 1'000'000) {
    Complain(key, fmt::format("a percentage between 0 and 100 such as 99.5 is wanted, not '{}'",
                              text->Shown()));
    return std::nullopt;
  }
  return ppm;
}

std::map<std::string, ConfigText> YamlMap::TakeTexts(const std::string& key) {
  std::map<std::string, ConfigText> texts;
  const YAML::Node node = Take(key);
  if (!node.IsDefined()) return texts;
  YamlMap map(context_, file_, node, path_ + "." + key);
  for (const auto& [name, value] : map.values_) {
    if (value.IsNull()) {
      context_.Add(file_, value.Mark(), fmt::format("{}.{}: a value is wanted", map.path_, name));
      continue;
    }
    if (auto text = context_.Resolve(file_, value, map.path_ + "." + name)) {
      texts.emplace(name, std::move(*text));
    }
  }
  return texts;
}

std::optional<std::string> YamlMap::TakeWord(const std::string& key,
                                             const std::vector<std::string>& words) {
  const auto text = TakeText(key);
  if (!text) return std::nullopt;
  if (std::ranges::find(words, text->value) != words.end()) return text->value;
  Complain(key,
           fmt::format("one of {} is wanted, not '{}'", fmt::join(words, ", "), text->Shown()));
  return std::nullopt;
}

void YamlMap::Complain(const std::string& key, std::string message) {
  const auto found = values_.find(key);
  context_.Add(file_, found == values_.end() ? mark_ : found->second.Mark(),
               fmt::format("{}.{}: {}", path_, key, message));
}

void YamlMap::Finish() {
  for (const auto& [key, mark] : key_marks_) {
    if (known_.contains(key)) continue;
    const auto nearest = NearestWord(key, known_);
    context_.Add(
        file_, mark,
        nearest
            ? fmt::format("{}: unknown key '{}', did you mean '{}'?", path_, key, *nearest)
            : fmt::format("{}: unknown key '{}' (known: {})", path_, key, fmt::join(known_, ", ")));
  }
}

}  // namespace tidemark::app
