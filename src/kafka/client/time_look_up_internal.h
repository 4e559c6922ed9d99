/// Asking for the first records stamped at or after times.
#pragma once

#include <span>

#include "base/budget.h"
#include "kafka/client/clients_internal.h"
#include "kafka/probe_rounds.h"

namespace tidemark::kafka::client {

/// ClusterAsker::AskOffsetsAt.
void AskOffsetsAt(Client& client, std::span<TimeTarget> targets, Milliseconds patience,
                  const Budget& budget);

}  // namespace tidemark::kafka::client
