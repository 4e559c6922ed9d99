/// YAML through yaml-cpp's emitter, quoted so that every reader takes it for what it is.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

namespace tidemark::rules {

/// Writes mappings and lists. Words of ours are plain; what may look like a number, a bool or
/// worse goes through Text or Query. Single-threaded.
class YamlText {
 public:
  YamlText& BeginMap() { return Put(YAML::BeginMap); }
  YamlText& EndMap() { return Put(YAML::EndMap); }
  YamlText& BeginList() { return Put(YAML::BeginSeq); }
  YamlText& EndList() { return Put(YAML::EndSeq); }
  /// The next of several documents.
  YamlText& BeginDocument() { return Put(YAML::BeginDoc); }
  YamlText& Comment(const std::string& text);
  YamlText& Key(std::string_view key) {
    return Put(YAML::Key).Put(std::string(key)).Put(YAML::Value);
  }

  /// A key and a word or number of ours, as it is.
  YamlText& Plain(std::string_view key, std::string_view value);
  YamlText& Bool(std::string_view key, bool value) { return Plain(key, value ? "true" : "false"); }
  /// A key and text from outside: double quotes, escaped.
  YamlText& Text(std::string_view key, std::string_view value);
  /// A key and a query, which holds no control characters: single quotes, so that its own double
  /// ones stay readable.
  YamlText& Query(std::string_view key, std::string_view value);

  /// The whole text.
  std::string Finish() const { return std::string(emitter_.c_str(), emitter_.size()) + "\n"; }

 private:
  template <typename T>
  YamlText& Put(const T& what) {
    emitter_ << what;
    return *this;
  }

  YAML::Emitter emitter_;
};

}  // namespace tidemark::rules
