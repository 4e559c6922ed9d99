/// librdkafka's error codes in the words of the probe.
#pragma once

#include <librdkafka/rdkafka.h>

#include <string>

#include "base/error.h"
#include "kafka/client/error_log_internal.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

struct FaultOfCode {
  ProbeFault fault = ProbeFault::kOther;
  bool is_passing = false;  ///< worth asking again, after a look at the metadata
};

/// What an error code of a partition or topic means. Codes that do not concern it are kOther.
FaultOfCode FaultOf(rd_kafka_resp_err_t code);

/// The code's words for a person ("Broker: Topic authorization failed").
std::string WordsOf(rd_kafka_resp_err_t code);

/// The Error of a cluster that nobody could be asked of: kDenied with what to check when it refused
/// us, else kUnavailable with the last thing the connections said.
Error ClusterError(const ErrorLog& errors, const ClusterOptions& options);

/// What a partition is given up for when its leader at `address` stayed silent: the refusal, or
/// what was said about that connection, or kTimeout.
struct SilenceReason {
  ProbeFault fault = ProbeFault::kTimeout;
  std::string message;
};
SilenceReason SilenceOf(const ErrorLog& errors, const std::string& address);

}  // namespace tidemark::kafka::client
