/// Counting what is asked of stores and clusters.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "app/freshness_run.h"

namespace tidemark::app {

/// Since the process began; each only grows. Any thread.
struct EdgeCounts {
  std::atomic<uint64_t> listings = 0;
  std::atomic<uint64_t> reads = 0;  ///< of objects, parts of them, and their sizes
  std::atomic<uint64_t> probes = 0;
  std::atomic<uint64_t> bytes_fetched = 0;  ///< of record batches
};

/// The same edges; what goes through them is counted, whether it succeeds or not.
FreshnessEdges CountedEdges(FreshnessEdges edges, std::shared_ptr<EdgeCounts> counts);

}  // namespace tidemark::app
