#include "app/mirror_serve.h"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "api/openapi.h"
#include "app/build_info.h"
#include "app/serve_routes.h"
#include "app/table_routes.h"
#include "base/budget.h"
#include "base/log.h"
#include "http/server.h"
#include "metrics/process_points.h"
#include "metrics/sink_points.h"
#include "metrics/text_exposition.h"

namespace tidemark::app {

namespace {

using http::Request;
using http::Response;
using Names = std::vector<std::string>;

/// How often the file of the bearer tokens is looked at for changes.
constexpr Milliseconds kTokensLookEvery{1000};
constexpr Milliseconds kStopGrace{5000};
constexpr Milliseconds kClusterTime{10'000};

Response Json(std::string text) {
  return {.body = std::move(text) + "\n", .headers = {}};
}

Response Ready(const MirrorRun& mirror) {
  const bool is_ready = mirror.is_ready();
  Response response =
      Json(fmt::format(R"({{"status":"{}","tables":{}}})", is_ready ? "ok" : "starting",
                       mirror.tables().table_count()));
  if (!is_ready) response.status = 503;
  return response;
}

Response Metrics(const MirrorRun& mirror, const MirrorSinks& sinks, size_t series_max,
                 const Request& request) {
  auto points = metrics::ProcessPoints(GetBuildInfo().version);
  for (auto& point : metrics::MirrorPoints(mirror.Report(), series_max))
    points.push_back(std::move(point));
  for (auto& point : metrics::SinkPoints(sinks.Health())) points.push_back(std::move(point));
  const auto accept = request.headers.find("accept");
  const auto format =
      metrics::FormatFor(accept == request.headers.end() ? std::string_view() : accept->second);
  return {.content_type = std::string(metrics::ContentTypeOf(format)),
          .body = metrics::TextExposition(points, format),
          .headers = {}};
}

}  // namespace

http::Router MakeMirrorRouter(const MirrorRun& mirror, MirrorSinks& sinks, size_t series_max,
                              const Clock& clock) {
  http::Router router;
  router.Add("GET", "/healthz",
             [](const Request&, const Names&) { return Json(R"({"status":"ok"})"); });
  router.Add("GET", "/readyz", [&](const Request&, const Names&) { return Ready(mirror); });
  router.Add("GET", "/metrics",
             [&mirror, &sinks, series_max](const Request& request, const Names&) {
               return Metrics(mirror, sinks, series_max, request);
             });
  AddSinkRoutes(router, &sinks);
  AddTableRoutes(router, &mirror.tables(), clock);
  router.Add("GET", "/api/v1/events", [](const Request&, const Names&) {
    Response response;
    response.is_event_stream = true;
    return response;
  });
  router.Add("GET", "/api/v1/openapi.json", [](const Request&, const Names&) {
    return Json(std::string(api::OpenApiDocument()));
  });
  return router;
}

Status ServeMirror(const Config& config, const MirrorServeOptions& options,
                   const FreshnessEdges& edges) {
  HideInLog(config);
  TRY_ASSIGN(const auto mirror,
             MirrorRun::Start(config, edges, Budget::For(kClusterTime, options.stop)));
  const auto sinks =
      MirrorSinks::Start(config, edges, mirror->tables(), [&mirror] { return mirror->is_ready(); });
  const HttpConfig http = config.http.value_or(HttpConfig{});
  http::ServerOptions server;
  server.address = http.address;
  server.port = http.port;
  server.tls = http.tls;
  server.waiting_threads += kWaitsMax;
  BearerTokens tokens;
  if (!http.bearer_tokens_file.empty()) {
    TRY(tokens.Read(http.bearer_tokens_file));
    server.is_allowed = [&tokens](const Request& request) { return tokens.Allow(request); };
  }
  const auto series_max = static_cast<size_t>(config.mirror->table_series_max);
  TRY_ASSIGN(
      const auto started,
      http::Server::Start(server, MakeMirrorRouter(*mirror, *sinks, series_max, *edges.clock)));
  mirror->SetListener([&started, &sinks](const feed::TableNews& news) {
    sinks->Take(news);
    if (started->has_streams()) started->Publish("table", TableNewsJson(news));
  });
  sinks->TakeAll();
  const bool is_v6 = http.address.find(':') != std::string::npos;
  if (options.on_ready) {
    options.on_ready(fmt::format("{}://{}:{}", http.tls ? "https" : "http",
                                 is_v6 ? "[" + http.address + "]" : http.address, started->port()));
  }
  while (WaitUnlessStopped(kTokensLookEvery, options.stop)) tokens.ReadWhenChanged();
  mirror->SetListener(nullptr);
  started->Stop(kStopGrace);
  return {};
}

}  // namespace tidemark::app
