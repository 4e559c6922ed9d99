/// The change feed's publisher (change-feed §4.4): tables looked at again and again, and what is
/// new sent to their partitions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"
#include "app/freshness_run.h"
#include "app/partition_share.h"
#include "feed/event_log.h"
#include "metrics/feed_points.h"

namespace tidemark::app {

struct PublisherOptions {
  Milliseconds table_deadline = std::chrono::seconds(60);  ///< for one look at one table
  /// Tables of one store (bucket, or a mount) looked at at the same time. Those that failed
  /// the last time have as many threads of their own.
  unsigned tables_at_once = 8;
  /// One round over all tables instead of going on.
  bool is_once = false;
  /// Whether somebody tells us at the moment when something comes about in a table, by its base
  /// path: then it is looked at as one whose folder is watched. May be null. Any thread.
  std::function<bool(std::string_view base_path)> is_told{};
};

/// How a round over all tables went.
struct RoundResult {
  size_t tables = 0;
  size_t told = 0;
  /// Why the others were not, by table: "s3://lake/orders: …".
  std::vector<std::string> failures{};
  std::vector<std::string> findings{};
};

/// Owns its threads: one that decides, few per store that look at tables, one for each partition
/// that is held, and one that follows the group and the control topic. What does not answer delays
/// only itself.
class Publisher {
 public:
  /// Begins at once. `config.feed` is set; `edges.clock` outlives the publisher.
  Publisher(Config config, std::shared_ptr<feed::EventLog> log,
            std::unique_ptr<PartitionShare> share, FreshnessEdges edges,
            const PublisherOptions& options);
  /// Lets what is being sent be sent; waits for no more than that.
  ~Publisher();

  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  /// Look now at the table there, or that the object lies in (as URIs); how many. Any thread.
  size_t WakeUpAt(std::string_view uri);

  /// Any thread.
  metrics::FeedReport Report() const;

  /// Of a publisher that is_once: when every table was told or failed, or at the budget's end.
  RoundResult AwaitRound(const Budget& budget);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace tidemark::app
