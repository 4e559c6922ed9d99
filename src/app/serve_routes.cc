#include "app/serve_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <utility>

#include "api/freshness_json.h"
#include "api/history_json.h"
#include "api/notice.h"
#include "api/openapi.h"
#include "api/timeline_json.h"
#include "app/build_info.h"
#include "app/subscription_notes.h"
#include "app/table_read.h"
#include "app/table_routes.h"
#include "app/text_file.h"
#include "base/log.h"
#include "base/time_text.h"
#include "metrics/text_exposition.h"

namespace tidemark::app {

namespace {

using http::ErrorResponse;
using http::Knowing;
using http::Pace;
using http::Request;
using http::Response;

constexpr auto kHistoryDefault = std::chrono::hours(24);
constexpr size_t kIncidentsDefault = 100;
constexpr size_t kTimelineDefault = 100;
constexpr size_t kTimelineMax = 10'000;
constexpr auto kTimelineDeadline = std::chrono::seconds(10);
constexpr uint64_t kTokensBytesMax = 1 << 20;
constexpr std::string_view kNoState =
    "no state is kept: give the configuration a 'state' section to have history and incidents";

Response Json(std::string text) {
  return {.body = std::move(text) + "\n", .headers = {}};
}

/// How an Error is answered.
Response Failed(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kNotFound: return ErrorResponse(404, error.message);
    case ErrorKind::kInvalidArgument: return ErrorResponse(400, error.message);
    default: return ErrorResponse(503, error.message);
  }
}

class Routes {
 public:
  explicit Routes(ServeSources sources) : sources_(std::move(sources)) {}

  static Response Health() { return Json(R"({"status":"ok"})"); }

  /// Whether everything that is ours was looked at once, so that numbers may be asked for.
  Response Ready() const {
    size_t waiting = 0;
    const auto all = sources_.watch.Snapshot(false);
    for (const Watched& each : all) waiting += each.looks == 0 ? 1 : 0;
    const bool is_alone = sources_.coordination == nullptr;
    const bool is_member = is_alone || sources_.coordination->standing().is_member;
    const std::string_view status = !is_member ? "not_a_member" : waiting > 0 ? "starting" : "ok";
    Response response = Json(fmt::format(R"({{"status":"{}","pipelines":{},"not_looked_at":{}}})",
                                         status, all.size(), waiting));
    if (waiting > 0 || !is_member) response.status = 503;
    return response;
  }

  Response Shared() const {
    if (sources_.coordination == nullptr)
      return ErrorResponse(404, "the configuration has no 'coordination' section");
    const auto standing = sources_.coordination->standing();
    api::SharedPipelines shared{.group = sources_.coordination->config().group,
                                .topic = sources_.coordination->config().topic,
                                .is_member = standing.is_member,
                                .why_not = standing.why_not,
                                .pipelines = {}};
    const auto config = sources_.config();
    for (const PipelineConfig& pipeline : config->pipelines) {
      const std::string& name = pipeline.spec.name;
      shared.pipelines.push_back({.name = name,
                                  .part = Coordination::PartOf(name),
                                  .is_ours = sources_.coordination->Owns(name)});
    }
    return Json(api::CoordinationJson(shared));
  }

  Response Metrics(const Request& request) const {
    const auto accept = request.headers.find("accept");
    const auto format =
        metrics::FormatFor(accept == request.headers.end() ? std::string_view() : accept->second);
    return {.content_type = std::string(metrics::ContentTypeOf(format)),
            .body = metrics::TextExposition(sources_.metrics(), format),
            .headers = {}};
  }

  Response Pipelines(const Request& request) const {
    auto reports = Reports(false);
    if (const auto status = request.query.find("status"); status != request.query.end()) {
      if (!IsStatus(status->second))
        return ErrorResponse(400, fmt::format("there is no status '{}'", status->second));
      std::erase_if(reports, [&](const auto& report) {
        return freshness::PipelineStatusName(report.status) != status->second;
      });
    }
    return Freshness(reports, false);
  }

  Response Pipeline(const std::string& name, bool with_partitions) const {
    auto reports = Reports(with_partitions);
    std::erase_if(reports, [&](const auto& report) { return report.pipeline != name; });
    if (reports.empty()) return NotHere(name);
    return Freshness(reports, with_partitions);
  }

  Response History(const Request& request, const std::string& name) const {
    if (!Knows(name)) return NoPipeline(name);
    if (sources_.keeper == nullptr) return ErrorResponse(404, kNoState);
    const WallTime now = sources_.edges.clock->Now();
    const auto to = TimeOf(request, "to", now);
    if (!to) return Failed(to.error());
    const auto from = TimeOf(request, "from", *to - kHistoryDefault);
    if (!from) return Failed(from.error());
    if (*from > *to) return ErrorResponse(400, "from is later than to");
    const auto points = sources_.keeper->History(name, *from, *to);
    if (!points) return FailedState(points.error());
    return Json(api::HistoryJson(name, *from, *to, *points));
  }

  Response Incidents(const Request& request) const {
    if (sources_.keeper == nullptr) return ErrorResponse(404, kNoState);
    const auto limit = LimitOf(request, kIncidentsDefault, state::kIncidentsMax);
    if (!limit) return Failed(limit.error());
    const auto pipeline = request.query.find("pipeline");
    const std::string name = pipeline == request.query.end() ? "" : pipeline->second;
    if (!name.empty() && !Knows(name)) return NoPipeline(name);
    const auto incidents = sources_.keeper->Incidents(name, *limit);
    if (!incidents) return FailedState(incidents.error());
    return Json(api::IncidentsJson(*incidents));
  }

  /// Of the tables in the configuration only: others are none of the daemon's business.
  Response Timeline(const Request& request) const {
    const auto table = request.query.find("table");
    if (table == request.query.end()) return ErrorResponse(400, "the parameter 'table' is missing");
    const auto limit = LimitOf(request, kTimelineDefault, kTimelineMax);
    if (!limit) return Failed(limit.error());
    const auto config = sources_.config();
    const bool is_known = std::ranges::any_of(config->pipelines, [&](const auto& pipeline) {
      return pipeline.spec.table == table->second;
    });
    if (!is_known) return ErrorResponse(404, "no pipeline of the configuration has this table");
    const StoreConfig& store = StoreFor(*config, table->second);
    auto reading =
        ReadTimeline(table->second, store.options, {.with_archived = false, .limit = *limit},
                     Budget::For(kTimelineDeadline, request.stop), sources_.edges);
    if (!reading) return Failed(store.hidden.Hide(std::move(reading).error()));
    return Json(api::TimelineJson(reading->table, reading->properties, reading->timeline));
  }

  Response Wake(const Request& request) const {
    const auto notice = api::ParseNotice(request.body);
    if (!notice) return Failed(notice.error());
    if (notice->subscription) {
      // SNS takes this for an answer, not for a yes.
      subscriptions_.Note("/api/v1/wake", *notice->subscription);
      return Json(R"({"woken":0})");
    }
    size_t woken = 0;
    for (const auto* uris : {&notice->tables, &notice->objects}) {
      for (const std::string& uri : *uris) {
        woken += sources_.watch.WakeUpAt(uri);
        if (sources_.wake_feed) woken += sources_.wake_feed(uri);
      }
    }
    Response response = Json(fmt::format(R"({{"woken":{}}})", woken));
    response.status = 202;
    return response;
  }

  Response WakePipeline(const std::string& name) const {
    if (!sources_.watch.WakeUp(name)) return NotHere(name);
    Response response = Json(R"({"woken":1})");
    response.status = 202;
    return response;
  }

 private:
  /// Messages of a database may name what its URL holds.
  Response FailedState(Error error) const {
    return Failed(sources_.config()->state_hidden.Hide(std::move(error)));
  }

  static Response NoPipeline(std::string_view name) {
    return ErrorResponse(404, fmt::format("there is no pipeline '{}'", name));
  }

  /// Nowhere, or with another instance.
  Response NotHere(std::string_view name) const {
    if (sources_.coordination == nullptr || !Knows(name)) return NoPipeline(name);
    return ErrorResponse(
        404, fmt::format("the pipeline '{}' is not reported here: it belongs to another instance "
                         "of the group '{}' (partition {} of the topic '{}'), or this one is not "
                         "a member",
                         name, sources_.coordination->config().group, Coordination::PartOf(name),
                         sources_.coordination->config().topic));
  }

  static bool IsStatus(std::string_view word) {
    constexpr std::string_view kWords[] = {"fresh", "warning", "breach", "unknown", "disabled"};
    return std::ranges::find(kWords, word) != std::end(kWords);
  }

  bool Knows(std::string_view name) const {
    return std::ranges::any_of(sources_.config()->pipelines,
                               [&](const auto& pipeline) { return pipeline.spec.name == name; });
  }

  std::vector<freshness::PipelineReport> Reports(bool with_partitions) const {
    std::vector<freshness::PipelineReport> reports;
    for (Watched& each : sources_.watch.Snapshot(with_partitions))
      reports.push_back(std::move(each.report));
    return reports;
  }

  Response Freshness(const std::vector<freshness::PipelineReport>& reports,
                     bool with_partitions) const {
    return Json(api::FreshnessJson(reports, {.generated_at = sources_.edges.clock->Now(),
                                             .duration = Milliseconds(0),
                                             .with_partitions = with_partitions}));
  }

  static Result<WallTime> TimeOf(const Request& request, const std::string& name,
                                 WallTime otherwise) {
    const auto text = request.query.find(name);
    if (text == request.query.end()) return otherwise;
    if (const auto time = ParseRfc3339(text->second)) return *time;
    return Fail(
        ErrorKind::kInvalidArgument,
        fmt::format("{} is a time such as 2026-11-30T03:00:00Z, not '{}'", name, text->second));
  }

  static Result<size_t> LimitOf(const Request& request, size_t otherwise, size_t most) {
    const auto text = request.query.find("limit");
    if (text == request.query.end()) return otherwise;
    size_t limit = 0;
    const char* end = text->second.data() + text->second.size();
    const auto [rest, error] = std::from_chars(text->second.data(), end, limit);
    if (error != std::errc{} || rest != end || limit == 0 || limit > most)
      return Fail(ErrorKind::kInvalidArgument,
                  fmt::format("limit is a number from 1 to {}, not '{}'", most, text->second));
    return limit;
  }

  ServeSources sources_;
  mutable SubscriptionNotes subscriptions_;
};

bool IsOpenToAll(const Request& request) {
  return request.segments.size() == 1 &&
         (request.segments[0] == "healthz" || request.segments[0] == "readyz");
}

/// Takes as long whatever the texts share.
bool IsSameSecret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(other);
  }
  return difference == 0;
}

}  // namespace

bool BearerTokens::ReadAgain() {
  if (path_.empty()) return false;
  const auto read = Read(path_);
  if (!read) Log(LogLevel::kError, "the bearer tokens stay as they were: " + read.error().message);
  return read.has_value();
}

void BearerTokens::ReadWhenChanged() {
  if (change_.Look() && ReadAgain()) Log(LogLevel::kInfo, "bearer tokens read again");
}

Status BearerTokens::Read(const std::string& path) {
  path_ = path;
  FileStamps stamps;
  stamps.Add(path_);
  change_.Set(std::move(stamps));
  TRY_ASSIGN(const std::string text, ReadTextFile(path, kTokensBytesMax));
  std::vector<std::string> tokens;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string token = text.substr(begin, end - begin);
    while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
    if (!token.empty()) tokens.push_back(std::move(token));
    begin = end + 1;
  }
  if (tokens.empty()) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("there is no bearer token in the file path={}", path));
  }
  const std::lock_guard lock(mutex_);
  tokens_ = std::move(tokens);
  return {};
}

bool BearerTokens::Allow(const Request& request) const {
  if (IsOpenToAll(request)) return true;
  const auto header = request.headers.find("authorization");
  if (header == request.headers.end()) return false;
  std::string_view given = header->second;
  constexpr std::string_view kScheme = "bearer ";
  if (given.size() < kScheme.size()) return false;
  for (size_t i = 0; i < kScheme.size(); ++i)
    if ((given[i] | 0x20) != kScheme[i]) return false;
  given.remove_prefix(kScheme.size());
  const std::lock_guard lock(mutex_);
  bool is_allowed = false;
  for (const std::string& token : tokens_) is_allowed |= IsSameSecret(given, token);
  return is_allowed;
}

http::Router MakeRouter(const ServeSources& sources) {
  const auto routes = std::make_shared<const Routes>(sources);
  using Names = std::vector<std::string>;
  http::Router router;
  // Probes and scrapers may be told to send what they like.
  router.Add("GET", "/healthz", [](const Request&, const Names&) { return Routes::Health(); });
  router.Add("GET", "/readyz", [routes](const Request&, const Names&) { return routes->Ready(); });
  router.Add("GET", "/metrics",
             [routes](const Request& request, const Names&) { return routes->Metrics(request); });
  const auto add = [&](std::string method, std::string_view pattern,
                       std::initializer_list<std::string_view> parameters,
                       http::Router::Handler handler, Pace pace = Pace::kAtOnce) {
    router.Add(std::move(method), fmt::format("/api/v1/{}", pattern),
               Knowing(parameters, std::move(handler)), pace);
  };
  add("GET", "pipelines", {"status"},
      [routes](const Request& request, const Names&) { return routes->Pipelines(request); });
  add("GET", "pipelines/{name}", {},
      [routes](const Request&, const Names& names) { return routes->Pipeline(names[0], false); });
  add("GET", "pipelines/{name}/partitions", {},
      [routes](const Request&, const Names& names) { return routes->Pipeline(names[0], true); });
  // Those that ask the state's database or a table's store wait for them.
  add(
      "GET", "pipelines/{name}/history", {"from", "to"},
      [routes](const Request& request, const Names& names) {
        return routes->History(request, names[0]);
      },
      Pace::kMayWait);
  add("POST", "pipelines/{name}/wake", {},
      [routes](const Request&, const Names& names) { return routes->WakePipeline(names[0]); });
  add(
      "GET", "incidents", {"pipeline", "limit"},
      [routes](const Request& request, const Names&) { return routes->Incidents(request); },
      Pace::kMayWait);
  add(
      "GET", "timeline", {"table", "limit"},
      [routes](const Request& request, const Names&) { return routes->Timeline(request); },
      Pace::kMayWait);
  add("GET", "coordination", {},
      [routes](const Request&, const Names&) { return routes->Shared(); });
  add("GET", "events", {}, [](const Request&, const Names&) {
    Response response;
    response.is_event_stream = true;
    return response;
  });
  add("GET", "openapi.json", {},
      [](const Request&, const Names&) { return Json(std::string(api::OpenApiDocument())); });
  add("POST", "wake", {},
      [routes](const Request& request, const Names&) { return routes->Wake(request); });
  AddTableRoutes(router, sources.tables, *sources.edges.clock);
  AddSinkRoutes(router, sources.sinks);
  return router;
}

}  // namespace tidemark::app
