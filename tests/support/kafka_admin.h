/// What a test does to a Kafka cluster beside producing: the probe itself has no such means.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "kafka/partition_probe.h"

namespace tidemark::support {

/// Every call returns when its effect can be seen. One caller at a time.
class KafkaAdmin {
 public:
  using Configs = std::vector<std::pair<std::string, std::string>>;

  static Result<std::unique_ptr<KafkaAdmin>> Open(const kafka::ClusterOptions& options);
  virtual ~KafkaAdmin() = default;

  virtual Status CreateTopic(const std::string& topic, int32_t partition_count,
                             const Configs& configs) = 0;
  virtual Status DeleteTopic(const std::string& topic) = 0;
  virtual Status DeleteRecordsBefore(const kafka::TopicPartition& partition,
                                     kafka::Offset offset) = 0;
  /// Returns when a reader of this isolation level is shown a log that ends at `offset`.
  virtual Status AwaitEnd(const kafka::TopicPartition& partition, kafka::IsolationLevel isolation,
                          kafka::Offset offset) = 0;
  virtual Result<kafka::Offset> End(const kafka::TopicPartition& partition,
                                    kafka::IsolationLevel isolation) = 0;
  /// Internal ones too.
  virtual Result<std::set<std::string>> ListTopics() = 0;
  virtual Result<std::set<std::string>> ListGroups() = 0;

  enum class Right { kDescribe, kRead };
  virtual Status Allow(const std::string& user, const std::string& topic, Right right) = 0;
};

}  // namespace tidemark::support
