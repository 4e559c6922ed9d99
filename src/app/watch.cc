#include "app/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <variant>

#include "app/cluster_questions.h"
#include "app/pipelines.h"
#include "app/schedule.h"
#include "app/store_place.h"
#include "app/work_lane.h"
#include "base/check.h"
#include "base/log.h"
#include "freshness/judge.h"
#include "lake/hudi/checkpoint_watch.h"
#include "storage/store_uri.h"

namespace tidemark::app {

namespace {

using freshness::ClusterFacts;
using freshness::PipelineMemory;
using freshness::PipelineReport;
using freshness::PipelineStatus;

/// A table that takes longer does not keep others of its store waiting; so many at a time.
constexpr Milliseconds kTableHeldAfter{1000};
constexpr size_t kTablesHeldMax = 32;
/// Partitions of a cluster that has answered before are waited for so long, or three times as long
/// as it takes of late; then they are asked alone, and get all of the time.
constexpr Milliseconds kProbePatienceMin{3000};

/// The wall clock moved so much against the steady one: somebody set it.
constexpr Milliseconds kClockStepMin{1000};

constexpr auto kClockStepQuiet = std::chrono::seconds(10);  // between two lines about it

/// The longest the deciding thread sleeps: a clock that is not the machine's may run faster.
constexpr Milliseconds kNapMax{250};
/// A turn of the loop that took longer was no turn: the process was stopped, the machine too busy.
constexpr Milliseconds kStandstillMin{5000};

/// A table as one pipeline sees it over many looks. Used by one worker at a time.
struct TableEye {
  std::unique_ptr<storage::ObjectStore> store;
  std::unique_ptr<lake::hudi::CheckpointWatch> watch;
};

/// A pipeline on its way through one look.
struct Passage {
  uint64_t id = 0;  ///< of the entry
  PipelineConfig pipeline;
  StoreConfig store;
  std::shared_ptr<TableEye> eye;
  PipelineMemory memory;
  MonoTime begun{};
  TableReading reading;
};

bool MayPass(ErrorKind kind) {
  return kind == ErrorKind::kUnavailable || kind == ErrorKind::kConflict ||
         kind == ErrorKind::kCancelled;
}

/// What lanes are told apart by. Silent: those that did not answer the last time.
struct ClusterKey {
  std::string name;
  kafka::IsolationLevel isolation{};
  bool is_silent = false;
  auto operator<=>(const ClusterKey&) const = default;
};

/// One client of one cluster. `probe` belongs to the lane's thread, all else to the deciding one.
struct Cluster {
  explicit Cluster(ClusterConfig config_of) : config(std::move(config_of)) {}

  const ClusterConfig config;
  std::unique_ptr<kafka::PartitionProbe> probe;
  std::vector<Passage> waiting;
  std::optional<MonoTime> gathers_until;
  bool is_asking = false;
  Milliseconds back_off{0};
  MonoTime left_alone_until{};
  std::optional<Error> last_error;
  std::optional<Milliseconds> usual;  ///< what it took of late to learn all; nullopt: never yet
  WorkLane lane{1};
};

bool IsSame(const ClusterConfig& a, const ClusterConfig& b) {
  return a.options.bootstrap_servers == b.options.bootstrap_servers &&
         a.options.properties == b.options.properties && a.client == b.client &&
         a.options.record_access == b.options.record_access;
}

/// Whether some partition did not answer although it may the next time.
bool HasSilence(const PipelineReport& report) {
  return std::ranges::any_of(report.partitions, [](const freshness::PartitionVerdict& partition) {
    return partition.verdict == freshness::Verdict::kUnknown && partition.reason &&
           (*partition.reason == kafka::ProbeFaultName(kafka::ProbeFault::kTimeout) ||
            *partition.reason == kafka::ProbeFaultName(kafka::ProbeFault::kNoLeader) ||
            *partition.reason == kafka::ProbeFaultName(kafka::ProbeFault::kBrokerUnreachable));
  });
}

bool HasSilence(const kafka::ProbeResult& result) {
  return std::ranges::any_of(result.partitions, [](const kafka::PartitionFacts& facts) {
    return facts.fault == kafka::ProbeFault::kTimeout ||
           facts.fault == kafka::ProbeFault::kNoLeader ||
           facts.fault == kafka::ProbeFault::kBrokerUnreachable;
  });
}

// What workers and callers tell the deciding thread.
struct TableWasRead {
  Passage passage;
};
struct ClusterWasAsked {
  Cluster* cluster = nullptr;  ///< stays while it is asking
  std::vector<Passage> passages;
  std::vector<ClusterFacts> answers;
  Milliseconds took{0};
};
struct NewConfig {
  Config config;
  std::vector<Remembered> remembered;
};
struct WakeUpCall {
  std::string pipeline;
};
using Message = std::variant<TableWasRead, ClusterWasAsked, NewConfig, WakeUpCall>;

}  // namespace

class Watch::Loop {
 public:
  Loop(Config config, std::vector<Remembered> remembered, const WatchOptions& options,
       FreshnessEdges edges, std::function<void(const Look&)> on_look)
      : options_(options), edges_(std::move(edges)), on_look_(std::move(on_look)) {
    Add(std::move(remembered));
    Take(std::move(config));
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }

  ~Loop() {
    stop_work_.request_stop();
    thread_.request_stop();
    has_message_.notify_all();
    thread_.join();
    clusters_.clear();  // before what their work refers to
    retired_.clear();
    table_lanes_.clear();
  }

  void Post(Message message) {
    {
      const std::lock_guard lock(messages_mutex_);
      messages_.push_back(std::move(message));
    }
    has_message_.notify_all();
  }

  /// Names of the pipelines that `is_meant` says yes to.
  template <class IsMeant>
  std::vector<std::string> NamesWhere(const IsMeant& is_meant) const {
    const std::lock_guard lock(entries_mutex_);
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries_)
      if (is_meant(entry)) names.push_back(name);
    return names;
  }

  std::vector<Watched> Snapshot(bool with_partitions) const {
    const MonoTime mono = edges_.clock->Mono();
    const WallTime now = edges_.clock->Now();
    const std::lock_guard lock(entries_mutex_);
    std::vector<Watched> all;
    for (const std::string& name : order_) {
      if (options_.is_ours && !options_.is_ours(name)) continue;
      const Entry& entry = entries_.at(name);
      Watched& watched = all.emplace_back();
      watched.looks = entry.looks;
      if (entry.report && mono - entry.reported_at <= SilenceLimit(entry.pipeline)) {
        watched.report = *entry.report;
        if (!with_partitions) watched.report.partitions.clear();
      } else {
        watched.report = SilentReportOf(entry, mono, now);
      }
      watched.report.last_success = entry.last_success;
    }
    return all;
  }

 private:
  struct Entry {
    uint64_t id = 0;
    PipelineConfig pipeline;
    StoreConfig store;
    std::string store_place;  ///< whose silence the table shares
    std::string table_place;  ///< ComparableUri
    std::shared_ptr<TableEye> eye = std::make_shared<TableEye>();
    PipelineMemory memory;
    std::shared_ptr<const PipelineReport> report;
    MonoTime reported_at{};
    MonoTime added_at{};
    MonoTime silence_told_at{};
    std::optional<WallTime> last_success;
    uint64_t looks = 0;
    bool is_table_silent = false;
    bool is_cluster_silent = false;
  };

  Milliseconds SilenceLimit(const PipelineConfig& pipeline) const {
    return kSilentIntervals * pipeline.interval + options_.table_deadline + options_.probe_deadline;
  }

  static PipelineReport SilentReportOf(const Entry& entry, MonoTime mono, WallTime now) {
    std::optional<Milliseconds> silent_for;
    if (entry.report)
      silent_for = std::chrono::duration_cast<Milliseconds>(mono - entry.reported_at);
    return freshness::SilentReport(SpecAt(entry.pipeline, now), silent_for, now);
  }

  static bool IsClockStep(Milliseconds step) { return std::chrono::abs(step) >= kClockStepMin; }

  /// Times that were remembered are the clock's of then, in this process or an earlier one.
  void KeepWithClock(PipelineMemory& memory) {
    ClockReading now = ReadClock(*edges_.clock);
    const Milliseconds step = freshness::ClockStepSince(memory, now);
    if (IsClockStep(step)) {
      NoteClockStep(step);
      memory = freshness::AfterClockStep(std::move(memory), step);
    }
    memory.clock = std::move(now);
  }

  void Run(const std::stop_token& stop) {
    MonoTime awake_since = edges_.clock->Mono();
    MonoTime last = awake_since;
    while (!stop.stop_requested()) {
      const MonoTime now = edges_.clock->Mono();
      // This process stood still: that nobody answered meanwhile says nothing.
      if (now - last > kStandstillMin) awake_since = now;
      last = now;
      for (const std::string& name : schedule_.TakeDue(now)) Begin(name, now);
      TellSilences(now, awake_since);
      AskClusters(now);
      for (auto& [key, lane] : table_lanes_)
        lane->RunBesides(now - kTableHeldAfter, kTablesHeldMax);
      std::erase_if(retired_, [](const auto& cluster) { return !cluster->is_asking; });
      for (Message& message : AwaitMessages(now, stop))
        std::visit([this](auto& each) { Take(std::move(each)); }, message);
    }
  }

  std::deque<Message> AwaitMessages(MonoTime now, const std::stop_token& stop) {
    Milliseconds nap = kNapMax;
    const auto shorten = [&](MonoTime until) {
      const auto left = std::chrono::ceil<Milliseconds>(until - now);
      nap = std::clamp(left, Milliseconds(0), nap);
    };
    if (const auto due = schedule_.NextDue()) shorten(*due);
    for (const auto& [key, cluster] : clusters_)
      if (cluster->gathers_until && !cluster->is_asking) shorten(*cluster->gathers_until);
    std::unique_lock lock(messages_mutex_);
    has_message_.wait_for(lock, nap, [&] { return !messages_.empty() || stop.stop_requested(); });
    return std::exchange(messages_, {});
  }

  /// Looks that never end are never judged. Whoever hears of looks hears of their silence, as a
  /// look once an interval, from when Snapshot() has it.
  void TellSilences(MonoTime now, MonoTime awake_since) {
    if (now < silences_checked_at_ + kNapMax) return;
    silences_checked_at_ = now;
    const WallTime wall = edges_.clock->Now();
    std::vector<Look> silences;
    {
      const std::lock_guard lock(entries_mutex_);
      for (auto& [name, entry] : entries_) {
        const PipelineConfig& pipeline = entry.pipeline;
        const MonoTime since = std::max({entry.reported_at, entry.added_at, awake_since});
        if (pipeline.spec.is_disabled || now - since <= SilenceLimit(pipeline)) continue;
        if (now - entry.silence_told_at < pipeline.interval) continue;
        entry.silence_told_at = now;
        silences.push_back({.report = SilentReportOf(entry, now, wall),
                            .memory = entry.memory,
                            .has_ended = false});
      }
    }
    for (const Look& each : silences) on_look_(each);
  }

  // --- a look ---------------------------------------------------------------------------------

  void Begin(const std::string& name, MonoTime now) {
    Passage passage;
    std::string place;
    bool is_silent = false;
    {
      const std::lock_guard lock(entries_mutex_);
      Entry& entry = entries_.at(name);
      place = entry.store_place;
      KeepWithClock(entry.memory);
      entry.memory = freshness::AskedAs(std::move(entry.memory), entry.pipeline.spec.cluster,
                                        entry.pipeline.spec.isolation);
      passage = {.id = entry.id,
                 .pipeline = entry.pipeline,
                 .store = entry.store,
                 .eye = entry.eye,
                 .memory = entry.memory,
                 .begun = now,
                 .reading = {}};
      is_silent = entry.is_table_silent;
    }
    if (passage.pipeline.spec.is_disabled) return Judge(std::move(passage), {});
    const auto key = std::pair(place, is_silent);
    auto& lane = table_lanes_[key];
    if (!lane) lane = std::make_unique<WorkLane>(options_.tables_at_once);
    // std::function wants to be copied.
    auto shared = std::make_shared<Passage>(std::move(passage));
    lane->Add([this, shared] {
      ReadTable(*shared);
      Post(TableWasRead{std::move(*shared)});
    });
  }

  /// On a lane's thread.
  void ReadTable(Passage& passage) const {
    const Budget budget = Budget::For(options_.table_deadline, stop_work_.get_token());
    passage.reading =
        ReadingOf(LookAt(passage, budget), passage.pipeline.spec, passage.store.hidden);
    freshness::FillKnown(passage.memory, passage.reading.question);
  }

  Result<lake::CheckpointSearch> LookAt(const Passage& passage, const Budget& budget) const {
    TableEye& eye = *passage.eye;
    if (!eye.watch) {
      TRY_ASSIGN(eye.store, edges_.open_store(passage.pipeline.spec.table, passage.store.options));
      eye.watch = std::make_unique<lake::hudi::CheckpointWatch>(
          *eye.store, edges_.columns,
          lake::hudi::CheckpointOptions{.commit_depth_max = passage.pipeline.commit_depth_max});
    }
    return eye.watch->Look(budget);
  }

  void Take(TableWasRead message) {
    Passage& passage = message.passage;
    bool is_silent = false;
    {
      const std::lock_guard lock(entries_mutex_);
      Entry* entry = Find(passage);
      if (entry == nullptr) return Drop(passage);
      entry->is_table_silent =
          passage.reading.table.error && MayPass(passage.reading.table.error->kind);
      is_silent = entry->is_cluster_silent;
    }
    if (passage.reading.question.empty()) return Judge(std::move(passage), {});
    const auto& spec = passage.pipeline.spec;
    const auto configured = config_.clusters.find(spec.cluster);
    if (configured == config_.clusters.end()) return Drop(passage);  // reloaded meanwhile
    auto& cluster = clusters_[{spec.cluster, spec.isolation, is_silent}];
    if (!cluster) cluster = std::make_unique<Cluster>(configured->second);
    const MonoTime now = edges_.clock->Mono();
    if (cluster->last_error && now < cluster->left_alone_until) {
      const Error error = *cluster->last_error;
      return Judge(std::move(passage), {.error = error, .result = {}});
    }
    if (!cluster->gathers_until) cluster->gathers_until = now + options_.gathering;
    cluster->waiting.push_back(std::move(passage));
  }

  void AskClusters(MonoTime now) {
    for (auto& [key, cluster] : clusters_) {
      if (cluster->is_asking || !cluster->gathers_until || *cluster->gathers_until > now) continue;
      cluster->is_asking = true;
      cluster->gathers_until.reset();
      auto passages = std::make_shared<std::vector<Passage>>(std::exchange(cluster->waiting, {}));
      const Milliseconds deadline = DeadlineFor(key, *cluster);
      cluster->lane.Add([this, asked = cluster.get(), isolation = key.isolation, deadline,
                         passages] {
        const MonoTime begun = edges_.clock->Mono();
        auto answers = Ask(*asked, isolation, *passages, deadline);
        const auto took = std::chrono::duration_cast<Milliseconds>(edges_.clock->Mono() - begun);
        Post(ClusterWasAsked{asked, std::move(*passages), std::move(answers), took});
      });
    }
  }

  Milliseconds DeadlineFor(const ClusterKey& key, const Cluster& cluster) const {
    if (key.is_silent || !cluster.usual) return options_.probe_deadline;
    return std::min(std::max(3 * *cluster.usual, kProbePatienceMin), options_.probe_deadline);
  }

  /// Only what left nothing open says how long it takes.
  void NoteDuration(const ClusterWasAsked& message) {
    const bool is_open = std::ranges::any_of(message.answers, [](const ClusterFacts& answer) {
      return !answer.result || HasSilence(*answer.result);
    });
    if (is_open) return;
    for (auto& [key, cluster] : clusters_) {
      if (cluster.get() != message.cluster) continue;
      const auto quick = clusters_.find({key.name, key.isolation, false});
      if (quick == clusters_.end()) return;
      auto& usual = quick->second->usual;
      usual = std::max(message.took, usual.value_or(Milliseconds(0)) * 9 / 10);
      return;
    }
  }

  /// On the cluster's thread.
  std::vector<ClusterFacts> Ask(Cluster& cluster, kafka::IsolationLevel isolation,
                                const std::vector<Passage>& passages, Milliseconds deadline) const {
    if (!cluster.probe) {
      auto opened = edges_.open_probe(cluster.config);
      if (!opened) {
        const Error error = cluster.config.hidden.Hide(std::move(opened).error());
        return std::vector<ClusterFacts>(passages.size(),
                                         ClusterFacts{.error = error, .result = {}});
      }
      cluster.probe = *std::move(opened);
    }
    std::vector<ClusterQuestion> questions;
    for (const Passage& passage : passages) questions.push_back(passage.reading.question);
    return AskCluster(*cluster.probe, cluster.config.hidden, isolation, questions,
                      Budget::For(deadline, stop_work_.get_token()));
  }

  void Take(ClusterWasAsked message) {
    Cluster& cluster = *message.cluster;
    cluster.is_asking = false;
    NoteDuration(message);
    const auto failed =
        std::ranges::find_if(message.answers, [](const auto& answer) { return !!answer.error; });
    if (failed == message.answers.end()) {
      cluster.last_error.reset();
      cluster.back_off = Milliseconds(0);
    } else {
      cluster.last_error = failed->error;
      cluster.back_off = std::clamp(2 * cluster.back_off, kBackOffMin, kBackOffMax);
      cluster.left_alone_until = edges_.clock->Mono() + cluster.back_off;
    }
    for (size_t i = 0; i < message.passages.size(); ++i)
      Judge(std::move(message.passages[i]), std::move(message.answers[i]));
  }

  void Judge(Passage passage, ClusterFacts cluster) {
    // Times of two clocks: nothing can be told of them together.
    const Milliseconds step = freshness::ClockStepSince(passage.memory, ReadClock(*edges_.clock));
    if (IsClockStep(step)) return LookAgain(passage, step);
    const WallTime now = cluster.result ? cluster.result->observed_at : edges_.clock->Now();
    const MonoTime mono = edges_.clock->Mono();
    Look look;
    look.report = freshness::JudgePipeline(SpecAt(passage.pipeline, now), passage.reading.table,
                                           cluster, passage.memory, now);
    look.report.observed_at = now;
    look.report.probe_duration = std::chrono::duration_cast<Milliseconds>(mono - passage.begun);
    look.memory = std::move(passage.memory);
    if (cluster.result && passage.reading.table.search && passage.reading.table.search->found) {
      look.memory = freshness::Remember(
          std::move(look.memory), passage.reading.table.search->found->checkpoint, *cluster.result);
    }
    {
      const std::lock_guard lock(entries_mutex_);
      Entry* entry = Find(passage);
      if (entry == nullptr) return Drop(passage);
      entry->memory = look.memory;
      entry->report = std::make_shared<const PipelineReport>(look.report);
      entry->reported_at = mono;
      ++entry->looks;
      if (!passage.reading.question.empty())
        entry->is_cluster_silent =
            HasSilence(look.report) || (cluster.error && MayPass(cluster.error->kind));
      const PipelineStatus status = look.report.status;
      if (status != PipelineStatus::kUnknown && status != PipelineStatus::kDisabled)
        entry->last_success = now;
    }
    look.left_out = schedule_.Done(passage.pipeline.spec.name, mono);
    on_look_(look);
  }

  /// The clock was set during the look.
  void LookAgain(const Passage& passage, Milliseconds step) {
    NoteClockStep(step);
    Drop(passage);
  }

  /// Once a step, not once a pipeline.
  void NoteClockStep(Milliseconds step) {
    const MonoTime mono = edges_.clock->Mono();
    if (mono < clock_step_noted_until_) return;
    clock_step_noted_until_ = mono + kClockStepQuiet;
    Log(LogLevel::kWarning,
        fmt::format(
            "the machine's clock was set by {:+.0f} s; ages of what waits now are bounded by "
            "earlier looks",
            SecondsOf(step)));
  }

  /// Of an entry that was replaced or taken away meanwhile: looked at anew at once.
  void Drop(const Passage& passage) {
    const MonoTime now = edges_.clock->Mono();
    schedule_.WakeUp(passage.pipeline.spec.name, now);
    schedule_.Done(passage.pipeline.spec.name, now);
  }

  Entry* Find(const Passage& passage) {
    const auto found = entries_.find(passage.pipeline.spec.name);
    return found == entries_.end() || found->second.id != passage.id ? nullptr : &found->second;
  }

  // --- configuration --------------------------------------------------------------------------

  void Take(NewConfig message) {
    Add(std::move(message.remembered));
    Take(std::move(message.config));
  }
  void Take(WakeUpCall message) { schedule_.WakeUp(message.pipeline, edges_.clock->Mono()); }

  void Add(std::vector<Remembered> remembered) {
    for (Remembered& each : remembered) {
      std::string name = each.pipeline;
      remembered_.insert_or_assign(std::move(name), std::move(each));
    }
  }

  void Take(Config config) {
    std::map<std::string, Entry, std::less<>> entries;
    std::vector<std::string> order;
    std::vector<Schedule::Entry> plan;
    const StorePlaces places;
    const std::lock_guard lock(entries_mutex_);
    std::vector<std::string> changed;
    for (const PipelineConfig& pipeline : config.pipelines) {
      const std::string& name = pipeline.spec.name;
      const auto known = entries_.find(name);
      if (known != entries_.end() && !IsJudgedAlike(known->second.pipeline, pipeline))
        changed.push_back(name);
      entries.emplace(name, EntryFor(pipeline, StoreFor(config, pipeline.spec.table), places));
      order.push_back(name);
      plan.push_back({name, pipeline.interval});
    }
    entries_ = std::move(entries);
    order_ = std::move(order);
    schedule_.Set(plan, edges_.clock->Mono());
    // What is shown of them was judged by what they were.
    for (const std::string& name : changed) schedule_.WakeUp(name, edges_.clock->Mono());
    RetireClusters(config);
    config_ = std::move(config);
  }

  Entry EntryFor(const PipelineConfig& pipeline, const StoreConfig& store,
                 const StorePlaces& places) {
    Entry entry;
    const auto known = entries_.find(pipeline.spec.name);
    const bool is_same =
        known != entries_.end() && known->second.pipeline.spec.table == pipeline.spec.table;
    const bool is_eye_good = is_same && known->second.store.options == store.options &&
                             known->second.pipeline.commit_depth_max == pipeline.commit_depth_max;
    if (is_same) entry = known->second;
    entry.store_place = places.Of(pipeline.spec.table);
    if (!is_same) {
      entry.table_place = storage::ComparableUri(pipeline.spec.table);
      entry.added_at = edges_.clock->Mono();
      const auto remembered = remembered_.find(pipeline.spec.name);
      if (remembered != remembered_.end() && remembered->second.table == pipeline.spec.table) {
        entry.memory = remembered->second.memory;
        entry.last_success = remembered->second.last_success;
      }
      remembered_.erase(pipeline.spec.name);
    }
    if (!is_eye_good) {
      entry.id = ++last_id_;
      entry.eye = std::make_shared<TableEye>();
    }
    entry.pipeline = pipeline;
    entry.store = store;
    return entry;
  }

  static bool IsJudgedAlike(const PipelineConfig& a, const PipelineConfig& b) {
    return a.spec == b.spec && a.commit_depth_max == b.commit_depth_max &&
           a.maintenance == b.maintenance;
  }

  /// Clients of clusters that are gone, or are reached in another way now, end when they are idle.
  /// What waits for them is asked of the new ones with the next look.
  void RetireClusters(const Config& config) {
    for (auto it = clusters_.begin(); it != clusters_.end();) {
      const auto now = config.clusters.find(it->first.name);
      if (now != config.clusters.end() && IsSame(now->second, it->second->config)) {
        ++it;
        continue;
      }
      for (const Passage& passage : it->second->waiting) Drop(passage);
      it->second->waiting.clear();
      retired_.push_back(std::move(it->second));
      it = clusters_.erase(it);
    }
  }

  const WatchOptions options_;
  const FreshnessEdges edges_;
  const std::function<void(const Look&)> on_look_;
  std::stop_source stop_work_;

  // Of the deciding thread, and of the constructor before it.
  Config config_;
  Schedule schedule_;
  std::map<std::string, Remembered, std::less<>> remembered_;
  std::map<std::pair<std::string, bool>, std::unique_ptr<WorkLane>> table_lanes_;
  std::map<ClusterKey, std::unique_ptr<Cluster>> clusters_;
  std::vector<std::unique_ptr<Cluster>> retired_;
  uint64_t last_id_ = 0;
  MonoTime clock_step_noted_until_{};
  MonoTime silences_checked_at_{};

  mutable std::mutex entries_mutex_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::vector<std::string> order_;

  std::mutex messages_mutex_;
  std::condition_variable has_message_;
  std::deque<Message> messages_;  // at most one a pipeline, and what callers send

  std::jthread thread_;
};

Watch::Watch(Config config, std::vector<Remembered> remembered, const WatchOptions& options,
             FreshnessEdges edges, std::function<void(const Look&)> on_look)
    : loop_(std::make_unique<Loop>(std::move(config), std::move(remembered), options,
                                   std::move(edges), std::move(on_look))) {}

Watch::~Watch() = default;

void Watch::Reload(Config config, std::vector<Remembered> remembered) {
  loop_->Post(NewConfig{std::move(config), std::move(remembered)});
}

bool Watch::WakeUp(std::string_view pipeline) {
  const auto names =
      loop_->NamesWhere([&](const auto& each) { return each.pipeline.spec.name == pipeline; });
  for (const std::string& name : names) loop_->Post(WakeUpCall{name});
  return !names.empty();
}

size_t Watch::WakeUpAt(std::string_view uri) {
  // Whoever tells of a commit may write the place in another way than the configuration.
  const std::string place = storage::ComparableUri(uri);
  const auto names =
      loop_->NamesWhere([&](const auto& each) { return storage::LiesIn(place, each.table_place); });
  for (const std::string& name : names) loop_->Post(WakeUpCall{name});
  return names.size();
}

std::vector<Watched> Watch::Snapshot(bool with_partitions) const {
  return loop_->Snapshot(with_partitions);
}

}  // namespace tidemark::app
