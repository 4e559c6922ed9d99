#include <fmt/core.h>

#include "kafka/client/faults_internal.h"
#include "kafka/cluster_error.h"

namespace tidemark::kafka::client {

namespace {

/// librdkafka takes the first four bytes of whatever is sent for the length of an answer, and
/// advises to allow longer ones. Before a broker has said a word, they are another protocol's.
std::string WithoutFrameAdvice(const std::string& transport) {
  constexpr std::string_view kBegin = "Receive failed: Invalid response size ";
  const size_t begin = transport.find(kBegin);
  if (begin == std::string::npos) return transport;
  return transport.substr(0, begin) + kNotKafka;
}

}  // namespace

FaultOfCode FaultOf(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR_NO_ERROR: return {ProbeFault::kNone, false};
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED: return {ProbeFault::kTopicDenied, false};
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC: return {ProbeFault::kTopicMissing, false};
    // The metadata names the partition, so its broker will know it in a moment.
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION: return {ProbeFault::kPartitionMissing, true};
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR: return {ProbeFault::kNoLeader, true};
    case RD_KAFKA_RESP_ERR__NOENT:  // from a look-up of leaders
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__DESTROY_BROKER:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN: return {ProbeFault::kBrokerUnreachable, true};
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__IN_PROGRESS: return {ProbeFault::kTimeout, true};
    // What a broker says of anything it did not expect.
    case RD_KAFKA_RESP_ERR_UNKNOWN: return {ProbeFault::kOther, true};
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE: return {ProbeFault::kTooLarge, false};
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
    case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED: return {ProbeFault::kUndecodable, false};
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED: return {ProbeFault::kAuthentication, false};
    case RD_KAFKA_RESP_ERR__SSL: return {ProbeFault::kTls, false};
    default: return {ProbeFault::kOther, false};
  }
}

std::string WordsOf(rd_kafka_resp_err_t code) {
  if (code == RD_KAFKA_RESP_ERR__NOENT) return "the leader is not among the cluster's brokers";
  return rd_kafka_err2str(code);
}

Error ClusterError(const ErrorLog& errors, const ClusterOptions& options) {
  if (const auto refusal = errors.refusal()) {
    return RefusedError(options, {.fault = refusal->fault, .reason = refusal->reason});
  }
  return UnansweredError(options, WithoutFrameAdvice(errors.transport()));
}

SilenceReason SilenceOf(const ErrorLog& errors, const std::string& address) {
  if (const auto refusal = errors.refusal()) return {refusal->fault, refusal->reason};
  const std::string transport = errors.transport_of(address);
  if (transport.empty()) {
    return {ProbeFault::kTimeout, fmt::format("no answer in time from broker={}", address)};
  }
  if (transport.find("receive.message.max.bytes") != std::string::npos) {
    return {ProbeFault::kTooLarge, transport};
  }
  return {ProbeFault::kBrokerUnreachable, transport};
}

}  // namespace tidemark::kafka::client
