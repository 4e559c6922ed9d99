#include "app/feed_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "app/config_sections_internal.h"
#include "storage/store_uri.h"

namespace tidemark::app {

namespace {

constexpr int64_t kRateMax = 1'000'000;
constexpr size_t kTopicNameMax = 249;
/// What intermediaries of CloudEvents must let through is 64 KiB.
constexpr size_t kCloudEventSize = size_t{60} << 10;

/// As brokers check names.
bool IsTopicName(const std::string& name) {
  if (name.empty() || name == "." || name == ".." || name.size() > kTopicNameMax) return false;
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

void ReadTopics(ConfigContext& context, const std::string& file, const YAML::Node& node,
                feed::FeedTopics& topics) {
  if (!node.IsDefined()) return;
  YamlMap map(context, file, node, "feed.topics");
  std::set<std::string> names;
  for (const auto& [key, name] :
       {std::pair("events", &topics.events), std::pair("state", &topics.state),
        std::pair("cursor", &topics.cursor), std::pair("control", &topics.control),
        std::pair("dlq", &topics.dlq)}) {
    if (auto text = map.TakeText(key)) {
      *name = text->value;
      if (!IsTopicName(*name))
        map.Complain(key, fmt::format("'{}' is no topic name", text->Shown()));
    }
    if (!names.insert(*name).second)
      map.Complain(key, fmt::format("'{}' is the name of another of the feed's topics", *name));
  }
  map.Finish();
}

/// "*" may stand in the parts behind a folder that is named.
Status CheckTable(const std::string& table) {
  const auto uri = storage::ParseStoreUri(table);
  if (!uri) return internal::Pass(uri);
  const size_t star = table.find('*');
  if (star == std::string::npos) return {};
  const std::string_view before = std::string_view(table).substr(0, star);
  const size_t scheme = before.find("://");
  const bool has_folder =
      before.find('/', scheme == std::string_view::npos ? 0 : scheme + 3) != std::string_view::npos;
  if (has_folder) return {};
  return Fail(ErrorKind::kInvalidArgument, "'*' may stand for folders only, as in s3://lake/*");
}

void ReadTables(ConfigContext& context, const std::string& file, YamlMap& map, FeedConfig& feed) {
  const YAML::Node tables = map.Take("tables");
  if (!tables.IsDefined() || !tables.IsSequence() || tables.size() == 0) {
    map.Complain("tables", "a list of tables such as [\"s3://lake/*\"] is wanted");
    return;
  }
  size_t index = 0;
  for (const auto& entry : tables) {
    const std::string name = fmt::format("feed.tables[{}]", index++);
    const auto text = context.Resolve(file, entry, name);
    if (!text) continue;
    if (const auto good = CheckTable(text->value); !good) {
      context.Add(file, entry.Mark(),
                  fmt::format("{}: {}", name, text->Mistake(good.error().message, "a table")));
      continue;
    }
    feed.tables.push_back(text->value);
  }
}

void ReadExtraKeys(ConfigContext& context, const std::string& file, YamlMap& map,
                   FeedConfig& feed) {
  const YAML::Node keys = map.Take("extra_keys");
  if (!keys.IsDefined()) return;
  if (!keys.IsSequence()) {
    map.Complain("extra_keys", "a list of keys of commit metadata is wanted");
    return;
  }
  for (const auto& entry : keys) {
    if (auto text = context.Resolve(file, entry, "feed.extra_keys"))
      feed.publish.extra_keys.push_back(std::move(text->value));
  }
}

/// A duration of at least `least`.
void ReadTime(YamlMap& map, const char* key, Milliseconds least, Milliseconds& into) {
  into = map.TakeDurationWithin(key, least).value_or(into);
}

}  // namespace

FeedConfig ReadFeed(ConfigContext& context, const std::string& file, const YAML::Node& node,
                    const std::set<std::string>& clusters) {
  FeedConfig feed;
  YamlMap map(context, file, node, "feed");
  const auto cluster = map.TakeNeededText("cluster", "the name of one of the clusters is wanted");
  feed.cluster = cluster.value;
  if (!feed.cluster.empty() && !clusters.contains(feed.cluster)) {
    map.Complain("cluster", fmt::format("there is no cluster '{}' (known: {})", cluster.Shown(),
                                        fmt::join(clusters, ", ")));
  }
  ReadTopics(context, file, map.Take("topics"), feed.topics);
  feed.topics.partition_count = static_cast<int32_t>(
      map.TakeInteger("partitions", 1, kFeedPartitionsMax).value_or(feed.topics.partition_count));
  ReadTables(context, file, map, feed);
  const auto profile = map.TakeWord("profile", {"standard", "cloudevents", "plain"});
  if (profile == "cloudevents") feed.publish.limits.body_size_max = kCloudEventSize;
  feed.publish.is_plain = profile == "plain";
  if (map.TakeWord("compression", {"zstd", "gzip"}) == "gzip")
    feed.compression = kafka::client::Compression::kGzip;
  feed.group = map.TakeValue("group").value_or(feed.group);
  ReadTime(map, "poll", Milliseconds(100), feed.poll);
  ReadTime(map, "poll_notified", Milliseconds(100), feed.poll_notified);
  ReadTime(map, "settle", Milliseconds(0), feed.settle);
  ReadTime(map, "bookmark_every", Milliseconds(100), feed.bookmark_every);
  ReadTime(map, "head_every", Milliseconds(1000), feed.head_every);
  ReadTime(map, "discover_every", Milliseconds(1000), feed.discover_every);
  ReadTime(map, "snapshot_every", Milliseconds(1000), feed.publish.snapshot_every);
  feed.rate = map.TakeInteger("rate", 0, kRateMax).value_or(feed.rate);
  feed.with_local_wake_ups = map.TakeBool("local_wake_ups").value_or(true);
  feed.publish.with_touches = map.TakeBool("touches").value_or(true);
  feed.publish.drop_rounds =
      static_cast<int>(map.TakeInteger("drop_rounds", 1, 1000).value_or(feed.publish.drop_rounds));
  feed.table_series_max =
      map.TakeInteger("table_series_max", 0, 1'000'000).value_or(feed.table_series_max);
  ReadExtraKeys(context, file, map, feed);
  map.Finish();
  return feed;
}

}  // namespace tidemark::app
