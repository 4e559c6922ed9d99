#include "app/config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include "app/yaml_map_internal.h"
#include "base/time_text.h"
#include "kafka/bootstrap.h"
#include "kafka/client/properties.h"

namespace tidemark::app {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kConfigBytesMax = 16 << 20;
constexpr int kIncludeDepthMax = 8;
constexpr size_t kPipelinesMax = 100'000;
constexpr int64_t kMinutesMax = 100LL * 366 * 24 * 60;
constexpr int64_t kCommitDepthMax = 1'000'000;

/// Names that the exporters put beside a pipeline's own labels.
const std::set<std::string> kReservedLabels = {"pipeline",  "cluster", "table",  "topic",
                                               "partition", "status",  "verdict"};

bool IsLabelName(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !letter(name[0]) || name.starts_with("__")) return false;
  return std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

bool MatchesGlob(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = pattern.npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// Values that a pipeline inherits.
struct Defaults {
  Milliseconds streaming_sla = freshness::kStreamingSlaDefault;
  Milliseconds batch_sla = freshness::kBatchSlaDefault;
  int64_t commit_depth_max = 100;
  Milliseconds lag_cap = freshness::kLagCapDefault;
  Milliseconds interval = std::chrono::seconds(60);
};

/// Where a pipeline was given, for mistakes that show only when everything is read.
struct PipelinePlace {
  std::string file;
  YAML::Mark mark;
};

class ConfigReader {
 public:
  ConfigReader(const ConfigSources& sources, std::vector<ConfigMistake>& mistakes)
      : context_(sources, mistakes) {}

  Config Read(const std::string& path);

 private:
  std::optional<YAML::Node> Load(const std::string& path, const std::string& from_file,
                                 const YAML::Mark& from);
  void ReadRoot(const std::string& file, const YAML::Node& root);
  void ReadClusters(const std::string& file, const YAML::Node& node);
  void ReadStores(const std::string& file, const YAML::Node& node);
  void ReadDefaults(const std::string& file, const YAML::Node& node);
  void ReadPipelines(const std::string& file, const YAML::Node& node, int depth);
  void ReadInclude(const std::string& file, const YAML::Node& entry, int depth);
  void ReadPipeline(const std::string& file, const YAML::Node& node, const std::string& path);
  void ReadSla(YamlMap& map, freshness::PipelineSpec& spec);
  void ReadCluster(YamlMap& map, freshness::PipelineSpec& spec);
  void ReadLabels(YamlMap& map, freshness::PipelineSpec& spec);
  void ReadMaintenance(YamlMap& map, PipelineConfig& pipeline);

  ConfigContext context_;
  Config config_;
  Defaults defaults_;
  std::map<std::string, PipelinePlace> places_;
};

std::optional<YAML::Node> ConfigReader::Load(const std::string& path, const std::string& from_file,
                                             const YAML::Mark& from) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  // Only what has a size is opened: a pipe would be waited for.
  std::ifstream in;
  if (!error) in.open(path, std::ios::binary);
  if (error || !in) {
    context_.Add(from_file, from, fmt::format("'{}' cannot be read", path));
    return std::nullopt;
  }
  if (size > kConfigBytesMax) {
    context_.Add(from_file, from, fmt::format("'{}' has over {} bytes", path, kConfigBytesMax));
    return std::nullopt;
  }
  try {
    const auto documents = YAML::LoadAll(in);
    if (documents.size() > 1) {
      context_.Add(path, documents[1].Mark(), "a second YAML document, which would not be read");
      return std::nullopt;
    }
    return documents.empty() ? YAML::Node() : documents[0];
  } catch (const YAML::Exception& e) {
    context_.Add(path, e.mark, fmt::format("not valid YAML: {}", e.msg));
    return std::nullopt;
  }
}

Config ConfigReader::Read(const std::string& path) {
  const auto root = Load(path, path, YAML::Mark());
  if (root) ReadRoot(path, *root);
  return std::move(config_);
}

void ConfigReader::ReadRoot(const std::string& file, const YAML::Node& root) {
  YamlMap map(context_, file, root, "configuration");
  // In this order, whatever the order in the file: pipelines refer to all that stands before.
  ReadClusters(file, map.Take("clusters"));
  ReadStores(file, map.Take("stores"));
  ReadDefaults(file, map.Take("defaults"));
  ReadPipelines(file, map.Take("pipelines"), 0);
  // Sections of other commands, read there.
  for (const char* section : {"feed", "exporters", "http", "state", "coordination"}) {
    map.Take(section);
  }
  map.Finish();
}

void ConfigReader::ReadClusters(const std::string& file, const YAML::Node& node) {
  if (!node.IsDefined()) return;
  if (!node.IsMap()) {
    context_.Add(file, node.Mark(), "clusters: a mapping of names to clusters is wanted here");
    return;
  }
  for (const auto& entry : node) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
    YamlMap map(context_, file, entry.second, "clusters." + name);
    ClusterConfig cluster{name, {}};
    cluster.options.bootstrap_servers =
        map.TakeNeededText("bootstrap_servers", "host:port[,host:port] is wanted");
    if (!cluster.options.bootstrap_servers.empty()) {
      auto status = kafka::CheckBootstrapServers(cluster.options.bootstrap_servers);
      if (!status) map.Complain("bootstrap_servers", status.error().message);
    }
    const YAML::Node properties = map.Take("properties");
    for (auto& [key, value] : map.TakeTexts("properties")) {
      if (auto status = context_.sources().check_property(key, value); !status) {
        context_.Add(file, properties[key].Mark(),
                     fmt::format("{}.properties.{}: {}", map.path(), key, status.error().message));
      }
      cluster.options.properties.emplace_back(key, std::move(value));
    }
    map.Finish();
    config_.clusters.emplace(name, std::move(cluster));
  }
}

void ConfigReader::ReadStores(const std::string& file, const YAML::Node& node) {
  if (!node.IsDefined()) return;
  if (!node.IsMap()) {
    context_.Add(file, node.Mark(), "stores: a mapping of names to stores is wanted here");
    return;
  }
  for (const auto& entry : node) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
    YamlMap map(context_, file, entry.second, "stores." + name);
    StoreConfig store;
    store.name = name;
    store.match = map.TakeNeededText("match", "a URI pattern such as s3://lake/* is wanted");
    store.options.endpoint = map.TakeText("endpoint").value_or("");
    store.options.region = map.TakeText("region").value_or("");
    store.options.is_anonymous = map.TakeBool("anonymous").value_or(false);
    store.options.is_path_style = map.TakeBool("path_style");
    map.Finish();
    config_.stores.push_back(std::move(store));
  }
}

void ConfigReader::ReadDefaults(const std::string& file, const YAML::Node& node) {
  if (!node.IsDefined()) return;
  YamlMap map(context_, file, node, "defaults");
  if (const YAML::Node minutes = map.Take("sla_minutes"); minutes.IsDefined()) {
    YamlMap sla(context_, file, minutes, "defaults.sla_minutes");
    if (const auto value = sla.TakeInteger("streaming", 1, kMinutesMax)) {
      defaults_.streaming_sla = std::chrono::minutes(*value);
    }
    if (const auto value = sla.TakeInteger("batch", 1, kMinutesMax)) {
      defaults_.batch_sla = std::chrono::minutes(*value);
    }
    sla.Finish();
  }
  defaults_.commit_depth_max =
      map.TakeInteger("max_commit_depth", 0, kCommitDepthMax).value_or(defaults_.commit_depth_max);
  defaults_.lag_cap = map.TakeDuration("lag_cap").value_or(defaults_.lag_cap);
  defaults_.interval = map.TakeDuration("interval").value_or(defaults_.interval);
  map.Finish();
}

void ConfigReader::ReadPipelines(const std::string& file, const YAML::Node& node, int depth) {
  if (!node.IsDefined() || node.IsNull()) return;
  if (!node.IsSequence()) {
    context_.Add(file, node.Mark(), "pipelines: a list of pipelines is wanted here");
    return;
  }
  size_t index = 0;
  for (const auto& entry : node) {
    const std::string path = fmt::format("pipelines[{}]", index++);
    if (entry.IsMap() && entry["include"].IsDefined()) {
      ReadInclude(file, entry, depth);
    } else {
      ReadPipeline(file, entry, path);
    }
    if (config_.pipelines.size() > kPipelinesMax) {
      context_.Add(file, entry.Mark(), fmt::format("more than {} pipelines", kPipelinesMax));
      return;
    }
  }
}

void ConfigReader::ReadInclude(const std::string& file, const YAML::Node& entry, int depth) {
  YamlMap map(context_, file, entry, "include");
  const auto pattern = map.TakeText("include");
  map.Finish();
  if (!pattern) return;
  const YAML::Mark mark = entry["include"].Mark();
  if (depth >= kIncludeDepthMax) {
    context_.Add(file, mark, fmt::format("include: more than {} files deep", kIncludeDepthMax));
    return;
  }
  const fs::path full = fs::path(file).parent_path() / *pattern;
  const std::string name_pattern = full.filename().string();
  const fs::path folder = full.parent_path().empty() ? fs::path(".") : full.parent_path();
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (MatchesGlob(name_pattern, it->path().filename().string())) {
      files.push_back(full.has_parent_path() ? it->path().string()
                                             : it->path().filename().string());
    }
  }
  std::ranges::sort(files);
  const bool is_pattern = name_pattern.contains('*');
  // A pattern may match nothing yet; a file that is named must be there.
  if (error || (files.empty() && !is_pattern)) {
    context_.Add(file, mark, fmt::format("include: '{}' cannot be read", full.string()));
    return;
  }
  for (const std::string& included : files) {
    const auto root = Load(included, file, mark);
    if (!root) continue;
    // Either a bare list of pipelines, or the section with its key.
    if (root->IsMap()) {
      YamlMap section(context_, included, *root, "included file");
      ReadPipelines(included, section.Take("pipelines"), depth + 1);
      section.Finish();
    } else {
      ReadPipelines(included, *root, depth + 1);
    }
  }
}

void ConfigReader::ReadSla(YamlMap& map, freshness::PipelineSpec& spec) {
  const auto minutes = map.TakeInteger("slaInMinutes", 1, kMinutesMax);
  const auto duration = map.TakeDuration("sla");
  if (map.Has("slaInMinutes") && map.Has("sla")) {
    map.Complain("sla", "slaInMinutes is given too, keep one of them");
  }
  if (duration && duration->count() <= 0) map.Complain("sla", "an SLA must be longer than zero");
  spec.sla =
      spec.mode == freshness::Mode::kStreaming ? defaults_.streaming_sla : defaults_.batch_sla;
  if (minutes) spec.sla = std::chrono::minutes(*minutes);
  if (duration && duration->count() > 0) spec.sla = *duration;
}

void ConfigReader::ReadCluster(YamlMap& map, freshness::PipelineSpec& spec) {
  const auto name = map.TakeText("cluster");
  if (name) {
    spec.cluster = *name;
    if (config_.clusters.contains(*name)) return;
    std::set<std::string> known;
    for (const auto& [cluster, unused] : config_.clusters) known.insert(cluster);
    const auto nearest = NearestWord(*name, known);
    map.Complain("cluster", nearest ? fmt::format("there is no cluster '{}', did you mean '{}'?",
                                                  *name, *nearest)
                                    : fmt::format("there is no cluster '{}'", *name));
    return;
  }
  if (map.Has("cluster")) return;  // reported already
  if (config_.clusters.size() == 1) {
    spec.cluster = config_.clusters.begin()->first;
  } else {
    map.Complain("cluster", "the name of one of the clusters is wanted");
  }
}

void ConfigReader::ReadLabels(YamlMap& map, freshness::PipelineSpec& spec) {
  spec.labels = map.TakeTexts("labels");
  for (const auto& [name, value] : spec.labels) {
    if (!IsLabelName(name)) {
      map.Complain("labels", fmt::format("'{}' is no label name (letters, digits, _)", name));
    } else if (kReservedLabels.contains(name)) {
      map.Complain("labels", fmt::format("the label '{}' is set by tidemark itself", name));
    }
  }
}

void ConfigReader::ReadMaintenance(YamlMap& map, PipelineConfig& pipeline) {
  const YAML::Node windows = map.Take("maintenance");
  if (!windows.IsDefined()) return;
  if (!windows.IsSequence()) {
    map.Complain("maintenance", "a list of windows is wanted");
    return;
  }
  for (const auto& node : windows) {
    const auto text = context_.Resolve(map.file(), node, map.path() + ".maintenance");
    if (!text) continue;
    auto window = MaintenanceWindow::Parse(*text);
    if (window) {
      pipeline.maintenance.push_back(std::move(*window));
    } else {
      context_.Add(map.file(), node.Mark(),
                   fmt::format("{}.maintenance: {}", map.path(), window.error().message));
    }
  }
}

void ConfigReader::ReadPipeline(const std::string& file, const YAML::Node& node,
                                const std::string& path) {
  YamlMap map(context_, file, node, path);
  if (!node.IsMap()) return;
  PipelineConfig pipeline;
  freshness::PipelineSpec& spec = pipeline.spec;
  spec.name = map.TakeNeededText("name", "a name is wanted");
  spec.table = map.TakeNeededText("table", "the table's path or URI is wanted");
  if (!spec.table.empty()) {
    if (auto store = storage::OpenStore(spec.table, {}); !store) {
      map.Complain("table", store.error().message);
    }
  }
  spec.topic = map.TakeText("topic");
  const auto mode = map.TakeWord("mode", {"streaming", "batch"});
  spec.mode = mode == "batch" ? freshness::Mode::kBatch : freshness::Mode::kStreaming;
  const auto isolation = map.TakeWord("isolation", {"read_uncommitted", "read_committed"});
  spec.isolation = isolation == "read_committed" ? kafka::IsolationLevel::kReadCommitted
                                                 : kafka::IsolationLevel::kReadUncommitted;
  spec.is_disabled = map.TakeBool("disabled").value_or(false);
  spec.lag_cap = map.TakeDuration("lag_cap").value_or(defaults_.lag_cap);
  pipeline.interval = map.TakeDuration("interval").value_or(defaults_.interval);
  pipeline.commit_depth_max =
      map.TakeInteger("max_commit_depth", 0, kCommitDepthMax).value_or(defaults_.commit_depth_max);
  ReadSla(map, spec);
  ReadCluster(map, spec);
  ReadLabels(map, spec);
  ReadMaintenance(map, pipeline);
  map.Finish();
  const auto [place, is_new] = places_.emplace(spec.name, PipelinePlace{file, node.Mark()});
  if (!is_new && !spec.name.empty()) {
    map.Complain("name", fmt::format("'{}' is the name of the pipeline at {}:{} already", spec.name,
                                     place->second.file, place->second.mark.line + 1));
  }
  config_.pipelines.push_back(std::move(pipeline));
}

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
  return fmt::format("{}:{}:{}: {}", mistake.file, mistake.line, mistake.column, mistake.message);
}

ConfigSources SystemConfigSources() {
  return {
      .environment = [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        if (value == nullptr) return std::nullopt;
        return value;
      },
      .check_property = kafka::client::CheckProperty,
  };
}

LoadedConfig LoadConfig(const std::string& path, const ConfigSources& sources) {
  LoadedConfig loaded;
  ConfigReader reader(sources, loaded.mistakes);
  Config config;
  try {
    config = reader.Read(path);
  } catch (const YAML::Exception& e) {
    // Accessors of the library throw on shapes that the reader did not foresee.
    loaded.mistakes.push_back({path, e.mark.line + 1, e.mark.column + 1, e.msg});
  }
  if (loaded.mistakes.empty()) loaded.config = std::move(config);
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

storage::StoreOptions StoreOptionsFor(const Config& config, std::string_view table) {
  for (const StoreConfig& store : config.stores) {
    if (MatchesGlob(store.match, table)) return store.options;
  }
  return {};
}

}  // namespace tidemark::app
