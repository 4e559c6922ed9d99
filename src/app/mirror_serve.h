/// The life of `tidemark mirror`: a mirror, and its resources over HTTP.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "app/config.h"
#include "app/freshness_run.h"
#include "base/error.h"

namespace tidemark::app {

struct MirrorServeOptions {
  /// Where it answers, once it does: "http://127.0.0.1:8080".
  std::function<void(const std::string& url)> on_ready;
  std::stop_token stop;
};

/// Runs until `stop`: GET /healthz, /readyz (200 once all partitions were read to their ends),
/// /metrics, /api/v1/tables… (table_routes.h), /api/v1/events (`table` after each change) and
/// /api/v1/openapi.json. Errors are those of the beginning.
Status ServeMirror(const Config& config, const MirrorServeOptions& options,
                   const FreshnessEdges& edges);

}  // namespace tidemark::app
