/// Reading the first record at or after an offset, of many partitions at once.
#pragma once

#include <span>
#include <string>

#include "base/budget.h"
#include "kafka/client/clients_internal.h"
#include "kafka/probe_rounds.h"

namespace tidemark::kafka::client {

/// ClusterAsker::SearchFirstRecords, with clients of its own.
Result<uint64_t> SearchFirstRecords(const ClusterOptions& options, IsolationLevel isolation,
                                    std::span<SearchTarget> targets, Milliseconds patience,
                                    const Budget& budget);

}  // namespace tidemark::kafka::client
