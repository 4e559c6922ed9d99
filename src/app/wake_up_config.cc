#include "app/wake_up_config.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "app/config_sections_internal.h"
#include "storage/endpoint.h"
#include "storage/s3_endpoint.h"

namespace tidemark::app {

namespace {

constexpr const char* kUrlWanted = "https://sqs.eu-west-1.amazonaws.com/123456789012/lake";

/// The entries of the list, and what is said about them.
class QueueReader {
 public:
  QueueReader(ConfigContext& context, const std::string& file, WakeUpsConfig& config)
      : context_(context), file_(file), config_(config) {}

  void Read(const YAML::Node& entry, const std::string& path) {
    YamlMap map(context_, file_, entry, path);
    QueueConfig queue;
    const ConfigText url =
        map.TakeNeededText("queue_url", fmt::format("a URL such as {} is wanted", kUrlWanted));
    queue.sqs.url = Hidden(url);
    const auto parts = storage::ParseSqsQueueUrl(url.value);
    if (!url.value.empty() && !parts)
      map.Complain("queue_url",
                   url.Mistake(parts.error().message, fmt::format("a URL such as {}", kUrlWanted)));
    if (!url.value.empty() && !urls_.insert(url.value).second)
      map.Complain("queue_url", "this queue is given twice");
    ReadPlace(map, queue);
    // A name that came out of the environment is shown nowhere.
    const bool may_be_shown = parts && !url.is_hidden();
    ReadName(map, may_be_shown ? parts->name : fmt::format("queue{}", urls_.size()), queue);
    queue.match = TakeValue(map, "match");
    config_.queues.push_back(std::move(queue));
    map.Finish();
  }

 private:
  void ReadPlace(YamlMap& map, QueueConfig& queue) {
    if (const auto region = map.TakeText("region")) {
      queue.sqs.region = Hidden(*region);
      if (!storage::IsRegionName(queue.sqs.region))
        map.Complain("region", fmt::format("'{}' is no name of a region", region->Shown()));
    }
    if (const auto endpoint = map.TakeText("endpoint")) {
      queue.sqs.endpoint = Hidden(*endpoint);
      if (const auto good = storage::ParseEndpoint(queue.sqs.endpoint); !good)
        map.Complain("endpoint",
                     endpoint->Mistake(good.error().message, "a URL such as http://host:port"));
    }
  }

  void ReadName(YamlMap& map, std::string otherwise, QueueConfig& queue) {
    queue.name = map.TakeValue("name").value_or(std::move(otherwise));
    if (queue.name.empty()) map.Complain("name", "a name is wanted");
    if (!names_.insert(queue.name).second)
      map.Complain("name",
                   fmt::format("there is a queue '{}' already, give this one a name", queue.name));
  }

  std::string Hidden(const ConfigText& text) {
    HideLookedUp(text, config_.hidden);
    return text.value;
  }

  std::string TakeValue(YamlMap& map, const std::string& key) {
    const auto text = map.TakeText(key);
    return text ? Hidden(*text) : std::string();
  }

  ConfigContext& context_;
  const std::string& file_;
  WakeUpsConfig& config_;
  std::set<std::string> names_;
  std::set<std::string> urls_;
};

}  // namespace

WakeUpsConfig ReadWakeUps(ConfigContext& context, const std::string& file, const YAML::Node& node) {
  WakeUpsConfig config;
  YamlMap map(context, file, node, "wake_ups");
  const YAML::Node queues = map.Take("sqs");
  map.Finish();
  if (!queues.IsDefined()) return config;
  if (!queues.IsSequence()) {
    map.Complain("sqs", "a list of queues is wanted, each with a queue_url");
    return config;
  }
  if (queues.size() > kQueuesMax) {
    map.Complain("sqs", fmt::format("more than {}", kQueuesMax));
    return config;
  }
  QueueReader reader(context, file, config);
  size_t index = 0;
  for (const auto& entry : queues) reader.Read(entry, fmt::format("wake_ups.sqs[{}]", index++));
  return config;
}

}  // namespace tidemark::app
