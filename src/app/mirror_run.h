/// The mirror with everything it needs, as `tidemark mirror` and `tidemark serve` run it.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

#include "app/config.h"
#include "app/freshness_run.h"
#include "base/budget.h"
#include "base/error.h"
#include "feed/mirror.h"
#include "metrics/mirror_points.h"

namespace tidemark::app {

/// A thread that follows the feed. Ends with the destructor, which writes what is not written yet.
class MirrorRun {
 public:
  /// Opens the state and begins; the cluster may be absent: it is looked for again and again.
  /// kInvalidArgument for topics that do not fit the configuration, everything wrong with them one
  /// a line, where the cluster answers within `budget`; errors of the state.
  static Result<std::unique_ptr<MirrorRun>> Start(const Config& config, const FreshnessEdges& edges,
                                                  const Budget& budget);
  virtual ~MirrorRun() = default;

  /// Live as long as this does. Any thread.
  virtual const feed::MirrorTables& tables() const = 0;
  virtual bool is_ready() const = 0;
  virtual metrics::MirrorReport Report() const = 0;

  /// From now on news go to `listener`, from the mirror's thread; null: to nobody.
  virtual void SetListener(std::function<void(const feed::TableNews& news)> listener) = 0;
};

}  // namespace tidemark::app
