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
#include "kafka/probe_rounds.h"

namespace tidemark::kafka::client {

/// Asks for topics, as ClusterAsker says. Leaves the client with fresh leaders. A client whose
/// connection has fallen silent is replaced.
Result<std::vector<DescribedTopic>> DescribeTopics(Askers& askers, const ClusterOptions& options,
                                                   std::span<const std::string> topics,
                                                   std::map<int32_t, std::string>* addresses,
                                                   const Budget& budget);

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
