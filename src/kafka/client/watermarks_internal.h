/// Asking where the logs begin and end.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/budget.h"
#include "base/clock.h"
#include "kafka/client/clients_internal.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

/// One partition to ask for. The answer goes into `facts`: the ends, then the log start, or the
/// fault.
struct WatermarkTarget {
  PartitionFacts* facts = nullptr;  ///< borrowed for the call
  int32_t leader = 0;               ///< a broker; partitions without one are not to be asked
  std::string address;              ///< its "host:port"

  enum class Outcome {
    kSilent,  ///< while asking only
    kAnswered,
    kAgain,  ///< the fault may pass, or nobody answered
    kFault,  ///< the fault is final
  };
  Outcome outcome = Outcome::kSilent;
};

/// Asks every leader for its partitions, all at once, in chunks. For kReadCommitted the high
/// watermark is asked before the last stable offset, so that records appended in between never
/// look like an open transaction.
///
/// Returns when all are answered, when the budget ends, or when some have answered and the rest has
/// been silent for `patience`. The result is when the last end was taken; nullopt when none was.
std::optional<WallTime> AskWatermarks(Client& client, IsolationLevel isolation,
                                      std::span<WatermarkTarget> targets, Milliseconds patience,
                                      const Budget& budget);

}  // namespace tidemark::kafka::client
