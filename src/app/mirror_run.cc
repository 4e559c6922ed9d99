#include "app/mirror_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <mutex>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "feed/kafka_outlet.h"
#include "kafka/client/topic_admin.h"

namespace tidemark::app {

namespace {

using feed::FeedTopics;
using feed::Mirror;
using feed::TableNews;

/// The longest that one round waits for records, and so for the stop signal.
constexpr Milliseconds kRoundWait{100};
constexpr Milliseconds kTopicsWait{10'000};

/// The mirror reads, and makes no topic: while one is missing, its publisher has not begun.
enum class Topics { kFit, kMissing };
Result<Topics> LookAtTopics(const kafka::ClusterOptions& cluster, const FeedTopics& topics,
                            const Budget& budget) {
  TRY_ASSIGN(const auto admin, kafka::client::TopicAdmin::Open(cluster));
  const auto names = TopicNames(topics);
  const auto settings = feed::TopicSettingNames();
  TRY_ASSIGN(const auto found, admin->Describe(names, settings, budget));
  if (!MissingTopics(topics, found).empty()) return Topics::kMissing;
  const auto wrong = JudgeTopics(topics, found);
  if (wrong.empty()) return Topics::kFit;
  return Fail(ErrorKind::kInvalidArgument, fmt::format("{}", fmt::join(wrong, "\n")));
}

class Running final : public MirrorRun {
 public:
  Running(kafka::ClusterOptions cluster, const MirrorConfig& config, HiddenValues hidden,
          const FreshnessEdges& edges)
      : cluster_(std::move(cluster)),
        config_(config),
        hidden_(std::move(hidden)),
        clock_(*edges.clock),
        log_(feed::OpenKafkaLog({.cluster = cluster_, .topics = config.topics})) {}

  ~Running() override {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    if (!mirror_) return;
    if (const auto saved = mirror_->Save(); !saved)
      Log(LogLevel::kWarning, "the mirror was not kept: " + saved.error().message);
  }

  Status Open(const Budget& budget) {
    if (config_.state) {
      auto store = feed::OpenMirrorStore(*config_.state, config_.topics.events);
      if (!store)
        return std::unexpected(config_.state_hidden.Hide(std::move(store).error()));
      store_ = *std::move(store);
    } else {
      Log(LogLevel::kInfo, "the mirror is not kept: its tables are listed after each start");
    }
    auto outlet = feed::OpenKafkaOutlet(cluster_, config_.topics);
    if (!outlet) return std::unexpected(hidden_.Hide(std::move(outlet).error()));
    outlet_ = *std::move(outlet);
    mirror_ = std::make_unique<Mirror>(
        *log_, store_.get(), outlet_.get(), clock_,
        feed::MirrorOptions{.tables = {.limits = {}, .wanted = config_.tables}});
    TRY(mirror_->Open());
    mirror_->SetListener([this](const std::vector<TableNews>& news) {
      const std::lock_guard lock(listener_mutex_);
      if (!listener_) return;
      for (const auto& one : news) listener_(one);
    });
    const auto fits = LookAtTopics(cluster_, config_.topics, budget);
    if (!fits && fits.error().kind == ErrorKind::kInvalidArgument)
      return std::unexpected(hidden_.Hide(fits.error()));
    if (!fits) {
      Log(LogLevel::kWarning,
          "the feed's cluster is waited for: " + hidden_.Hide(fits.error()).message);
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
    return {};
  }

  const feed::MirrorTables& tables() const override { return mirror_->tables(); }
  bool is_ready() const override { return mirror_->is_ready(); }

  metrics::MirrorReport Report() const override {
    const auto counts = tables().counts();
    const auto gaps = tables().VersionGaps();
    metrics::MirrorReport report{
        .applied = static_cast<uint64_t>(counts.applied),
        .gaps = static_cast<uint64_t>(
            counts.relists[static_cast<size_t>(change::RelistReason::kGap)]),
        .mismatches = static_cast<uint64_t>(counts.mismatches),
        .duplicates = static_cast<uint64_t>(counts.repeats),
        .conflicts = static_cast<uint64_t>(counts.conflicts),
        .late = static_cast<uint64_t>(counts.late),
        .dropped = static_cast<uint64_t>(counts.broken + counts.overflows),
        .buried = static_cast<uint64_t>(mirror_->buried()),
        .open_groups = tables().waiting_groups()};
    for (size_t i = 0; i < counts.relists.size(); ++i) {
      const auto reason = RelistReasonName(static_cast<change::RelistReason>(i));
      report.relists[std::string(reason)] = static_cast<uint64_t>(counts.relists[i]);
    }
    for (const auto& table : tables().List("", tables().table_count())) {
      const auto gap = gaps.find(table.uid);
      report.tables.push_back(
          {.table = table.base_path,
           .lag = table.lag,
           .version_gap_seconds =
               gap == gaps.end() ? std::nullopt : std::optional(gap->second),
           .is_waiting = table.waiting_for.has_value()});
    }
    return report;
  }

  void SetListener(std::function<void(const TableNews&)> listener) override {
    const std::lock_guard lock(listener_mutex_);
    listener_ = std::move(listener);
  }

 private:
  void Run(const std::stop_token& stop) {
    Budget budget = Budget::For(std::chrono::hours(24 * 366 * 100), stop);
    budget.retry_delay = kRoundWait;
    budget.tries_max = 2;
    AwaitTopics(budget);
    bool was_ready = false;
    while (!budget.is_stopped()) {
      mirror_->Round(kRoundWait, budget);
      if (was_ready || !mirror_->is_ready()) continue;
      was_ready = true;
      Log(LogLevel::kInfo, fmt::format("mirror is ready tables={}", tables().table_count()));
    }
  }

  /// Until they are there; topics that do not fit are complained about and awaited as well.
  void AwaitTopics(const Budget& budget) {
    std::string complaint;
    while (!budget.is_stopped()) {
      const auto fits = LookAtTopics(cluster_, config_.topics, budget.Within(kTopicsWait));
      if (fits && *fits == Topics::kFit) return;
      std::string why = fits ? "the feed's topics are not there yet" : fits.error().message;
      if (why != complaint) Log(LogLevel::kWarning, hidden_.Hide(why));
      complaint = std::move(why);
      Budget pause = budget;
      pause.retry_delay = Milliseconds(1'000);
      static_cast<void>(pause.WaitForTry(2));
    }
  }

  const kafka::ClusterOptions cluster_;
  const MirrorConfig config_;
  const HiddenValues hidden_;
  const Clock& clock_;
  std::unique_ptr<feed::EventLog> log_;
  std::unique_ptr<feed::MirrorStore> store_;
  std::unique_ptr<feed::MirrorOutlet> outlet_;
  std::unique_ptr<Mirror> mirror_;
  std::mutex listener_mutex_;
  std::function<void(const TableNews&)> listener_;
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<MirrorRun>> MirrorRun::Start(const Config& config,
                                                    const FreshnessEdges& edges,
                                                    const Budget& budget) {
  if (!config.mirror) {
    return Fail(ErrorKind::kInvalidArgument,
                "the configuration has no section 'mirror' (docs/change-feed.md)");
  }
  const auto cluster = config.clusters.find(config.mirror->cluster);
  CHECK(cluster != config.clusters.end(), "the reader of the configuration has looked");
  auto running = std::make_unique<Running>(cluster->second.options, *config.mirror,
                                           cluster->second.hidden, edges);
  TRY(running->Open(budget));
  return std::unique_ptr<MirrorRun>(std::move(running));
}

}  // namespace tidemark::app
