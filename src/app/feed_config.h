/// The section `feed:` of the configuration: which tables' changes are told, and where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "feed/kafka_log.h"
#include "feed/table_publisher.h"

namespace tidemark::app {

inline constexpr int32_t kFeedPartitionsMax = 10'000;

struct FeedConfig {
  std::string cluster;  ///< of `clusters`
  feed::FeedTopics topics;
  /// URIs of tables; '*' in the last parts stands for any folder: "s3://lake/*".
  std::vector<std::string> tables;
  kafka::client::Compression compression = kafka::client::Compression::kZstd;
  std::string group = "tidemark-publisher";  ///< publishers that share the tables
  /// A quiet table is looked at so often when something wakes us up for it, and when nothing does.
  Milliseconds poll_notified = std::chrono::seconds(30);
  Milliseconds poll = std::chrono::seconds(1);
  /// Whether folders of this machine are watched (inotify); useless where another writes to them.
  bool with_local_wake_ups = true;
  /// Instants that became visible together within this time are told in the order in which they
  /// completed. Zero: as they are seen.
  Milliseconds settle{0};
  int64_t rate = 0;  ///< groups a second of one table; 0: no cap
  Milliseconds bookmark_every = std::chrono::seconds(10);
  Milliseconds head_every = std::chrono::seconds(60);
  Milliseconds discover_every = std::chrono::seconds(60);
  /// Above this many tables there are no series of single ones.
  int64_t table_series_max = 1000;
  feed::PublishOptions publish;

  friend bool operator==(const FeedConfig&, const FeedConfig&) = default;
};

}  // namespace tidemark::app
