/// Asking what topics a cluster has.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "kafka/client/clients_internal.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

inline constexpr int32_t kNoBroker = -1;

struct DescribedTopic {
  TopicFacts facts;              ///< retention and clean-up policy left out
  std::vector<int32_t> leaders;  ///< broker id by partition; kNoBroker: none
};

struct Description {
  std::vector<DescribedTopic> topics;        ///< one per asked topic, in the order asked
  std::map<int32_t, std::string> addresses;  ///< "host:port" of the leaders, by broker id
};

/// Asks for topics. Also the first contact: kDenied when the cluster
/// refuses us, kUnavailable when no broker answers in time, both early where waiting is no use;
/// kCancelled. Leaves the client with fresh leaders. A client whose connection has fallen silent is
/// replaced.
Result<Description> DescribeTopics(Askers& askers, const ClusterOptions& options,
                                   std::span<const std::string> topics, const Budget& budget);

/// Asks for retention and clean-up policy in the background: Collect() takes what has come.
class ConfigQuestion {
 public:
  /// Sends the request. `topics` exist.
  ConfigQuestion(Client& client, const std::vector<std::string>& topics, Milliseconds limit);

  /// Fills `retention` and the clean-up policy; a refusal or no answer within `limit` leaves them
  /// alone.
  void Collect(std::span<TopicFacts> topics, Milliseconds limit);

 private:
  AnswerQueue answers_;
  bool is_sent_ = false;
};

}  // namespace tidemark::kafka::client
