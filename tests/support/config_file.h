/// A configuration file of a test, alone in its folder, and what is read from it.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/config.h"
#include "support/child_process.h"

namespace tidemark::support {

class ConfigFile {
 public:
  /// `environment` is all that ${env:…} finds. Any property of a cluster is right.
  explicit ConfigFile(std::map<std::string, std::string> environment = {}) {
    sources.environment = [environment = std::move(environment)](
                              const std::string& name) -> std::optional<std::string> {
      const auto found = environment.find(name);
      return found == environment.end() ? std::nullopt : std::optional(found->second);
    };
    sources.check_property = [](const auto&, const auto&, auto) { return Status(); };
  }

  std::string PathOf(const std::string& name) const { return folder_.path() + "/" + name; }

  app::LoadedConfig Load(const std::string& text) const {
    std::ofstream(PathOf("tidemark.yaml")) << text;
    return app::LoadConfig(PathOf("tidemark.yaml"), sources);
  }

  /// The configuration; fails the test where there is a mistake.
  app::Config Good(const std::string& text) const {
    app::LoadedConfig loaded = Load(text);
    for (const app::ConfigMistake& mistake : loaded.mistakes)
      ADD_FAILURE() << app::FormatMistake(mistake);
    return std::move(loaded.config).value_or(app::Config{});
  }

  /// The mistakes as "line:column: message", lines counted from behind the first `lines_before`.
  std::vector<std::string> Mistakes(const std::string& text, size_t lines_before = 0) const {
    std::vector<std::string> lines;
    for (const app::ConfigMistake& mistake : Load(text).mistakes)
      lines.push_back(std::to_string(mistake.line - lines_before) + ":" +
                      std::to_string(mistake.column) + ": " + mistake.message);
    return lines;
  }

  app::ConfigSources sources;

 private:
  TemporaryFolder folder_;
};

}  // namespace tidemark::support
