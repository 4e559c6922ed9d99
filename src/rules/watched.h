/// What rules are made for.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"

namespace tidemark::rules {

/// One pipeline that is looked at; those that are switched off have no rules.
struct WatchedPipeline {
  std::string name{};  ///< unique, valid UTF-8
  Milliseconds sla{0};
  Milliseconds interval{0};  ///< between two looks
  /// Share of time in which the SLA is kept, in parts per million: 990'000 is 99 %. More than 0,
  /// less than 1'000'000.
  int64_t objective_ppm = 990'000;
  /// Alert when a waiting record may be deleted by age in less than this.
  Milliseconds retention_margin{0};
};

struct RuleOptions {
  /// How often Prometheus asks tidemark, or how often a file or push is renewed. Longer than zero.
  Milliseconds scrape_interval = std::chrono::seconds(60);
  /// Name of the scrape job of `tidemark serve`; empty when there is none (text files, pushes), and
  /// then there are no alerts on it.
  std::string job = "tidemark";
  /// Page that explains each alert under an anchor of its name in lower case; empty: none is named.
  std::string runbook_url{};
  /// Partitions of the change feed, each of which somebody must publish; 0: there is no feed.
  int32_t feed_partitions = 0;
};

/// Time between two samples that can differ: the longer of a look and a scrape.
Milliseconds StepOf(const WatchedPipeline& pipeline, const RuleOptions& options);

/// An objective in percent as text: "99", "99.95".
std::string PercentText(int64_t ppm);

/// Parts per million as a share: "0.01", "0.0005".
std::string ShareText(int64_t ppm);

}  // namespace tidemark::rules
