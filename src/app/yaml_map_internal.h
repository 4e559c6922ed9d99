/// Reading a YAML mapping key by key, so that what nobody asked for is a mistake with a suggestion.
#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"

namespace tidemark::app {

/// A scalar with its references resolved.
struct ConfigText {
  std::string value;
  /// The scalar as it stands in the file when it holds references, "${env:NAME}": the value may be
  /// a secret then and must not appear in a mistake. Empty for plain text.
  std::string source{};
  struct Part {
    std::string value;
    std::string reference;  ///< "${env:NAME}"
  };
  std::vector<Part> looked_up{};  ///< what each reference gave

  bool is_hidden() const { return !source.empty(); }
  /// What a message may show: the value, or where it came from.
  std::string Shown() const;
  /// `message` of a plain value; of a hidden one, which `message` may quote, that `wanted` is
  /// wanted.
  std::string Mistake(std::string message, std::string_view wanted) const;
};

/// Collects mistakes and resolves `${env:NAME}` and `${file:PATH}` in scalars.
class ConfigContext {
 public:
  ConfigContext(const ConfigSources& sources, std::vector<ConfigMistake>& mistakes,
                FileStamps& stamps)
      : sources_(sources), mistakes_(mistakes), stamps_(stamps) {}

  const ConfigSources& sources() const { return sources_; }

  void Add(const std::string& file, const YAML::Mark& mark, std::string message);

  /// Counts a file among those that were sought, for who waits until they change.
  void Seek(const std::string& path) { stamps_.Add(path); }

  /// The scalar with its references resolved; nullopt after reporting a mistake. `name` is for
  /// messages.
  std::optional<ConfigText> Resolve(const std::string& file, const YAML::Node& node,
                                    std::string_view name);

 private:
  std::optional<std::string> Lookup(const std::string& file, std::string_view reference,
                                    std::string& why) const;

  const ConfigSources& sources_;
  std::vector<ConfigMistake>& mistakes_;
  FileStamps& stamps_;
};

/// One mapping. Every Take marks its key as known; Finish reports the others.
class YamlMap {
 public:
  /// `path` names the mapping in messages, e.g. "pipelines[2]". A node that is no mapping is
  /// reported and read as empty.
  YamlMap(ConfigContext& context, const std::string& file, const YAML::Node& node,
          std::string path);

  const std::string& file() const { return file_; }
  const std::string& path() const { return path_; }
  const YAML::Mark& mark() const { return mark_; }

  /// The value of a key; an undefined node when it is absent or null.
  YAML::Node Take(const std::string& key);
  bool Has(const std::string& key) const;

  std::optional<ConfigText> TakeText(const std::string& key);
  /// The value alone, for keys about which nothing can be wrong but their absence.
  std::optional<std::string> TakeValue(const std::string& key);
  /// Text that must be there: reports `wanted` when it is absent, null or empty, and then gives "".
  /// Text that cannot be resolved is reported once, as what it is.
  ConfigText TakeNeededText(const std::string& key, std::string wanted);
  std::optional<bool> TakeBool(const std::string& key);
  /// A whole number within [least, most].
  std::optional<int64_t> TakeInteger(const std::string& key, int64_t least, int64_t most);
  std::optional<Milliseconds> TakeDuration(const std::string& key);
  /// A duration within [least, most]; nullopt when absent or reported.
  std::optional<Milliseconds> TakeDurationWithin(const std::string& key, Milliseconds least,
                                                 Milliseconds most = Milliseconds::max());
  /// A percentage between 0 and 100, both excluded, as parts per million: "99.95" -> 999'500.
  std::optional<int64_t> TakePercent(const std::string& key);
  /// A mapping of names to scalars; empty when absent.
  std::map<std::string, ConfigText> TakeTexts(const std::string& key);
  /// One of the words; nullopt when absent or reported.
  std::optional<std::string> TakeWord(const std::string& key,
                                      const std::vector<std::string>& words);

  /// Reports a mistake at the key's value, or at the mapping when the key is absent.
  void Complain(const std::string& key, std::string message);
  /// Reports keys nobody took, each with the nearest one that is known.
  void Finish();

 private:
  ConfigContext& context_;
  std::string file_;
  std::string path_;
  YAML::Mark mark_;
  std::map<std::string, YAML::Node> values_;
  std::map<std::string, YAML::Mark> key_marks_;
  std::set<std::string> known_;
};

}  // namespace tidemark::app
