#include "app/pipelines.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/nearest_word.h"
#include "base/time_text.h"
#include "kafka/bootstrap.h"

namespace tidemark::app {

namespace {

constexpr const char* kSingleCluster = "";

std::string NameOf(std::string_view table) {
  while (table.size() > 1 && table.ends_with('/')) table.remove_suffix(1);
  const size_t slash = table.rfind('/');
  const std::string_view name = slash == table.npos ? table : table.substr(slash + 1);
  return std::string(name.empty() ? table : name);
}

Status ReadProperties(const SinglePipeline& single, const ConfigSources& sources,
                      kafka::ClusterOptions& options) {
  std::set<std::string> keys;
  size_t number = 0;
  for (const std::string& property : single.properties) {
    ++number;
    const size_t equals = property.find('=');
    if (equals == property.npos || equals == 0) {
      // The text may hold a secret: name the flag, not what was typed.
      return Fail(ErrorKind::kInvalidArgument,
                  fmt::format("--property wants key=value, number {} of {} is none", number,
                              single.properties.size()));
    }
    const std::string key = property.substr(0, equals);
    const std::string value = property.substr(equals + 1);
    if (!keys.insert(key).second)
      return Fail(ErrorKind::kInvalidArgument, fmt::format("--property {} is given twice", key));
    if (auto status = sources.check_property(key, value, kafka::client::ValueVisibility::kShown);
        !status) {
      return std::unexpected(std::move(status).error().With("--property " + key));
    }
    options.properties.emplace_back(key, value);
  }
  return {};
}

}  // namespace

Result<Config> ConfigOf(const SinglePipeline& single, const ConfigSources& sources) {
  Config config;
  PipelineConfig pipeline;
  pipeline.spec.name = NameOf(single.table);
  pipeline.spec.table = single.table;
  pipeline.spec.cluster = kSingleCluster;
  if (!single.topic.empty()) pipeline.spec.topic = single.topic;
  const bool is_batch = single.mode == "batch";
  pipeline.spec.mode = is_batch ? freshness::Mode::kBatch : freshness::Mode::kStreaming;
  pipeline.spec.sla = is_batch ? freshness::kBatchSlaDefault : freshness::kStreamingSlaDefault;
  if (!single.sla.empty()) {
    auto sla = ParseDuration(single.sla);
    if (!sla) return std::unexpected(std::move(sla).error().With("--sla"));
    if (sla->count() <= 0) {
      return Fail(ErrorKind::kInvalidArgument, "--sla: an SLA must be longer than zero");
    }
    pipeline.spec.sla = *sla;
  }
  pipeline.spec.isolation = single.isolation == "read_committed"
                                ? kafka::IsolationLevel::kReadCommitted
                                : kafka::IsolationLevel::kReadUncommitted;
  pipeline.commit_depth_max = single.commit_depth_max;
  TRY(storage::OpenStore(single.table, single.store));
  if (!single.bootstrap.empty()) {
    if (auto status = kafka::CheckBootstrapServers(single.bootstrap); !status) {
      return std::unexpected(std::move(status).error().With("--bootstrap"));
    }
  }
  ClusterConfig cluster{kSingleCluster, {single.bootstrap, {}}};
  TRY(ReadProperties(single, sources, cluster.options));
  const auto client = ParseKafkaClient(single.kafka_client);
  if (!client) {
    return Fail(ErrorKind::kInvalidArgument, "--kafka-client wants auto, wire or librdkafka");
  }
  cluster.client = *client;
  const auto access = ParseRecordAccess(single.record_access);
  if (!access) {
    return Fail(ErrorKind::kInvalidArgument, "--record-access wants auto, fetch or describe");
  }
  cluster.options.record_access = *access;
  config.clusters.emplace(cluster.name, std::move(cluster));
  config.stores.push_back({.name = "", .match = "*", .options = single.store});
  config.pipelines.push_back(std::move(pipeline));
  return config;
}

Result<std::vector<PipelineConfig>> SelectPipelines(const Config& config,
                                                    const std::vector<std::string>& names) {
  if (config.pipelines.empty()) {
    // Healthy would be said of nothing, which is how a template gone wrong looks.
    return Fail(ErrorKind::kInvalidArgument, "the configuration holds no pipeline");
  }
  if (names.empty()) return config.pipelines;
  std::set<std::string> known;
  for (const auto& pipeline : config.pipelines) known.insert(pipeline.spec.name);
  for (const std::string& name : names) {
    if (known.contains(name)) continue;
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("there is no pipeline '{}'{}", name, DidYouMean(name, known)));
  }
  const std::set<std::string> wanted(names.begin(), names.end());
  std::vector<PipelineConfig> selected;
  std::ranges::copy_if(config.pipelines, std::back_inserter(selected),
                       [&](const auto& pipeline) { return wanted.contains(pipeline.spec.name); });
  return selected;
}

freshness::PipelineSpec SpecAt(const PipelineConfig& pipeline, WallTime now) {
  freshness::PipelineSpec spec = pipeline.spec;
  spec.is_in_maintenance = std::ranges::any_of(
      pipeline.maintenance, [&](const MaintenanceWindow& window) { return window.Contains(now); });
  return spec;
}

std::vector<rules::WatchedPipeline> WatchedPipelines(const std::vector<PipelineConfig>& pipelines) {
  std::vector<rules::WatchedPipeline> watched;
  for (const PipelineConfig& pipeline : pipelines) {
    if (pipeline.spec.is_disabled) continue;
    watched.push_back({.name = pipeline.spec.name,
                       .sla = pipeline.spec.sla,
                       .interval = pipeline.interval,
                       .objective_ppm = pipeline.objective_ppm,
                       .retention_margin = pipeline.retention_margin});
  }
  return watched;
}

bool AreAllDisabled(const std::vector<PipelineConfig>& pipelines) {
  return std::ranges::all_of(pipelines,
                             [](const PipelineConfig& each) { return each.spec.is_disabled; });
}

}  // namespace tidemark::app
