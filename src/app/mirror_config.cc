#include "app/mirror_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "app/config_sections_internal.h"
#include "app/feed_config.h"

namespace tidemark::app {

namespace {

constexpr int64_t kTableSeriesMax = 1'000'000;

void ReadTopics(ConfigContext& context, const std::string& file, const YAML::Node& node,
                feed::FeedTopics& topics) {
  if (!node.IsDefined()) return;
  YamlMap map(context, file, node, "mirror.topics");
  for (const auto& [key, name] :
       {std::pair("events", &topics.events), std::pair("state", &topics.state),
        std::pair("cursor", &topics.cursor), std::pair("control", &topics.control),
        std::pair("dlq", &topics.dlq)}) {
    if (const auto text = map.TakeText(key)) {
      *name = text->value;
      if (name->empty()) map.Complain(key, "the name of a topic is wanted");
    }
  }
  map.Finish();
}

void ReadTables(ConfigContext& context, const std::string& file, YamlMap& map,
                MirrorConfig& mirror) {
  const YAML::Node tables = map.Take("tables");
  if (!tables.IsDefined()) return;
  if (!tables.IsSequence() || tables.size() == 0) {
    map.Complain("tables", "a list of tables such as [\"lake.*\"] is wanted");
    return;
  }
  for (const auto& entry : tables) {
    if (auto text = context.Resolve(file, entry, "mirror.tables"))
      mirror.tables.push_back(std::move(text->value));
  }
}

/// Given, or the feed's, or the only one there is.
void ReadCluster(YamlMap& map, const std::set<std::string>& clusters, MirrorConfig& mirror) {
  const auto cluster = map.TakeText("cluster");
  if (cluster) mirror.cluster = cluster->value;
  if (!cluster && mirror.cluster.empty() && clusters.size() == 1)
    mirror.cluster = *clusters.begin();
  if (mirror.cluster.empty()) {
    map.Complain("cluster", "the name of one of the clusters is wanted");
  } else if (cluster) {
    CheckCluster(map, *cluster, clusters);
  }
}

}  // namespace

MirrorConfig ReadMirror(ConfigContext& context, const std::string& file, const YAML::Node& node,
                        const std::set<std::string>& clusters, const FeedConfig* feed) {
  MirrorConfig mirror;
  if (feed != nullptr) {
    mirror.cluster = feed->cluster;
    mirror.topics = feed->topics;
  }
  YamlMap map(context, file, node, "mirror");
  ReadCluster(map, clusters, mirror);
  ReadTopics(context, file, map.Take("topics"), mirror.topics);
  if (const auto count = map.TakeInteger("partitions", 1, kFeedPartitionsMax))
    mirror.topics.partition_count = static_cast<int32_t>(*count);
  ReadTables(context, file, map, mirror);
  if (const YAML::Node state = map.Take("state"); state.IsDefined())
    mirror.state = ReadState(context, file, state, mirror.state_hidden);
  if (const YAML::Node sinks = map.Take("sinks"); sinks.IsDefined())
    mirror.sinks = ReadSinks(context, file, sinks, "mirror.sinks");
  if (const auto most = map.TakeInteger("table_series_max", 0, kTableSeriesMax))
    mirror.table_series_max = *most;
  map.Finish();
  return mirror;
}

}  // namespace tidemark::app
