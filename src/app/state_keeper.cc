#include "app/state_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "api/freshness_json.h"
#include "base/log.h"

namespace tidemark::app {

namespace {

using freshness::PipelineStatus;
using state::Incident;

constexpr auto kWriteEvery = std::chrono::seconds(1);
constexpr auto kRollUpEvery = std::chrono::minutes(10);

bool IsIncident(PipelineStatus status) {
  return status == PipelineStatus::kWarning || status == PipelineStatus::kBreach ||
         status == PipelineStatus::kUnknown;
}

Remembered RememberedOf(state::PipelineState state) {
  return {.pipeline = std::move(state.pipeline),
          .table = std::move(state.table),
          .memory = std::move(state.memory),
          .last_success = state.last_success};
}

bool IsDecided(PipelineStatus status) {
  return status != PipelineStatus::kUnknown && status != PipelineStatus::kDisabled;
}

}  // namespace

IncidentBook::IncidentBook(std::vector<Incident> open) {
  // Newest first: of two that an earlier process left open, only the newest can still be true.
  for (Incident& incident : open) open_.try_emplace(incident.pipeline, incident);
}

std::vector<Incident> IncidentBook::Note(const freshness::PipelineReport& report) {
  std::vector<Incident> changes;
  const auto open = open_.find(report.pipeline);
  if (open != open_.end()) {
    if (open->second.status == report.status) return changes;
    open->second.closed_at = report.observed_at;
    changes.push_back(std::move(open->second));
    open_.erase(open);
  }
  if (IsIncident(report.status)) {
    const Incident opened{.pipeline = report.pipeline,
                          .status = report.status,
                          .reason = std::string(freshness::ReasonName(report.reason)),
                          .opened_at = report.observed_at,
                          .closed_at = {}};
    open_.insert_or_assign(report.pipeline, opened);
    changes.push_back(opened);
  }
  return changes;
}

std::vector<Incident> IncidentBook::KeepOnly(const std::vector<std::string>& pipelines,
                                             WallTime now) {
  const std::set<std::string_view> kept(pipelines.begin(), pipelines.end());
  std::vector<Incident> closed;
  for (auto& [pipeline, incident] : open_) {
    if (kept.contains(pipeline)) continue;
    incident.closed_at = now;
    closed.push_back(incident);
  }
  std::erase_if(open_, [](const auto& entry) { return entry.second.closed_at.has_value(); });
  return closed;
}

void IncidentBook::Adopt(const std::vector<Incident>& open) {
  std::set<std::string_view> seen;
  for (const Incident& incident : open)
    if (seen.insert(incident.pipeline).second) open_.insert_or_assign(incident.pipeline, incident);
}

std::vector<Incident> IncidentBook::Release(const std::set<std::string>& pipelines) {
  std::vector<Incident> released;
  for (const std::string& pipeline : pipelines) {
    const auto open = open_.find(pipeline);
    if (open == open_.end()) continue;
    released.push_back(std::move(open->second));
    open_.erase(open);
  }
  return released;
}

Result<std::unique_ptr<StateKeeper>> StateKeeper::Open(const state::StateOptions& options,
                                                       const Clock& clock) {
  TRY_ASSIGN(auto store, state::OpenState(options));
  TRY_ASSIGN(auto loaded, store->LoadPipelines());
  auto open = store->ReadOpenIncidents();
  if (!open && open.error().kind == ErrorKind::kCorrupt) {
    Log(LogLevel::kWarning,
        "incidents that were open cannot be read, and are begun anew: " + open.error().message);
    open.emplace();
  }
  if (!open) return std::unexpected(std::move(open).error());
  for (const lake::Finding& finding : loaded.findings) {
    Log(LogLevel::kWarning, fmt::format("what was kept of pipeline '{}' cannot be read, and is "
                                        "begun anew: {}",
                                        finding.place, finding.message));
  }
  return std::make_unique<StateKeeper>(std::move(store), std::move(loaded), *std::move(open), clock,
                                       options.retention);
}

StateKeeper::StateKeeper(std::unique_ptr<state::StateStore> store, state::StateStore::Loaded loaded,
                         std::vector<Incident> open, const Clock& clock,
                         const state::Retention& retention)
    : clock_(clock),
      retention_(retention),
      left_open_(open),
      book_(std::move(open)),
      store_(std::move(store)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {
  for (state::PipelineState& state : loaded.pipelines) {
    last_good_[state.pipeline] = {
        .table = state.table, .at = state.last_success, .report = std::move(state.last_report)};
    remembered_.push_back(RememberedOf(std::move(state)));
  }
}

StateKeeper::~StateKeeper() {
  thread_.request_stop();
  {
    std::unique_lock lock(waiting_mutex_);
    if (!written_.wait_for(lock, kLastWriteMax, [this] { return has_ended_; }))
      give_up_.request_stop();
  }
  thread_.join();
  if (auto written = Write(waiting_, Budget::For(kLastWriteMax)); !written) {
    Log(LogLevel::kWarning, "the last looks were not kept: " + written.error().message);
  }
}

void StateKeeper::Note(const Look& look) {
  const freshness::PipelineReport& report = look.report;
  {
    const std::lock_guard lock(waiting_mutex_);
    if (own_ && !own_->contains(report.pipeline)) return;
  }
  std::unique_lock book_lock(book_mutex_);
  // The last decided report stays: of this process, or of an earlier one.
  LastGood& last_good = last_good_[report.pipeline];
  if (last_good.table != report.table) last_good = {.table = report.table, .at = {}, .report = {}};
  if (IsDecided(report.status)) {
    last_good.at = report.observed_at;
    last_good.report = api::FreshnessJson({&report, 1}, {.generated_at = report.observed_at,
                                                         .duration = report.probe_duration,
                                                         .with_partitions = false});
  }
  state::PipelineState state{.pipeline = report.pipeline,
                             .table = report.table,
                             .memory = look.memory,
                             .last_success = last_good.at,
                             .last_report = last_good.report};
  const std::vector<Incident> changes = book_.Note(report);
  book_lock.unlock();
  const std::lock_guard lock(waiting_mutex_);
  waiting_.incidents.insert(waiting_.incidents.end(), changes.begin(), changes.end());
  waiting_.samples.push_back(
      {.pipeline = report.pipeline,
       .at = report.observed_at,
       .status = report.status,
       .lag_seconds = report.lag ? std::optional(SecondsOf(*report.lag)) : std::nullopt,
       .sla_ratio = report.sla_ratio});
  if (waiting_.samples.size() > kSamplesWaitingMax) {
    waiting_.samples.pop_front();
    ++dropped_;
  }
  waiting_.pipelines.insert_or_assign(report.pipeline, std::move(state));
}

void StateKeeper::KeepOnly(std::vector<std::string> pipelines) {
  std::vector<Incident> closed;
  {
    const std::lock_guard lock(book_mutex_);
    closed = book_.KeepOnly(pipelines, clock_.Now());
  }
  const std::lock_guard lock(waiting_mutex_);
  waiting_.incidents.insert(waiting_.incidents.end(), closed.begin(), closed.end());
  waiting_.kept = std::move(pipelines);
  waiting_.has_kept = true;
}

void StateKeeper::OwnNothing() {
  {
    const std::lock_guard lock(book_mutex_);
    book_ = IncidentBook({});
    last_good_.clear();
  }
  const std::lock_guard lock(waiting_mutex_);
  own_.emplace();
}

Result<StateKeeper::Adopted> StateKeeper::Adopt(const std::set<std::string>& pipelines) {
  {
    const std::lock_guard lock(waiting_mutex_);
    if (own_) own_->insert(pipelines.begin(), pipelines.end());
  }
  TRY_ASSIGN(auto store_lock, ReadStore());
  TRY_ASSIGN(auto loaded, store_->LoadPipelines());
  TRY_ASSIGN(auto open, store_->ReadOpenIncidents());
  store_lock.unlock();
  Adopted adopted;
  std::erase_if(open, [&](const Incident& each) { return !pipelines.contains(each.pipeline); });
  adopted.open = std::move(open);
  const std::lock_guard lock(book_mutex_);
  book_.Adopt(adopted.open);
  for (state::PipelineState& state : loaded.pipelines) {
    if (!pipelines.contains(state.pipeline)) continue;
    last_good_[state.pipeline] = {
        .table = state.table, .at = state.last_success, .report = std::move(state.last_report)};
    adopted.remembered.push_back(RememberedOf(std::move(state)));
  }
  return adopted;
}

void StateKeeper::Release(const std::set<std::string>& pipelines, AtRelease incidents,
                          Milliseconds limit) {
  std::vector<Incident> open;
  {
    const std::lock_guard lock(book_mutex_);
    open = book_.Release(pipelines);
    for (const std::string& pipeline : pipelines) last_good_.erase(pipeline);
  }
  std::unique_lock lock(waiting_mutex_);
  if (incidents == AtRelease::kClose) {
    for (Incident& incident : open) {
      incident.closed_at = clock_.Now();
      waiting_.incidents.push_back(std::move(incident));
    }
  }
  const uint64_t wanted = rounds_begun_ + 1;
  is_hurried_ = true;
  has_waiting_.notify_all();
  written_.wait_for(lock, limit, [&] { return rounds_ended_ >= wanted; });
  if (own_)
    for (const std::string& pipeline : pipelines) own_->erase(pipeline);
  DropForeign();
}

/// With waiting_mutex_ held. Samples stay: they are the past, and overwrite nothing.
void StateKeeper::DropForeign() {
  if (!own_) return;
  std::erase_if(waiting_.pipelines, [&](const auto& each) { return !own_->contains(each.first); });
  std::erase_if(waiting_.incidents,
                [&](const Incident& each) { return !own_->contains(each.pipeline); });
}

void StateKeeper::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Waiting work;
    {
      std::unique_lock lock(waiting_mutex_);
      has_waiting_.wait_for(lock, stop, kWriteEvery, [this] { return is_hurried_; });
      is_hurried_ = false;
      ++rounds_begun_;
      work = std::exchange(waiting_, {});
    }
    const auto written = Write(work, UnlessGivenUp());
    if (!written) PutBack(std::move(work));
    {
      const std::lock_guard lock(waiting_mutex_);
      rounds_ended_ = rounds_begun_;
    }
    written_.notify_all();
    if (written) {
      if (is_failing_) Log(LogLevel::kInfo, "the state can be written again");
      is_failing_ = false;
      RollUp();
      continue;
    }
    // Once, not every second.
    if (!is_failing_) {
      Log(LogLevel::kWarning, "the state cannot be written, and is kept in memory meanwhile: " +
                                  written.error().message);
    }
    is_failing_ = true;
  }
  {
    const std::lock_guard lock(waiting_mutex_);
    has_ended_ = true;
  }
  written_.notify_all();
}

Budget StateKeeper::UnlessGivenUp() const {
  return Budget::For(std::chrono::nanoseconds::max(), give_up_.get_token());
}

Status StateKeeper::Write(const Waiting& work, const Budget& budget) {
  std::vector<state::PipelineState> pipelines;
  for (const auto& [name, state] : work.pipelines) pipelines.push_back(state);
  const std::vector<state::Sample> samples(work.samples.begin(), work.samples.end());
  const std::lock_guard lock(store_mutex_);
  store_->LimitTo(budget);
  TRY(store_->SavePipelines(pipelines));
  TRY(store_->SaveIncidents(work.incidents));
  TRY(store_->AddSamples(samples));
  if (work.has_kept) TRY(store_->KeepOnly(work.kept));
  return {};
}

/// Writing twice is harmless, so all of it is tried again; newer values win.
void StateKeeper::PutBack(Waiting work) {
  const std::lock_guard lock(waiting_mutex_);
  waiting_.pipelines.merge(work.pipelines);
  waiting_.incidents.insert(waiting_.incidents.begin(), work.incidents.begin(),
                            work.incidents.end());
  if (waiting_.incidents.size() > kSamplesWaitingMax) {
    dropped_ += waiting_.incidents.size() - kSamplesWaitingMax;
    waiting_.incidents.erase(waiting_.incidents.begin(),
                             waiting_.incidents.end() - kSamplesWaitingMax);
  }
  waiting_.samples.insert(waiting_.samples.begin(), work.samples.begin(), work.samples.end());
  if (work.has_kept && !waiting_.has_kept) {
    waiting_.kept = std::move(work.kept);
    waiting_.has_kept = true;
  }
  DropForeign();
  while (waiting_.samples.size() > kSamplesWaitingMax) {
    waiting_.samples.pop_front();
    ++dropped_;
  }
  if (dropped_ > 0) {
    Log(LogLevel::kWarning,
        fmt::format("the state could not be written for so long that history has a gap dropped={}",
                    std::exchange(dropped_, 0)));
  }
}

void StateKeeper::RollUp() {
  const MonoTime now = clock_.Mono();
  if (rolled_up_at_ != MonoTime{} && now - rolled_up_at_ < kRollUpEvery) return;
  rolled_up_at_ = now;
  const std::lock_guard lock(store_mutex_);
  store_->LimitTo(UnlessGivenUp());
  if (auto done = store_->RollUp(clock_.Now(), retention_); !done)
    Log(LogLevel::kWarning, "history could not be rolled up: " + done.error().message);
}

Result<std::unique_lock<std::timed_mutex>> StateKeeper::ReadStore() {
  std::unique_lock lock(store_mutex_, kReadMax);
  if (!lock) {
    return Fail(ErrorKind::kUnavailable,
                "the state's database has not answered what was asked of it before");
  }
  store_->LimitTo(UnlessGivenUp().Within(kReadMax));
  return lock;
}

Result<std::vector<state::HistoryPoint>> StateKeeper::History(std::string_view pipeline,
                                                              WallTime from, WallTime to) {
  TRY_ASSIGN(const auto lock, ReadStore());
  return store_->ReadHistory(pipeline, from, to);
}

Result<std::vector<Incident>> StateKeeper::Incidents(std::string_view pipeline, size_t limit) {
  TRY_ASSIGN(const auto lock, ReadStore());
  return store_->ReadIncidents(pipeline, limit);
}

}  // namespace tidemark::app
