/// Asking where the logs begin and end.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/budget.h"
#include "base/clock.h"
#include "kafka/client/clients_internal.h"
#include "kafka/probe_rounds.h"

namespace tidemark::kafka::client {

/// ClusterAsker::AskWatermarks: all leaders at once, in chunks.
std::optional<WallTime> AskWatermarks(Client& client, IsolationLevel isolation,
                                      std::span<WatermarkTarget> targets, Milliseconds patience,
                                      const Budget& budget);

}  // namespace tidemark::kafka::client
