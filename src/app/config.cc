#include "app/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <tuple>

#include "app/config_reader_internal.h"
#include "base/glob.h"
#include "base/log.h"
#include "base/utf8.h"

namespace tidemark::app {

namespace {

/// Within each file by line; the files stay in the order of reading.
void SortByPlace(std::vector<ConfigMistake>& mistakes) {
  std::map<std::string, size_t> order;
  for (const ConfigMistake& mistake : mistakes) order.emplace(mistake.file, order.size());
  std::ranges::stable_sort(mistakes, {}, [&](const ConfigMistake& mistake) {
    return std::tuple(order[mistake.file], mistake.line, mistake.column);
  });
}

}  // namespace

std::string FormatMistake(const ConfigMistake& mistake) {
  return fmt::format("{}:{}:{}: {}", Printable(mistake.file), mistake.line, mistake.column,
                     Printable(mistake.message));
}

ConfigSources SystemConfigSources(NamedFiles named_files) {
  return {
      .environment = [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        if (value == nullptr) return std::nullopt;
        return value;
      },
      .check_property = kafka::client::CheckProperty,
      .named_files = named_files,
  };
}

LoadedConfig LoadConfig(const std::string& path, const ConfigSources& sources) {
  LoadedConfig loaded;
  Config config = ReadConfigFile(path, sources, loaded.mistakes, loaded.files);
  if (loaded.mistakes.empty()) {
    config.files = loaded.files;
    loaded.config = std::move(config);
  }
  SortByPlace(loaded.mistakes);
  return loaded;
}

Result<Config> ReadConfig(const std::string& path, const ConfigSources& sources) {
  LoadedConfig loaded = LoadConfig(path, sources);
  if (loaded.config) return std::move(*loaded.config);
  std::string message = fmt::format("{} mistake{} in the configuration", loaded.mistakes.size(),
                                    loaded.mistakes.size() == 1 ? "" : "s");
  for (const ConfigMistake& mistake : loaded.mistakes) message += "\n" + FormatMistake(mistake);
  return Fail(ErrorKind::kInvalidArgument, std::move(message));
}

const StoreConfig& StoreFor(const Config& config, std::string_view table) {
  static const StoreConfig defaults;
  const auto found = std::ranges::find_if(
      config.stores, [&](const StoreConfig& store) { return MatchesGlob(store.match, table); });
  return found == config.stores.end() ? defaults : *found;
}

Status ListenAt(const std::string& listen, Config& config) {
  if (listen.empty()) return {};
  HttpConfig http = config.http.value_or(HttpConfig{});
  if (auto parsed = ParseListen(listen, http); !parsed)
    return Fail(ErrorKind::kInvalidArgument, "--listen: " + parsed.error().message);
  config.http = http;
  return {};
}

void HideInLog(const Config& config) {
  // What an older configuration held stays hidden: its clients may still talk.
  static std::mutex mutex;
  static std::vector<HiddenValues> hidden;
  const std::lock_guard lock(mutex);
  const bool is_first = hidden.empty();
  for (const auto& [name, cluster] : config.clusters) hidden.push_back(cluster.hidden);
  for (const StoreConfig& store : config.stores) hidden.push_back(store.hidden);
  hidden.push_back(config.state_hidden);
  hidden.push_back(config.exporters.hidden);
  hidden.push_back(config.wake_ups.hidden);
  if (config.mirror) {
    hidden.push_back(config.mirror->state_hidden);
    hidden.push_back(config.mirror->sinks.hidden);
  }
  if (!is_first) return;
  SetLogFilter([](std::string message) {
    const std::lock_guard filter_lock(mutex);
    for (const HiddenValues& each : hidden) message = each.Hide(std::move(message));
    return message;
  });
}

}  // namespace tidemark::app
