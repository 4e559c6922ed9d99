/// The life of `tidemark mirror`: a mirror, and its resources over HTTP.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "app/config.h"
#include "app/freshness_run.h"
#include "app/mirror_run.h"
#include "app/mirror_sinks.h"
#include "base/error.h"
#include "http/router.h"

namespace tidemark::app {

struct MirrorServeOptions {
  /// Where it answers, once it does: "http://127.0.0.1:8080".
  std::function<void(const std::string& url)> on_ready;
  std::stop_token stop;
};

/// GET /healthz, /readyz (200 once all partitions were read to their ends), /metrics,
/// /api/v1/tables… (table_routes.h), /api/v1/sinks… (mirror_sinks.h), /api/v1/events (`table` after
/// each change) and /api/v1/openapi.json. What it is made from outlives it. `series_max`: with more
/// tables there are no series of single ones.
http::Router MakeMirrorRouter(const MirrorRun& mirror, MirrorSinks& sinks, size_t series_max,
                              const Clock& clock);

/// Runs until `stop`. Errors are those of the beginning.
Status ServeMirror(const Config& config, const MirrorServeOptions& options,
                   const FreshnessEdges& edges);

}  // namespace tidemark::app
