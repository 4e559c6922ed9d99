#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/yaml_map_internal.h"
#include "base/time_text.h"

namespace tidemark::app {

namespace {

/// A secret file is a password or a token, not a disk image.
constexpr std::uintmax_t kSecretBytesMax = 1 << 20;

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> best(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        best[i][j] = i + j;
        continue;
      }
      const size_t replaced = best[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      best[i][j] = std::min({best[i - 1][j] + 1, best[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        best[i][j] = std::min(best[i][j], best[i - 2][j - 2] + 1);
      }
    }
  }
  return best[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> NearestWord(std::string_view word, const std::set<std::string>& known) {
  // Longer words are no misspelling of anything, and comparing them would cost their square.
  constexpr size_t kWordSizeMax = 64;
  if (word.size() > kWordSizeMax) return std::nullopt;
  const std::string* best = nullptr;
  size_t best_distance = std::max<size_t>(2, word.size() / 2);
  for (const std::string& candidate : known) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < best_distance || (distance == best_distance && best == nullptr)) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

void ConfigContext::Add(const std::string& file, const YAML::Mark& mark, std::string message) {
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
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  // Only what has a size is opened: a pipe would be waited for.
  std::ifstream in;
  if (!error) in.open(path, std::ios::binary);
  if (error || !in) {
    why = fmt::format("the file '{}' cannot be read", path.string());
    return std::nullopt;
  }
  if (size > kSecretBytesMax) {
    why = fmt::format("the file '{}' has over {} bytes", path.string(), kSecretBytesMax);
    return std::nullopt;
  }
  std::string text(std::istreambuf_iterator<char>(in), {});
  // The line end that editors and `echo` put at the end is not part of a password.
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

std::optional<std::string> ConfigContext::Resolve(const std::string& file, const YAML::Node& node,
                                                  std::string_view name) {
  if (!node.IsScalar()) {
    Add(file, node.Mark(), fmt::format("{}: a single value is wanted here", name));
    return std::nullopt;
  }
  const std::string& text = node.Scalar();
  std::string resolved;
  size_t position = 0;
  for (;;) {
    const size_t start = text.find("${", position);
    if (start == text.npos) break;
    const size_t end = text.find('}', start);
    if (end == text.npos) {
      Add(file, node.Mark(), fmt::format("{}: '${{' without its '}}'", name));
      return std::nullopt;
    }
    resolved.append(text, position, start - position);
    std::string why;
    const auto value = Lookup(file, std::string_view(text).substr(start + 2, end - start - 2), why);
    if (!value) {
      Add(file, node.Mark(), fmt::format("{}: {}", name, why));
      return std::nullopt;
    }
    resolved += *value;
    position = end + 1;
  }
  resolved.append(text, position);
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

std::optional<std::string> YamlMap::TakeText(const std::string& key) {
  const YAML::Node node = Take(key);
  if (!node.IsDefined()) return std::nullopt;
  return context_.Resolve(file_, node, path_ + "." + key);
}

std::string YamlMap::TakeNeededText(const std::string& key, std::string wanted) {
  const YAML::Node node = Take(key);
  const auto text =
      node.IsDefined() ? context_.Resolve(file_, node, path_ + "." + key) : std::string();
  if (text && text->empty()) Complain(key, std::move(wanted));
  return text.value_or("");
}

std::optional<bool> YamlMap::TakeBool(const std::string& key) {
  const auto text = TakeText(key);
  if (!text) return std::nullopt;
  if (*text == "true") return true;
  if (*text == "false") return false;
  Complain(key, "true or false is wanted");
  return std::nullopt;
}

std::optional<int64_t> YamlMap::TakeInteger(const std::string& key, int64_t least, int64_t most) {
  const auto text = TakeText(key);
  if (!text) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size() || value < least || value > most) {
    Complain(key, fmt::format("a whole number from {} to {} is wanted", least, most));
    return std::nullopt;
  }
  return value;
}

std::optional<Milliseconds> YamlMap::TakeDuration(const std::string& key) {
  const auto text = TakeText(key);
  if (!text) return std::nullopt;
  auto duration = ParseDuration(*text);
  if (!duration) {
    Complain(key, duration.error().message);
    return std::nullopt;
  }
  return *duration;
}

std::map<std::string, std::string> YamlMap::TakeTexts(const std::string& key) {
  std::map<std::string, std::string> texts;
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
  auto text = TakeText(key);
  if (!text || std::ranges::find(words, *text) != words.end()) return text;
  Complain(key, fmt::format("one of {} is wanted", fmt::join(words, ", ")));
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
