/// The publisher with everything it needs, as `tidemark publish` and `tidemark serve` run it.
#pragma once

#include <memory>
#include <stop_token>

#include "app/config.h"
#include "app/freshness_run.h"
#include "app/publisher.h"
#include "base/budget.h"
#include "base/error.h"

namespace tidemark::app {

/// What is done about a cluster that does not answer at the beginning.
enum class AbsentCluster {
  kFail,
  kAwait,  ///< begin without it, and look for it again and again
};

/// Prepares the topics and begins. kInvalidArgument for a configuration without `feed`, and for
/// topics that do not fit, everything wrong with them one a line; kDenied, kUnavailable of the
/// cluster.
Result<std::unique_ptr<Publisher>> StartPublisher(const Config& config, const FreshnessEdges& edges,
                                                  const PublisherOptions& options,
                                                  AbsentCluster absent, const Budget& budget);

/// What the feed's log is opened with.
feed::KafkaLogOptions LogOptionsOf(const Config& config);

}  // namespace tidemark::app
