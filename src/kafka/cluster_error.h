/// What a person is told of a cluster that nobody could be asked of, and the properties that decide
/// which advice helps.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka {

using Properties = std::vector<std::pair<std::string, std::string>>;

/// What the user has set, by the last word; nullptr when nothing was.
const std::string* ValueOf(const Properties& properties, std::string_view name);

/// The same of sasl.mechanisms under any of its names; "GSSAPI" where none is set.
std::string MechanismOf(const Properties& properties);

/// security.protocol in lower case; "plaintext" where none is set.
std::string ProtocolOf(const Properties& properties);

/// Why a broker does not let us in: kAuthentication or kTls. Waiting does not cure it.
struct Refusal {
  ProbeFault fault = ProbeFault::kNone;
  std::string reason;
};

/// What a listener that takes no logins answers to the first word of one.
inline constexpr const char* kNoLoginsHere = "Request not valid in current SASL state";
/// What is said of a connection that the other side has closed without a word.
inline constexpr const char* kDisconnected = "Disconnected";
inline constexpr const char* kNotKafka = "what answers there does not speak Kafka's protocol";

/// kDenied, with what to check.
Error RefusedError(const ClusterOptions& options, const Refusal& refusal);

/// kUnavailable, with the last thing a connection said; empty: nothing was heard.
Error UnansweredError(const ClusterOptions& options, const std::string& transport);

}  // namespace tidemark::kafka
