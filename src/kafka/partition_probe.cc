#include "kafka/partition_probe.h"

#include <utility>

namespace tidemark::kafka {

std::string_view ProbeFaultName(ProbeFault fault) {
  switch (fault) {
    case ProbeFault::kNone: return "none";
    case ProbeFault::kTimeout: return "timeout";
    case ProbeFault::kNoLeader: return "no_leader";
    case ProbeFault::kBrokerUnreachable: return "broker_unreachable";
    case ProbeFault::kTopicMissing: return "topic_missing";
    case ProbeFault::kPartitionMissing: return "partition_missing";
    case ProbeFault::kTopicDenied: return "topic_denied";
    case ProbeFault::kAuthentication: return "authentication";
    case ProbeFault::kTls: return "tls";
    case ProbeFault::kTooLarge: return "too_large";
    case ProbeFault::kUndecodable: return "undecodable";
    case ProbeFault::kOther: return "other";
  }
  std::unreachable();
}

}  // namespace tidemark::kafka
