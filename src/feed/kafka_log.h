/// The event log on a Kafka cluster (change-feed §4.2).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "feed/event_log.h"
#include "kafka/client/topic_admin.h"
#include "kafka/client/transactional_producer.h"
#include "kafka/partition_probe.h"

namespace tidemark::feed {

struct FeedTopics {
  std::string events = "hudi.meta.events";
  std::string state = "hudi.meta.state";
  std::string cursor = "hudi.meta.cursor";
  std::string control = "hudi.meta.control";
  std::string dlq = "hudi.meta.dlq";
  int32_t partition_count = 64;  ///< of each but the last; never to be changed (F13)

  const std::string& NameOf(LogTopic topic) const;
  friend bool operator==(const FeedTopics&, const FeedTopics&) = default;
};

/// What is wrong with the topics, one sentence each, the cure included; empty: they fit. A setting
/// that may not be seen is taken for right.
std::vector<std::string> JudgeTopics(const FeedTopics& topics,
                                     const std::vector<kafka::client::TopicState>& found);

/// The names and settings to ask for, and those to create what is missing with.
std::vector<std::string> TopicNames(const FeedTopics& topics);
std::vector<std::string> TopicSettingNames();
std::vector<kafka::client::NewTopic> MissingTopics(
    const FeedTopics& topics, const std::vector<kafka::client::TopicState>& found);

struct KafkaLogOptions {
  kafka::ClusterOptions cluster{};
  FeedTopics topics{};
  kafka::client::Compression compression = kafka::client::Compression::kZstd;
  /// Of one try, and of one record in it (R30).
  Milliseconds delivery_timeout = std::chrono::seconds(5);
};

/// Creates the topics that are missing and checks all. kInvalidArgument with everything that is
/// wrong with them, one a line; kDenied, kUnavailable.
Status PrepareTopics(const KafkaLogOptions& options, const Budget& budget);

/// The transactional id of a partition's publisher (change-feed §4.2): two feeds on one cluster
/// have other topics, and so other ids.
std::string TransactionalId(const FeedTopics& topics, PartitionId partition);

/// No broker is contacted before the first use; the topics must be there.
std::unique_ptr<EventLog> OpenKafkaLog(const KafkaLogOptions& options);

}  // namespace tidemark::feed
