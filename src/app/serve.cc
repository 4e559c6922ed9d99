#include "app/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "api/freshness_json.h"
#include "app/coordination.h"
#include "app/counted_edges.h"
#include "app/export_lanes.h"
#include "app/file_stamps.h"
#include "app/incident_notices.h"
#include "app/local_wake_ups.h"
#include "app/metric_values.h"
#include "app/mirror_run.h"
#include "app/mirror_sinks.h"
#include "app/publish_run.h"
#include "app/queue_wake_ups.h"
#include "app/serve_routes.h"
#include "app/state_keeper.h"
#include "app/table_routes.h"
#include "base/budget.h"
#include "base/log.h"
#include "http/server.h"

namespace tidemark::app {

namespace {

/// How often files are looked at for changes, and the longest a stop is waited for.
constexpr Milliseconds kFileLookEvery{1000};
constexpr Milliseconds kStopGrace{5000};
/// How long pipelines that go to another instance wait for the state to be written.
constexpr Milliseconds kReleaseMax{3000};
/// Names of pipelines in one line of the log.
constexpr size_t kNamesLogged = 5;
/// How long the feed's cluster is waited for before the daemon begins without it.
constexpr Milliseconds kClusterTime{10'000};
/// A commit callback names every file of the commit.
constexpr size_t kBodySizeMax = size_t{16} << 20U;

std::vector<std::string> NamesOf(const Config& config) {
  std::vector<std::string> names;
  for (const PipelineConfig& pipeline : config.pipelines) names.push_back(pipeline.spec.name);
  return names;
}

/// "a, b, c and 17 more".
std::string SomeOf(const std::set<std::string>& names) {
  std::string text;
  size_t count = 0;
  for (const std::string& name : names) {
    if (count == kNamesLogged) return text + fmt::format(" and {} more", names.size() - count);
    text += (count++ == 0 ? "" : ", ") + name;
  }
  return text;
}

std::set<std::string> Without(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::set<std::string> left;
  std::ranges::set_difference(a, b, std::inserter(left, left.end()));
  return left;
}

/// Logs a pipeline's status when it changes, not each look.
class StatusLog {
 public:
  void Note(const freshness::PipelineReport& report) {
    const auto now = std::pair(report.status, report.reason);
    const auto [known, is_new] = last_.try_emplace(report.pipeline, now);
    if (!is_new && known->second == now) return;
    const bool is_silent_start = is_new && report.status == freshness::PipelineStatus::kFresh;
    known->second = now;
    if (is_silent_start) return;
    const bool is_bad = report.status == freshness::PipelineStatus::kBreach ||
                        report.status == freshness::PipelineStatus::kUnknown;
    Log(is_bad ? LogLevel::kWarning : LogLevel::kInfo,
        fmt::format("pipeline={} status={} reason={} {}", report.pipeline,
                    freshness::PipelineStatusName(report.status),
                    freshness::ReasonName(report.reason), report.message));
  }

 private:
  std::map<std::string, std::pair<freshness::PipelineStatus, freshness::Reason>> last_;
};

/// The configuration that counts now; replaced as a whole.
class CurrentConfig {
 public:
  explicit CurrentConfig(Config config)
      : config_(std::make_shared<const Config>(std::move(config))) {}
  std::shared_ptr<const Config> Get() const {
    const std::lock_guard lock(mutex_);
    return config_;
  }
  void Set(Config config) {
    auto next = std::make_shared<const Config>(std::move(config));
    const std::lock_guard lock(mutex_);
    config_ = std::move(next);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Config> config_;
};

class Daemon {
 public:
  Daemon(Config config, const ConfigSources& sources, const ServeOptions& options,
         const FreshnessEdges& edges)
      : current_(std::move(config)),
        sources_(sources),
        options_(options),
        edges_(CountedEdges(edges, edge_counts_)) {}

  ~Daemon() {
    // Hands over what it has; others still ask it what is ours.
    if (coordination_) coordination_->Stop();
    wake_ups_.reset();
    if (queues_) queues_->Stop();
    // Exporters ask the watch; looks speak to the exporters, the server and the keeper.
    if (lanes_) lanes_->Set({});
    if (mirror_) mirror_->SetListener(nullptr);
    watch_.reset();
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  Status Run() {
    HideInLog(*current_.Get());
    if (current_.Get()->coordination) {
      TRY_ASSIGN(coordination_, Coordination::Open(*current_.Get()));
    }
    TRY(OpenState());
    BeginExporters();
    BeginWatch();
    BeginWakeUps();
    queues_ = std::make_unique<QueueWakeUps>(current_.Get()->wake_ups);
    TRY(BeginPublishing());
    queues_->Start([this](const std::string& uri) {
      watch_->WakeUpAt(uri);
      if (publisher_) publisher_->WakeUpAt(uri);
    });
    TRY(BeginMirroring());
    TRY(BeginAnswering());
    if (coordination_) coordination_->Begin([this] { TakeShare(); });
    Log(LogLevel::kInfo, fmt::format("watching pipelines={}", current_.Get()->pipelines.size()));
    SettledChange change(current_.Get()->files);
    while (WaitUnlessStopped(kFileLookEvery, options_.stop)) {
      tokens_.ReadWhenChanged();
      const bool is_asked = options_.wants_reload && options_.wants_reload();
      if (is_asked || change.Look()) change.Set(Reload());
    }
    Log(LogLevel::kInfo, "stopping");
    if (coordination_) coordination_->Stop();
    queues_->Stop();
    lanes_->Set({});
    server_->Stop(kStopGrace);
    return {};
  }

 private:
  Status OpenState() {
    const auto config = current_.Get();
    if (!config->state) {
      Log(LogLevel::kWarning,
          "no state is kept: there is no history, and what a restart forgets makes some ages "
          "unknown; give the configuration a 'state' section");
      return {};
    }
    auto keeper = StateKeeper::Open(*config->state, *edges_.clock);
    if (!keeper) return std::unexpected(config->state_hidden.Hide(std::move(keeper).error()));
    keeper_ = *std::move(keeper);
    keeper_->KeepOnly(NamesOf(*config));
    if (coordination_) keeper_->OwnNothing();
    return {};
  }

  void BeginExporters() {
    const auto config = current_.Get();
    // Where pipelines are shared, incidents come with them.
    const bool goes_on = keeper_ && !coordination_;
    notices_ = std::make_unique<IncidentNotices>(goes_on ? keeper_->left_open()
                                                         : std::vector<state::Incident>());
    lanes_ = std::make_unique<ExportLanes>(
        [this](const SeriesChoice& series,
               std::span<const metrics::ExporterHealth> health) -> std::optional<push::Values> {
          const Watch* watch = watching_.load();
          if (watch == nullptr) return std::nullopt;
          auto values = PushedValues(*watch, series, HealthOf(health), edges_.clock->Now());
          values.counting_since = began_at_;
          return values;
        },
        *edges_.clock);
    lanes_->Set(config->exporters.senders);
    for (const auto& notice : notices_->KeepOnly(*config, edges_.clock->Now()))
      lanes_->Tell(notice);
    if (!coordination_) RepeatNotices(*config);
  }

  /// What the process before this one may not have delivered.
  void RepeatNotices(const Config& config) {
    const bool has_webhook = std::ranges::any_of(config.exporters.senders, [](const auto& each) {
      return std::holds_alternative<push::WebhookOptions>(each.receiver);
    });
    if (!has_webhook) return;
    if (!keeper_) {
      Log(LogLevel::kWarning,
          "no state is kept: incidents that are open when the daemon ends are never closed for "
          "webhooks");
      return;
    }
    const auto incidents = keeper_->Incidents("", state::kIncidentsMax);
    if (!incidents) {
      Log(LogLevel::kWarning, "earlier incidents cannot be told again: " +
                                  config.state_hidden.Hide(incidents.error()).message);
      return;
    }
    for (const auto& notice : NoticesToRepeat(*incidents, config, edges_.clock->Now()))
      lanes_->Tell(notice);
  }

  void BeginWatch() {
    const bool remembers = keeper_ && !coordination_;
    WatchOptions options = options_.watch;
    if (coordination_)
      options.is_ours = [this](std::string_view name) { return coordination_->Owns(name); };
    watch_ = std::make_unique<Watch>(
        Ours(), remembers ? keeper_->remembered() : std::vector<Remembered>(), options, edges_,
        [this](const Look& look) {
          if (look.has_ended) ++looks_;
          looks_left_out_ += look.left_out;
          // Held until all are told: what is handed over meanwhile waits for it.
          const std::lock_guard share_lock(share_mutex_);
          if (coordination_ && (!share_.contains(look.report.pipeline) ||
                                !coordination_->Owns(look.report.pipeline)))
            return;
          log_.Note(look.report);
          if (keeper_) keeper_->Note(look);
          for (const auto& notice : notices_->Note(look.report)) lanes_->Tell(notice);
          const std::lock_guard lock(server_mutex_);
          if (!server_ || !server_->has_streams()) return;
          server_->Publish("report", api::FreshnessJson({&look.report, 1},
                                                        {.generated_at = look.report.observed_at,
                                                         .duration = look.report.probe_duration,
                                                         .with_partitions = false}));
        });
    watching_ = watch_.get();
  }

  void BeginWakeUps() {
    auto started =
        LocalWakeUps::Start([this](const std::string& table) { watch_->WakeUpAt(table); });
    if (!started) {
      Log(LogLevel::kWarning, "tables are looked at when they are due: " + started.error().message);
      return;
    }
    wake_ups_ = *std::move(started);
    wake_ups_->Set(Ours());
  }

  Status BeginPublishing() {
    const auto config = current_.Get();
    if (!config->feed) return {};
    feed_series_max_ = static_cast<size_t>(config->feed->table_series_max);
    const PublisherOptions publishing{
        .is_told = [this](std::string_view table) { return queues_->IsTold(table); }};
    TRY_ASSIGN(publisher_, StartPublisher(*config, edges_, publishing, AbsentCluster::kAwait,
                                          Budget::For(kClusterTime, options_.stop)));
    return {};
  }

  Status BeginMirroring() {
    const auto config = current_.Get();
    if (!config->mirror) return {};
    mirror_series_max_ = static_cast<size_t>(config->mirror->table_series_max);
    TRY_ASSIGN(mirror_,
               MirrorRun::Start(*config, edges_, Budget::For(kClusterTime, options_.stop)));
    mirror_config_ = config;
    sinks_ = MirrorSinks::Start(*mirror_config_, edges_, mirror_->tables(),
                                [this] { return mirror_->is_ready(); });
    mirror_->SetListener([this](const feed::TableNews& news) {
      sinks_->Take(news);
      const std::lock_guard lock(server_mutex_);
      if (server_ && server_->has_streams()) server_->Publish("table", TableNewsJson(news));
    });
    sinks_->TakeAll();
    return {};
  }

  Status BeginAnswering() {
    const HttpConfig http = current_.Get()->http.value_or(HttpConfig{});
    http::ServerOptions server;
    server.address = http.address;
    server.port = http.port;
    server.tls = http.tls;
    server.body_size_max = kBodySizeMax;
    if (mirror_) server.waiting_threads += kWaitsMax;
    if (!http.bearer_tokens_file.empty()) {
      TRY(tokens_.Read(http.bearer_tokens_file));
      server.is_allowed = [this](const http::Request& request) { return tokens_.Allow(request); };
    }
    TRY_ASSIGN(
        auto started,
        http::Server::Start(server, MakeRouter({.watch = *watch_,
                                                .keeper = keeper_.get(),
                                                .coordination = coordination_.get(),
                                                .edges = edges_,
                                                .metrics = [this] { return PointsNow(); },
                                                .wake_feed =
                                                    [this](const std::string& uri) {
                                                      return publisher_ ? publisher_->WakeUpAt(uri)
                                                                        : size_t{0};
                                                    },
                                                .tables = mirror_ ? &mirror_->tables() : nullptr,
                                                .sinks = sinks_.get(),
                                                .config = [this] { return current_.Get(); }})));
    const std::lock_guard lock(server_mutex_);
    server_ = std::move(started);
    const bool is_v6 = http.address.find(':') != std::string::npos;
    if (options_.on_ready) {
      options_.on_ready(fmt::format("{}://{}:{}", http.tls ? "https" : "http",
                                    is_v6 ? "[" + http.address + "]" : http.address,
                                    server_->port()));
    }
    return {};
  }

  DaemonHealth HealthOf(std::span<const metrics::ExporterHealth> exporters) const {
    DaemonHealth health{.exporters = {exporters.begin(), exporters.end()},
                        .work = {.looks = looks_,
                                 .looks_left_out = looks_left_out_,
                                 .store_listings = edge_counts_->listings,
                                 .store_reads = edge_counts_->reads,
                                 .kafka_probes = edge_counts_->probes,
                                 .kafka_bytes_fetched = edge_counts_->bytes_fetched},
                        .queues = queues_ ? queues_->Health() : std::vector<metrics::QueueHealth>(),
                        .coordination = {}};
    if (!coordination_) return health;
    const auto names = NamesOf(*current_.Get());
    const auto owned = std::ranges::count_if(
        names, [this](const std::string& name) { return coordination_->Owns(name); });
    health.coordination = {.group = coordination_->config().group,
                           .is_member = coordination_->standing().is_member,
                           .owned_pipelines = static_cast<uint64_t>(owned)};
    return health;
  }

  metrics::Points PointsNow() const {
    auto points =
        EndpointPoints(*watch_, current_.Get()->exporters.endpoint, HealthOf(lanes_->Health()));
    const auto append = [&](metrics::Points more) {
      for (auto& point : more) points.push_back(std::move(point));
    };
    if (publisher_) append(metrics::FeedPoints(publisher_->Report(), feed_series_max_));
    if (mirror_) append(metrics::MirrorPoints(mirror_->Report(), mirror_series_max_));
    if (sinks_) append(metrics::SinkPoints(sinks_->Health()));
    return points;
  }

  // --- pipelines shared with other instances ----------------------------------------------------

  /// The configuration with those pipelines only that are this instance's now.
  Config Ours() const {
    Config ours = *current_.Get();
    if (coordination_) {
      std::erase_if(ours.pipelines, [this](const PipelineConfig& pipeline) {
        return !coordination_->Owns(pipeline.spec.name);
      });
    }
    return ours;
  }

  /// Takes up what came to be ours and puts down what is not any more. From the coordination's
  /// thread, and when the configuration changed.
  void TakeShare() {
    const std::lock_guard lock(take_share_mutex_);
    Config ours = Ours();
    const std::vector<std::string> names = NamesOf(ours);
    const std::set<std::string> share(names.begin(), names.end());
    std::set<std::string> before;
    {
      const std::lock_guard share_lock(share_mutex_);
      before = std::exchange(share_, share);
    }
    const std::set<std::string> lost = Without(before, share), gained = Without(share, before);
    if (!lost.empty()) PutDown(lost);
    std::vector<Remembered> remembered;
    if (!gained.empty()) remembered = TakeUp(gained);
    if (wake_ups_) wake_ups_->Set(ours);
    watch_->Reload(std::move(ours), std::move(remembered));
    if (lost.empty() && gained.empty()) return;
    lanes_->Hurry();
    Log(LogLevel::kInfo,
        fmt::format("coordination: owned={} of={} gained={}{}{} lost={}{}{}", share.size(),
                    current_.Get()->pipelines.size(), gained.size(), gained.empty() ? "" : " ",
                    SomeOf(gained), lost.size(), lost.empty() ? "" : " ", SomeOf(lost)));
  }

  void PutDown(const std::set<std::string>& lost) {
    const auto config = current_.Get();
    // With one database the next owner goes on with the incidents; else they end for us here.
    const bool is_shared = config->state && !config->state->url.empty();
    if (keeper_) {
      keeper_->Release(lost, is_shared ? AtRelease::kLeaveOpen : AtRelease::kClose, kReleaseMax);
    }
    const auto closed = notices_->Release(lost, edges_.clock->Now());
    if (is_shared) return;
    for (const auto& notice : closed) lanes_->Tell(notice);
  }

  std::vector<Remembered> TakeUp(const std::set<std::string>& gained) {
    if (!keeper_) return {};
    const auto config = current_.Get();
    auto adopted = keeper_->Adopt(gained);
    if (!adopted) {
      Log(LogLevel::kWarning,
          fmt::format("what is kept of pipelines={} cannot be read, and they are begun anew: {}",
                      gained.size(), config->state_hidden.Hide(adopted.error()).message));
      return {};
    }
    notices_->Adopt(adopted->open);
    Config theirs = *config;
    std::erase_if(theirs.pipelines,
                  [&](const auto& each) { return !gained.contains(each.spec.name); });
    RepeatNotices(theirs);
    return std::move(adopted->remembered);
  }

  /// What was read, as it was before: a refused configuration is looked at again when one of its
  /// own files changes.
  FileStamps Reload() {
    auto loaded = LoadConfig(options_.config_file, sources_);
    if (!loaded.config) {
      Log(LogLevel::kError, "the changed configuration has mistakes, and the old one stays");
      for (const ConfigMistake& mistake : loaded.mistakes)
        Log(LogLevel::kError, FormatMistake(mistake));
    } else if (loaded.config->pipelines.empty() && !current_.Get()->pipelines.empty()) {
      // As at the start: it would forget all that is known of them.
      Log(LogLevel::kError, "the changed configuration holds no pipeline, and the old one stays");
    } else {
      GoOnWith(*std::move(loaded.config));
    }
    return std::move(loaded.files);
  }

  void GoOnWith(Config config) {
    const auto old = current_.Get();
    // As at the start, where it was found right.
    static_cast<void>(ListenAt(options_.listen, config));
    HideInLog(config);
    WarnOfRestart(*old, config);
    tokens_.ReadAgain();
    if (keeper_) keeper_->KeepOnly(NamesOf(config));
    lanes_->Set(config.exporters.senders);
    for (const auto& notice : notices_->KeepOnly(config, edges_.clock->Now())) lanes_->Tell(notice);
    Log(LogLevel::kInfo,
        fmt::format("configuration read again pipelines={}", config.pipelines.size()));
    current_.Set(std::move(config));
    if (coordination_) {
      TakeShare();
    } else {
      if (wake_ups_) wake_ups_->Set(*current_.Get());
      watch_->Reload(*current_.Get());
    }
  }

  static void WarnOfRestart(const Config& old, const Config& now) {
    const HttpConfig a = old.http.value_or(HttpConfig{}), b = now.http.value_or(HttpConfig{});
    const auto tls_files = [](const HttpConfig& http) {
      const http::TlsFiles files = http.tls.value_or(http::TlsFiles{});
      return std::pair(files.certificate, files.key);
    };
    const bool is_http_same = a.address == b.address && a.port == b.port &&
                              a.bearer_tokens_file == b.bearer_tokens_file &&
                              tls_files(a) == tls_files(b);
    if (!is_http_same) Log(LogLevel::kWarning, "changes of 'http' count after a restart");
    if (old.state != now.state) Log(LogLevel::kWarning, "changes of 'state' count after a restart");
    if (old.coordination != now.coordination)
      Log(LogLevel::kWarning, "changes of 'coordination' count after a restart");
    if (old.wake_ups.queues != now.wake_ups.queues)
      Log(LogLevel::kWarning, "changes of 'wake_ups' count after a restart");
    if (old.feed != now.feed) Log(LogLevel::kWarning, "changes of 'feed' count after a restart");
    if (old.mirror != now.mirror)
      Log(LogLevel::kWarning, "changes of 'mirror' count after a restart");
  }

  CurrentConfig current_;
  const ConfigSources& sources_;
  const ServeOptions& options_;
  const std::shared_ptr<EdgeCounts> edge_counts_ = std::make_shared<EdgeCounts>();
  std::atomic<uint64_t> looks_ = 0;
  std::atomic<uint64_t> looks_left_out_ = 0;
  const FreshnessEdges edges_;
  const WallTime began_at_ = edges_.clock->Now();
  StatusLog log_;  // of the watch's thread
  BearerTokens tokens_;
  std::unique_ptr<Coordination> coordination_;  // outlives all who ask what is ours
  std::unique_ptr<StateKeeper> keeper_;
  std::unique_ptr<IncidentNotices> notices_;
  std::unique_ptr<ExportLanes> lanes_;
  std::atomic<const Watch*> watching_ = nullptr;
  std::mutex server_mutex_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<LocalWakeUps> wake_ups_;
  std::unique_ptr<QueueWakeUps> queues_;  // outlives the publisher, which asks it
  std::unique_ptr<Publisher> publisher_;
  size_t feed_series_max_ = 0;
  size_t mirror_series_max_ = 0;
  std::unique_ptr<MirrorRun> mirror_;  // outlives the server, which asks it
  std::shared_ptr<const Config> mirror_config_;
  std::unique_ptr<MirrorSinks> sinks_;
  std::unique_ptr<http::Server> server_;
  std::mutex take_share_mutex_;
  std::mutex share_mutex_;       // inside of take_share_mutex_
  std::set<std::string> share_;  // guarded by share_mutex_: what looks may speak of
};

}  // namespace

Status Serve(Config config, const ConfigSources& sources, const ServeOptions& options,
             const FreshnessEdges& edges) {
  return Daemon(std::move(config), sources, options, edges).Run();
}

}  // namespace tidemark::app
