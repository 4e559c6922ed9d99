/// The resources of the daemon.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/coordination.h"
#include "app/file_stamps.h"
#include "app/freshness_run.h"
#include "app/mirror_sinks.h"
#include "app/state_keeper.h"
#include "app/watch.h"
#include "feed/mirror_tables.h"
#include "http/router.h"
#include "metrics/point.h"

namespace tidemark::app {

/// What resources are made from; outlives the router. `config` may change under it.
struct ServeSources {
  Watch& watch;
  StateKeeper* keeper = nullptr;               ///< null: no state is kept, and there is no history
  const Coordination* coordination = nullptr;  ///< null: pipelines are shared with nobody
  FreshnessEdges edges;
  std::function<metrics::Points()> metrics;  ///< for GET /metrics; any thread
  /// Wakes the feed's publisher at a URI; how many tables. May be null. Any thread.
  std::function<size_t(const std::string& uri)> wake_feed{};
  const feed::MirrorTables* tables = nullptr;  ///< null: there is no mirror
  MirrorSinks* sinks = nullptr;                ///< null: the same
  std::function<std::shared_ptr<const Config>()> config;
};

/// GET /healthz, /readyz, /metrics; below /api/v1: GET pipelines, pipelines/{name},
/// pipelines/{name}/partitions, pipelines/{name}/history, incidents, timeline, coordination,
/// events, openapi.json, tables… (table_routes.h), sinks… (mirror_sinks.h); POST wake,
/// pipelines/{name}/wake. docs/serve.md and the document of api/openapi.h describe them.
http::Router MakeRouter(const ServeSources& sources);

/// Who may ask: holders of one of the tokens in a file, one a line; for /healthz and /readyz
/// everybody.
class BearerTokens {
 public:
  /// Reads the file; kInvalidArgument when there is no token in it. The old ones stay then.
  Status Read(const std::string& path);
  /// Reads that file again, if there was one; whether it did. What is wrong with it is logged.
  bool ReadAgain();
  /// The same when it has changed and rests. From the thread that reads, about once a second.
  void ReadWhenChanged();
  /// Any thread. Takes the same time for every wrong token.
  bool Allow(const http::Request& request) const;

 private:
  std::string path_;                    // of the thread that reads
  SettledChange change_{FileStamps{}};  // as path_
  mutable std::mutex mutex_;
  std::vector<std::string> tokens_;  // guarded by mutex_
};

}  // namespace tidemark::app
