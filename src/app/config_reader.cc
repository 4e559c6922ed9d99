#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "app/config_reader_internal.h"
#include "app/config_sections_internal.h"
#include "app/named_files_internal.h"
#include "app/text_file.h"
#include "app/yaml_map_internal.h"
#include "base/letter_case.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "kafka/bootstrap.h"
#include "storage/azure_credentials.h"

namespace tidemark::app {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kConfigBytesMax = 16 << 20;
constexpr size_t kIncludeDepthMax = 8;
constexpr size_t kPipelinesMax = 100'000;
constexpr int64_t kMinutesMax = 100LL * 366 * 24 * 60;
constexpr int64_t kCommitDepthMax = 1'000'000;
/// Between looks at a pipeline. Below the first looks do nothing but wait for each other; over the
/// second nobody waits for the next one.
constexpr Milliseconds kIntervalMin = std::chrono::milliseconds(100);
constexpr Milliseconds kIntervalMax = std::chrono::days(366);
/// A limit of lag that zero would make meaningless.
constexpr Milliseconds kLagLimitMin = std::chrono::milliseconds(1);
/// Alert when less time is left until a loss: a night's sleep at least.
constexpr Milliseconds kRetentionMarginMin = std::chrono::hours(6);

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

/// "host:9000" of "http://Host:9000/x", as messages of the stores name it.
std::string AuthorityOf(std::string_view url) {
  const size_t scheme_end = url.find("://");
  if (scheme_end != url.npos) url.remove_prefix(scheme_end + 3);
  return LowerCase(url.substr(0, url.find('/')));
}

/// Where a NUL stands, which the YAML library would take for the end of a token or as an escape.
/// UTF-16, which it reads too, is full of them; there it is one of two bytes, where a character is.
std::optional<YAML::Mark> FirstNul(std::string_view text) {
  const bool is_big = text.starts_with("\xFE\xFF"), is_little = text.starts_with("\xFF\xFE");
  const size_t width = is_big || is_little ? 2 : 1;
  YAML::Mark mark;
  for (size_t i = 0; i + width <= text.size(); i += width) {
    const std::string_view unit = text.substr(i, width);
    const bool is_ascii = width == 1 || unit[is_big ? 0 : 1] == '\0';
    const char low = unit[is_big ? 1 : 0];
    if (is_ascii && low == '\0') return mark;
    if (is_ascii && low == '\n') {
      ++mark.line;
      mark.column = 0;
    } else if (width == 2 || (static_cast<unsigned char>(low) & 0xC0U) != 0x80U) {
      ++mark.column;  // a character of UTF-8 counts once
    }
  }
  return std::nullopt;
}

/// Values that a pipeline inherits.
struct Defaults {
  Milliseconds streaming_sla = freshness::kStreamingSlaDefault;
  Milliseconds batch_sla = freshness::kBatchSlaDefault;
  int64_t commit_depth_max = 100;
  Milliseconds lag_cap = freshness::kLagCapDefault;
  Milliseconds interval = std::chrono::seconds(60);
  int64_t objective_ppm = 990'000;
  std::optional<Milliseconds> retention_margin{};
};

/// Where a pipeline or an include was given, for mistakes that show only when everything is read.
struct PipelinePlace {
  std::string file;
  YAML::Mark mark;
};

struct IncludedFile {
  std::string path;
  ConfigText pattern;  ///< what names it in the including file
};

class ConfigReader {
 public:
  ConfigReader(const ConfigSources& sources, std::vector<ConfigMistake>& mistakes,
               FileStamps& stamps)
      : context_(sources, mistakes, stamps), stamps_(stamps) {}

  Config Read(const std::string& path);

 private:
  /// nullopt after reporting why not, at `from` when it cannot be read at all. `name` is what the
  /// user called it.
  std::optional<YAML::Node> Load(const std::string& path, const ConfigText& name,
                                 const std::string& from_file, const YAML::Mark& from);
  void ReadRoot(const std::string& file, const YAML::Node& root);
  /// Calls `read` for each entry of a mapping of names to mappings.
  void ForEachNamed(const std::string& file, const YAML::Node& node, const std::string& section,
                    const std::function<void(const std::string& name, YamlMap& map)>& read);
  void ReadClusters(const std::string& file, const YAML::Node& node);
  void ReadBootstrap(YamlMap& map, ClusterConfig& cluster);
  void ReadProperties(YamlMap& map, ClusterConfig& cluster);
  void ReadStores(const std::string& file, const YAML::Node& node);
  void ReadDefaults(const std::string& file, const YAML::Node& node);
  void ReadPipelines(const std::string& file, const YAML::Node& node);
  void ReadInclude(const std::string& file, const YAML::Node& entry);
  void ReadIncluded(const IncludedFile& included, const std::string& file, const YAML::Mark& mark);
  void ReadPipeline(const std::string& file, const YAML::Node& node, const std::string& path);
  void ReadSla(YamlMap& map, freshness::PipelineSpec& spec);
  void ReadAlerting(YamlMap& map, PipelineConfig& pipeline);
  std::set<std::string> ClusterNames() const;
  void ReadLabels(YamlMap& map, freshness::PipelineSpec& spec);
  void ReadMaintenance(YamlMap& map, PipelineConfig& pipeline);

  ConfigContext context_;
  FileStamps& stamps_;
  Config config_;
  Defaults defaults_;
  std::map<std::string, PipelinePlace> places_;
  std::map<std::string, PipelinePlace> files_;  // that were read, by what they are on the disk
  std::vector<std::string> open_files_;  // the file being read last, before it those including it
};

std::optional<YAML::Node> ConfigReader::Load(const std::string& path, const ConfigText& name,
                                             const std::string& from_file, const YAML::Mark& from) {
  stamps_.Add(path);
  const auto text = ReadTextFile(path, kConfigBytesMax);
  if (!text) {
    context_.Add(from_file, from, name.Mistake(text.error().message, "a file that can be read"));
    return std::nullopt;
  }
  if (const auto nul = FirstNul(*text)) {
    context_.Add(path, *nul, "a NUL byte: the file is damaged, or no text");
    return std::nullopt;
  }
  try {
    const auto documents = YAML::LoadAll(*text);
    if (documents.size() > 1) {
      context_.Add(path, documents[1].Mark(), "a second YAML document, which would not be read");
      return std::nullopt;
    }
    return documents.empty() ? YAML::Node() : documents[0];
  } catch (const YAML::DeepRecursion& e) {
    context_.Add(path, e.mark, "nested too deeply");
    return std::nullopt;
  } catch (const YAML::Exception& e) {
    context_.Add(path, e.mark, fmt::format("not valid YAML: {}", e.msg));
    return std::nullopt;
  }
}

Config ConfigReader::Read(const std::string& path) {
  const auto root = Load(path, {path}, path, YAML::Mark());
  std::error_code error;
  files_.emplace(fs::canonical(path, error).string(), PipelinePlace{path, YAML::Mark()});
  open_files_.push_back(path);
  if (root) ReadRoot(path, *root);
  return std::move(config_);
}

void ConfigReader::ReadRoot(const std::string& file, const YAML::Node& root) {
  YamlMap map(context_, file, root, "configuration");
  // In this order, whatever the order in the file: pipelines refer to all that stands before.
  ReadClusters(file, map.Take("clusters"));
  ReadStores(file, map.Take("stores"));
  ReadDefaults(file, map.Take("defaults"));
  ReadPipelines(file, map.Take("pipelines"));
  // Sections of other commands, read there.
  if (const YAML::Node http = map.Take("http"); http.IsDefined())
    config_.http = ReadHttp(context_, file, http);
  if (const YAML::Node state = map.Take("state"); state.IsDefined())
    config_.state = ReadState(context_, file, state, config_.state_hidden);
  if (const YAML::Node exporters = map.Take("exporters"); exporters.IsDefined())
    config_.exporters = ReadExporters(context_, file, exporters);
  if (const YAML::Node shared = map.Take("coordination"); shared.IsDefined())
    config_.coordination = ReadCoordination(context_, file, shared, ClusterNames());
  if (const YAML::Node wake_ups = map.Take("wake_ups"); wake_ups.IsDefined())
    config_.wake_ups = ReadWakeUps(context_, file, wake_ups);
  if (const YAML::Node feed = map.Take("feed"); feed.IsDefined())
    config_.feed = ReadFeed(context_, file, feed, ClusterNames());
  if (const YAML::Node mirror = map.Take("mirror"); mirror.IsDefined()) {
    config_.mirror =
        ReadMirror(context_, file, mirror, ClusterNames(), config_.feed ? &*config_.feed : nullptr);
    if (!config_.mirror->state) {
      config_.mirror->state = config_.state;
      config_.mirror->state_hidden = config_.state_hidden;
    }
  }
  map.Finish();
}

void ConfigReader::ForEachNamed(
    const std::string& file, const YAML::Node& node, const std::string& section,
    const std::function<void(const std::string& name, YamlMap& map)>& read) {
  if (!node.IsDefined()) return;
  if (!node.IsMap()) {
    context_.Add(file, node.Mark(),
                 fmt::format("{0}: a mapping of names to {0} is wanted here", section));
    return;
  }
  std::set<std::string> names;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) {
      context_.Add(file, entry.first.Mark(), section + ": a name must be a word");
      continue;
    }
    const std::string& name = entry.first.Scalar();
    if (!names.insert(name).second) {
      context_.Add(file, entry.first.Mark(), fmt::format("{}: '{}' is given twice", section, name));
    }
    YamlMap map(context_, file, entry.second, section + "." + name);
    read(name, map);
    map.Finish();
  }
}

void ConfigReader::ReadClusters(const std::string& file, const YAML::Node& node) {
  ForEachNamed(file, node, "clusters", [&](const std::string& name, YamlMap& map) {
    ClusterConfig cluster{name, {}};
    ReadBootstrap(map, cluster);
    ReadProperties(map, cluster);
    const auto client = map.TakeWord("client", {"auto", "wire", "librdkafka"});
    if (client) cluster.client = *ParseKafkaClient(*client);
    const auto access = map.TakeWord("record_access", {"auto", "fetch", "describe"});
    if (access) cluster.options.record_access = *ParseRecordAccess(*access);
    config_.clusters.emplace(name, std::move(cluster));
  });
}

void ConfigReader::ReadBootstrap(YamlMap& map, ClusterConfig& cluster) {
  constexpr const char* kWanted = "host:port[,host:port]";
  const auto servers =
      map.TakeNeededText("bootstrap_servers", fmt::format("{} is wanted", kWanted));
  cluster.options.bootstrap_servers = servers.value;
  if (servers.value.empty()) return;
  if (auto status = kafka::CheckBootstrapServers(servers.value); !status) {
    map.Complain("bootstrap_servers", servers.Mistake(status.error().message, kWanted));
  }
  // The client's messages name one broker at a time.
  for (const auto& [list, reference] : servers.looked_up) {
    for (size_t begin = 0; begin < list.size();) {
      const size_t end = std::min(list.find_first_of(", \t", begin), list.size());
      cluster.hidden.Add(std::string_view(list).substr(begin, end - begin), reference);
      begin = end + 1;
    }
  }
}

void ConfigReader::ReadProperties(YamlMap& map, ClusterConfig& cluster) {
  const YAML::Node properties = map.Take("properties");
  for (auto& [key, text] : map.TakeTexts("properties")) {
    using enum kafka::client::ValueVisibility;
    const auto status =
        context_.sources().check_property(key, text.value, text.is_hidden() ? kHidden : kShown);
    if (!status) {
      context_.Add(map.file(), properties[key].Mark(),
                   fmt::format("{}.properties.{}: {}{}", map.path(), key, status.error().message,
                               text.is_hidden() ? " " + text.Shown() : ""));
    }
    if (const auto mistake = MistakeInPropertyFile(context_, key, text); status && mistake)
      context_.Add(map.file(), properties[key].Mark(),
                   fmt::format("{}.properties.{}: {}", map.path(), key, *mistake));
    for (const auto& [value, reference] : text.looked_up) cluster.hidden.Add(value, reference);
    cluster.options.properties.emplace_back(key, std::move(text.value));
  }
}

void ConfigReader::ReadStores(const std::string& file, const YAML::Node& node) {
  ForEachNamed(file, node, "stores", [&](const std::string& name, YamlMap& map) {
    StoreConfig store;
    store.name = name;
    store.match = map.TakeNeededText("match", "a URI pattern such as s3://lake/* is wanted").value;
    storage::StoreOptions& options = store.options;
    NamedFile credentials{"credentials_file"};
    for (const auto& [key, value] :
         {std::pair("endpoint", &options.endpoint), std::pair("region", &options.region),
          std::pair("credentials_file", &options.credentials_file),
          std::pair("account_key", &options.account_key),
          std::pair("sas_token", &options.sas_token)}) {
      const auto text = map.TakeText(key).value_or(ConfigText{});
      *value = text.value;
      if (value == &options.credentials_file) credentials.text = text;
      for (const auto& [part, reference] : text.looked_up) {
        store.hidden.Add(part, reference);
        store.hidden.Add(AuthorityOf(part), reference);
      }
    }
    options.credentials_file = credentials.path = PathIn(file, options.credentials_file);
    CheckStoreFile(context_, map, credentials);
    // Its message repeats neither.
    const bool has_secret = !options.account_key.empty() || !options.sas_token.empty();
    if (const auto made = storage::CredentialsOf({options.account_key, options.sas_token});
        has_secret && !made) {
      const char* key = options.account_key.empty() ? "sas_token" : "account_key";
      map.Complain(key, made.error().message);
    }
    options.is_anonymous = map.TakeBool("anonymous").value_or(false);
    options.is_path_style = map.TakeBool("path_style");
    config_.stores.push_back(std::move(store));
  });
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
  defaults_.lag_cap = map.TakeDurationWithin("lag_cap", kLagLimitMin).value_or(defaults_.lag_cap);
  defaults_.interval =
      map.TakeDurationWithin("interval", kIntervalMin, kIntervalMax).value_or(defaults_.interval);
  defaults_.objective_ppm = map.TakePercent("objective").value_or(defaults_.objective_ppm);
  defaults_.retention_margin = map.TakeDuration("retention_margin");
  map.Finish();
}

void ConfigReader::ReadPipelines(const std::string& file, const YAML::Node& node) {
  if (!node.IsDefined() || node.IsNull()) return;
  if (!node.IsSequence()) {
    context_.Add(file, node.Mark(), "pipelines: a list of pipelines is wanted here");
    return;
  }
  size_t index = 0;
  for (const auto& entry : node) {
    const std::string path = fmt::format("pipelines[{}]", index++);
    if (entry.IsMap() && entry["include"].IsDefined()) {
      ReadInclude(file, entry);
    } else {
      ReadPipeline(file, entry, path);
    }
    if (config_.pipelines.size() > kPipelinesMax) {
      context_.Add(file, entry.Mark(), fmt::format("more than {} pipelines", kPipelinesMax));
      return;
    }
  }
}

void ConfigReader::ReadInclude(const std::string& file, const YAML::Node& entry) {
  YamlMap map(context_, file, entry, "include");
  const auto pattern = map.TakeText("include");
  map.Finish();
  if (!pattern) return;
  const YAML::Mark mark = entry["include"].Mark();
  if (open_files_.size() > kIncludeDepthMax) {
    context_.Add(file, mark, fmt::format("include: more than {} files deep", kIncludeDepthMax));
    return;
  }
  const fs::path full = fs::path(file).parent_path() / pattern->value;
  const std::string name_pattern = full.filename().string();
  // A pattern may match nothing yet; a file that is named must be there.
  if (!name_pattern.contains('*')) return ReadIncluded({full.string(), *pattern}, file, mark);
  const fs::path folder = full.parent_path().empty() ? fs::path(".") : full.parent_path();
  const FileStamps::Listing found = stamps_.AddMatches(folder.string(), name_pattern);
  if (found.error) {
    context_.Add(file, mark,
                 fmt::format("include: '{}' cannot be read: {}",
                             pattern->is_hidden() ? pattern->Shown() : folder.string(),
                             found.error.message()));
    return;
  }
  for (const std::string& name : found.names)
    ReadIncluded({(full.parent_path() / name).string(), *pattern}, file, mark);
}

void ConfigReader::ReadIncluded(const IncludedFile& included, const std::string& file,
                                const YAML::Mark& mark) {
  const std::string& path = included.path;
  std::error_code error;
  const std::string identity = fs::canonical(path, error).string();
  const auto [place, is_new] = files_.emplace(error ? path : identity, PipelinePlace{file, mark});
  if (!is_new) {
    const auto is_it = [&](const std::string& open) { return fs::equivalent(open, path, error); };
    const auto open = std::ranges::find_if(open_files_, is_it);
    context_.Add(file, mark,
                 open == open_files_.end()
                     ? fmt::format("include: '{}' is included at {}:{} already", path,
                                   place->second.file, place->second.mark.line + 1)
                     : fmt::format("include: a cycle: {} -> {}",
                                   fmt::join(open, open_files_.end(), " -> "), path));
    return;
  }
  const auto root = Load(path, included.pattern, file, mark);
  if (!root) return;
  open_files_.push_back(path);
  // Either a bare list of pipelines, or the section with its key.
  if (root->IsMap()) {
    YamlMap section(context_, path, *root, "included file");
    ReadPipelines(path, section.Take("pipelines"));
    section.Finish();
  } else {
    ReadPipelines(path, *root);
  }
  open_files_.pop_back();
}

void ConfigReader::ReadSla(YamlMap& map, freshness::PipelineSpec& spec) {
  const auto minutes = map.TakeInteger("slaInMinutes", 1, kMinutesMax);
  const auto duration = map.TakeDurationWithin("sla", kLagLimitMin);
  if (map.Has("slaInMinutes") && map.Has("sla")) {
    map.Complain("sla", "slaInMinutes is given too, keep one of them");
  }
  spec.sla =
      spec.mode == freshness::Mode::kStreaming ? defaults_.streaming_sla : defaults_.batch_sla;
  if (minutes) spec.sla = std::chrono::minutes(*minutes);
  if (duration) spec.sla = *duration;
}

void ConfigReader::ReadAlerting(YamlMap& map, PipelineConfig& pipeline) {
  pipeline.objective_ppm = map.TakePercent("objective").value_or(defaults_.objective_ppm);
  const auto margin = map.TakeDuration("retention_margin");
  pipeline.retention_margin =
      margin
          ? *margin
          : defaults_.retention_margin.value_or(std::max(kRetentionMarginMin, pipeline.spec.sla));
}

std::set<std::string> ConfigReader::ClusterNames() const {
  std::set<std::string> names;
  for (const auto& [name, cluster] : config_.clusters) names.insert(name);
  return names;
}

void ConfigReader::ReadLabels(YamlMap& map, freshness::PipelineSpec& spec) {
  for (auto& [name, text] : map.TakeTexts("labels")) {
    spec.labels.emplace(name, std::move(text.value));
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
    auto window = MaintenanceWindow::Parse(text->value);
    if (window) {
      pipeline.maintenance.push_back(std::move(*window));
    } else {
      context_.Add(
          map.file(), node.Mark(),
          fmt::format("{}.maintenance: {}", map.path(),
                      text->Mistake(window.error().message,
                                    "a window such as \"Sat 02:00-04:00 Europe/Berlin\"")));
    }
  }
}

void ConfigReader::ReadPipeline(const std::string& file, const YAML::Node& node,
                                const std::string& path) {
  YamlMap map(context_, file, node, path);
  if (!node.IsMap()) return;
  PipelineConfig pipeline;
  freshness::PipelineSpec& spec = pipeline.spec;
  const ConfigText name = map.TakeNeededText("name", "a name is wanted");
  spec.name = name.value;
  // Metrics that differ in such bytes only would become one series.
  if (ToValidUtf8(spec.name) != spec.name) map.Complain("name", "the name is no valid UTF-8");
  const ConfigText table = map.TakeNeededText("table", "the table's path or URI is wanted");
  spec.table = table.value;
  if (!spec.table.empty()) {
    if (auto store = storage::OpenStore(spec.table, {}); !store) {
      map.Complain("table", table.Mistake(store.error().message, "a table's path or URI"));
    }
  }
  spec.topic = map.TakeValue("topic");
  const auto mode = map.TakeWord("mode", {"streaming", "batch"});
  spec.mode = mode == "batch" ? freshness::Mode::kBatch : freshness::Mode::kStreaming;
  const auto isolation = map.TakeWord("isolation", {"read_uncommitted", "read_committed"});
  spec.isolation = isolation == "read_committed" ? kafka::IsolationLevel::kReadCommitted
                                                 : kafka::IsolationLevel::kReadUncommitted;
  spec.is_disabled = map.TakeBool("disabled").value_or(false);
  spec.lag_cap = map.TakeDurationWithin("lag_cap", kLagLimitMin).value_or(defaults_.lag_cap);
  pipeline.interval =
      map.TakeDurationWithin("interval", kIntervalMin, kIntervalMax).value_or(defaults_.interval);
  pipeline.commit_depth_max =
      map.TakeInteger("max_commit_depth", 0, kCommitDepthMax).value_or(defaults_.commit_depth_max);
  ReadSla(map, spec);
  ReadAlerting(map, pipeline);
  spec.cluster = TakeCluster(map, ClusterNames());
  ReadLabels(map, spec);
  ReadMaintenance(map, pipeline);
  map.Finish();
  const auto [place, is_new] = places_.emplace(spec.name, PipelinePlace{file, node.Mark()});
  if (!is_new && !spec.name.empty()) {
    map.Complain("name",
                 fmt::format("'{}' is the name of the pipeline at {}:{} already", name.Shown(),
                             place->second.file, place->second.mark.line + 1));
  }
  config_.pipelines.push_back(std::move(pipeline));
}

}  // namespace

Config ReadConfigFile(const std::string& path, const ConfigSources& sources,
                      std::vector<ConfigMistake>& mistakes, FileStamps& files) {
  try {
    return ConfigReader(sources, mistakes, files).Read(path);
  } catch (const YAML::Exception& e) {
    // Accessors of the library throw on shapes that the reader did not foresee.
    mistakes.push_back({path, e.mark.line + 1, e.mark.column + 1, e.msg});
    return {};
  }
}

}  // namespace tidemark::app
