/// Looking at topics and making them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

struct TopicState {
  std::string topic{};
  int32_t partition_count = 0;  ///< 0: the cluster does not know it, or hides it
  /// Settings that were asked for, as the cluster has them; nullopt: not permitted to see.
  std::optional<std::map<std::string, std::string>> settings{};
};

struct NewTopic {
  std::string topic{};
  int32_t partition_count = 1;
  std::map<std::string, std::string> settings{};
};

/// One caller at a time.
class TopicAdmin {
 public:
  /// kInvalidArgument as for the probe; nobody is asked before the first call.
  static Result<std::unique_ptr<TopicAdmin>> Open(const ClusterOptions& cluster);
  virtual ~TopicAdmin() = default;

  /// In the order asked. kDenied, kUnavailable, kCancelled.
  virtual Result<std::vector<TopicState>> Describe(std::span<const std::string> topics,
                                                   std::span<const std::string> settings,
                                                   const Budget& budget) = 0;

  /// With the brokers' default replication. A topic that exists is left as it is. Returns when
  /// the topics can be written to. kDenied names the topic; kInvalidArgument with the cluster's
  /// words for settings it refuses; kUnavailable.
  virtual Status Create(std::span<const NewTopic> topics, const Budget& budget) = 0;
};

}  // namespace tidemark::kafka::client
