/// Work that is done side by side and shown in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/error.h"
#include "columnar/batch.h"

namespace tidemark::app {

using BatchSink = std::function<Status(columnar::Batch batch)>;

struct OrderedWork {
  size_t units = 0;
  /// Does one unit and gives its batches to `sink`; called from several threads at once. An error
  /// of the sink (kCancelled: somebody else failed) ends it.
  std::function<Status(size_t unit, const BatchSink& sink)> run;
  unsigned threads = 1;
  /// Batches of a unit that wait for its turn; beyond, the unit waits.
  uint64_t held_bytes_max = uint64_t{64} << 20;
};

/// Runs all units and gives their batches to `sink` unit by unit, on this thread. The first error
/// by unit ends everything; what units behind it did is thrown away. Returns when no thread is
/// left.
Status RunInOrder(const OrderedWork& work, const BatchSink& sink);

}  // namespace tidemark::app
