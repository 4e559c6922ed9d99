/// The configuration file (contracts §2) as values, every mistake reported at once with its place.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config_sections.h"
#include "app/exporter_config.h"
#include "app/feed_config.h"
#include "app/file_stamps.h"
#include "app/hidden_values.h"
#include "app/maintenance.h"
#include "app/mirror_config.h"
#include "app/probe_choice.h"
#include "app/wake_up_config.h"
#include "base/error.h"
#include "freshness/judge.h"
#include "kafka/client/properties.h"
#include "kafka/partition_probe.h"
#include "state/state_store.h"
#include "storage/object_store.h"

namespace tidemark::app {

/// `clusters:` One Kafka cluster. `options` may hold secrets: never printed.
struct ClusterConfig {
  std::string name;
  kafka::ClusterOptions options;
  HiddenValues hidden{};  ///< those of `options` that came from `${env:}` and `${file:}`
  KafkaClient client = KafkaClient::kAuto;
};

/// `stores:` How to reach the tables whose URI matches `match` ('*' stands for any run of
/// characters).
struct StoreConfig {
  std::string name;
  std::string match;
  storage::StoreOptions options;
  HiddenValues hidden{};  ///< as in ClusterConfig
};

/// `pipelines:` One pipeline with every default filled in.
struct PipelineConfig {
  freshness::PipelineSpec spec;
  int64_t commit_depth_max = 100;
  Milliseconds interval = std::chrono::seconds(60);
  std::vector<MaintenanceWindow> maintenance;
  /// For `tidemark rules`: see rules/watched.h.
  int64_t objective_ppm = 990'000;
  Milliseconds retention_margin{0};
};

struct Config {
  std::map<std::string, ClusterConfig> clusters;
  std::vector<StoreConfig> stores;  ///< in file order; the first match counts
  std::vector<PipelineConfig>
      pipelines;  ///< in file order, included files in place; names are unique
  std::optional<HttpConfig> http;
  std::optional<FeedConfig> feed{};
  std::optional<MirrorConfig> mirror{};
  std::optional<state::StateOptions> state;  ///< its URL may hold a secret: never printed
  HiddenValues state_hidden{};               ///< as in ClusterConfig
  std::optional<CoordinationConfig> coordination;
  ExportersConfig exporters{};
  WakeUpsConfig wake_ups{};
  FileStamps files{};  ///< that were read, as they were before
};

/// One mistake. `line` and `column` count from 1.
struct ConfigMistake {
  std::string file;
  int line = 0;
  int column = 0;
  std::string message;
};

/// "file:line:column: message", as compilers print it.
std::string FormatMistake(const ConfigMistake& mistake);

/// Which files that the configuration names (tokens, certificates, keys) must be there and good;
/// the others are met by whoever uses them.
enum class NamedFiles {
  kOfNone,               ///< for what is done with the configuration alone
  kOfClustersAndStores,  ///< for those who read tables and ask brokers
  kOfAll,                ///< for the daemon
};

/// What loading may ask of the world; tests put their own in.
struct ConfigSources {
  /// Value of an environment variable, for `${env:NAME}`.
  std::function<std::optional<std::string>(const std::string& name)> environment;
  /// kInvalidArgument when a Kafka client property is unknown or its value impossible. Repeats no
  /// value that is hidden.
  std::function<Status(const std::string& name, const std::string& value,
                       kafka::client::ValueVisibility visibility)>
      check_property;
  NamedFiles named_files = NamedFiles::kOfNone;
};

/// The process' environment and librdkafka's properties.
ConfigSources SystemConfigSources(NamedFiles named_files = NamedFiles::kOfNone);

/// Either a whole configuration, or every mistake of the file and its includes.
struct LoadedConfig {
  std::optional<Config> config;         ///< set exactly when `mistakes` is empty
  std::vector<ConfigMistake> mistakes;  ///< by file in order of reading, then by line
  /// What was read or sought, as it was before; with mistakes too.
  FileStamps files{};
};

/// Reads the file and what it includes (relative to the including file; '*' in the last part of the
/// path; sorted by name). What was read by `${env:}` and `${file:}` is in the values only, never in
/// a mistake: there it is "(from ${env:NAME})".
LoadedConfig LoadConfig(const std::string& path, const ConfigSources& sources);

/// The same as a Result: kInvalidArgument with every mistake, one a line.
Result<Config> ReadConfig(const std::string& path, const ConfigSources& sources);

/// How to reach a table: the first entry of `stores` that matches, or the defaults.
const StoreConfig& StoreFor(const Config& config, std::string_view table);

/// What --listen says, where it was given, instead of what the file says; kInvalidArgument names
/// the flag.
Status ListenAt(const std::string& listen, Config& config);

/// Keeps the hidden values of the whole configuration out of the log too, from now on. The first
/// call comes before other threads log; later ones from any thread.
void HideInLog(const Config& config);

}  // namespace tidemark::app
