/// How often something took how long.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "metrics/family.h"
#include "metrics/point.h"

namespace tidemark::metrics {

/// Upper bounds of the buckets, in seconds.
inline constexpr std::array kLatencyBounds = {0.005, 0.01, 0.025, 0.05, 0.1,  0.25, 0.5,
                                              1.0,   2.5,  5.0,   10.0, 30.0, 60.0, 300.0};

/// Counts by bucket; the last one is over all bounds.
struct LatencyHistogram {
  std::array<uint64_t, kLatencyBounds.size() + 1> counts{};
  Milliseconds sum{0};

  void Add(Milliseconds latency);
};

/// Adds the points of a family that is a histogram, each with `labels`. `sum_text` is the sum in
/// seconds.
void AddHistogram(const Family& family, const Labels& labels, const LatencyHistogram& latency,
                  std::string sum_text, Points& points);

}  // namespace tidemark::metrics
