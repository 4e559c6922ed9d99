#include "metrics/latency_histogram.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace tidemark::metrics {

void LatencyHistogram::Add(Milliseconds latency) {
  const double seconds = SecondsOf(latency);
  const auto bound = std::ranges::lower_bound(kLatencyBounds, seconds);
  ++counts[static_cast<size_t>(bound - kLatencyBounds.begin())];
  sum += std::max(latency, Milliseconds(0));
}

void AddHistogram(const Family& family, const Labels& labels, const LatencyHistogram& latency,
                  std::string sum_text, Points& points) {
  uint64_t total = 0;
  for (size_t i = 0; i < latency.counts.size(); ++i) {
    total += latency.counts[i];
    Labels with_bound = labels;
    with_bound.emplace_back(
        "le", i < kLatencyBounds.size() ? fmt::format("{}", kLatencyBounds[i]) : "+Inf");
    points.push_back({&family, std::move(with_bound), std::to_string(total), "_bucket"});
  }
  points.push_back({&family, labels, std::move(sum_text), "_sum"});
  points.push_back({&family, labels, std::to_string(total), "_count"});
}

}  // namespace tidemark::metrics
