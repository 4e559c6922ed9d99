#include "rules/yaml_text_internal.h"

namespace tidemark::rules {

YamlText& YamlText::Comment(const std::string& text) {
  return Put(YAML::Comment(text)).Put(YAML::Newline);
}

YamlText& YamlText::Plain(std::string_view key, std::string_view value) {
  return Key(key).Put(std::string(value));
}

YamlText& YamlText::Text(std::string_view key, std::string_view value) {
  return Key(key).Put(YAML::DoubleQuoted).Put(std::string(value));
}

YamlText& YamlText::Query(std::string_view key, std::string_view value) {
  return Key(key).Put(YAML::SingleQuoted).Put(std::string(value));
}

}  // namespace tidemark::rules
