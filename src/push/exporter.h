/// Where values go: one interface for every kind of receiver.
#pragma once

#include <cstddef>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"
#include "freshness/report.h"
#include "metrics/point.h"

namespace tidemark::push {

/// What is true at one moment, for every exporter the same.
struct Values {
  metrics::Points points;
  std::vector<freshness::PipelineReport> reports;  ///< that the points come from
  WallTime taken_at{};
  WallTime counting_since{};  ///< when the counters among the points were 0
};

/// What became of values that were delivered.
struct Delivery {
  size_t dropped = 0;  ///< points that the receiver, or its protocol, did not take
};

/// Single-threaded.
class Exporter {
 public:
  virtual ~Exporter() = default;

  /// One try: the next round has newer values. kInvalidArgument and kDenied: the receiver will not
  /// take them the next time either. No message holds a header, a path or a query of a URL.
  virtual Result<Delivery> Send(const Values& values, const Budget& budget) = 0;

  /// Before the daemon ends: takes away what would stay behind and soon be wrong. Nothing to do for
  /// receivers that forget by themselves.
  virtual Status Retire(const Budget& budget);
};

}  // namespace tidemark::push
