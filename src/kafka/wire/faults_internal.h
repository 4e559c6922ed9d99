/// The error codes of brokers in the words of the probe.
#pragma once

#include <cstdint>
#include <string>

#include "kafka/partition_probe.h"

namespace tidemark::kafka::wire {

/// Those that somebody here branches on; a broker knows many more.
enum class ErrorCode : int16_t {
  kNone = 0,
  kOffsetOutOfRange = 1,
  kUnsupportedSaslMechanism = 33,
  kIllegalSaslState = 34,
  kUnsupportedVersion = 35,
};

struct FaultOfCode {
  ProbeFault fault = ProbeFault::kOther;
  bool is_passing = false;  ///< worth asking again, after a look at the metadata
};

/// What an error code of a partition or topic means. Codes that do not concern it are kOther.
FaultOfCode FaultOf(int16_t code);

/// The code's words for a person ("topic authorization failed"); its number where it has none.
std::string WordsOf(int16_t code);

}  // namespace tidemark::kafka::wire
