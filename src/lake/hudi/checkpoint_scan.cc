#include "lake/hudi/checkpoint_scan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lake/hudi/checkpoint.h"

namespace tidemark::lake::hudi {
namespace {

bool IsCompletedDelta(const Instant& instant) {
  return instant.state == State::kCompleted && instant.action == Action::kDeltaCommit;
}

CommitPoint MakePoint(const Instant& commit, const CommitReading& reading, const CommitTime& time,
                      int64_t commit_depth) {
  CommitPoint point;
  point.instant = commit.requested;
  point.action = commit.action_name;
  point.completion = commit.completed;
  point.is_archived = commit.is_archived;
  point.commit_depth = commit_depth;
  point.committed_at = time.at;
  point.committed_at_source = time.source;
  point.checkpoint = *reading.checkpoint;
  return point;
}

}  // namespace

bool HasOnlyDeltaCheckpoints(TableType type, const std::vector<Instant>& instants) {
  return type == TableType::kMergeOnRead && std::ranges::any_of(instants, IsCompletedDelta);
}

std::vector<const Instant*> CheckpointCandidates(const std::vector<Instant>& instants,
                                                 bool only_deltas) {
  std::vector<const Instant*> candidates;
  for (auto it = instants.rbegin(); it != instants.rend(); ++it) {
    const bool is_commit = it->state == State::kCompleted && IsCommitAction(it->action);
    if (only_deltas ? IsCompletedDelta(*it) : is_commit) candidates.push_back(&*it);
  }
  return candidates;
}

bool CheckpointScan::IsBoundReached() const {
  return has_found() ? behind_found_count_ > options_.commit_depth_max
                     : passed_count_ > options_.commit_depth_max;
}

bool CheckpointScan::WantsNext() {
  if (!is_over_ && IsBoundReached()) {
    is_over_ = true;
    if (!has_found()) search_.is_depth_exhausted = true;
  }
  return !is_over_;
}

void CheckpointScan::AddFindings(std::vector<Finding> findings) {
  std::ranges::move(findings, std::back_inserter(search_.findings));
}

void CheckpointScan::Show(const Instant& commit, const CommitReading& reading,
                          const CommitTime& time) {
  AddFindings(reading.findings);
  if (has_found()) return ShowForChange(commit, reading, time);
  ++search_.commits_examined;
  if (!reading.is_readable) ++search_.commits_unreadable;
  if (!reading.checkpoint) {
    ++passed_count_;
    return;
  }
  search_.found = MakePoint(commit, reading, time, passed_count_);
  run_oldest_ = search_.found;
  is_run_certain_ = true;
  if (!options_.with_last_change) is_over_ = true;
}

void CheckpointScan::ShowForChange(const Instant& commit, const CommitReading& reading,
                                   const CommitTime& time) {
  ++behind_found_count_;
  if (!reading.is_readable) is_run_certain_ = false;
  if (!reading.checkpoint) return;
  if (IsSamePosition(*reading.checkpoint, search_.found->checkpoint)) {
    run_oldest_ =
        MakePoint(commit, reading, time, search_.found->commit_depth + behind_found_count_);
    // What lies between two commits of one value cannot have changed it.
    is_run_certain_ = true;
    return;
  }
  if (is_run_certain_) search_.last_change = run_oldest_;
  is_over_ = true;
}

void CheckpointScan::NoteGap() {
  is_run_certain_ = false;
  if (!has_found()) ++search_.commits_unreadable;
}

CheckpointSearch CheckpointScan::Finish(bool is_whole) {
  const bool began_here = is_whole && !is_over_ && is_run_certain_;
  if (began_here && options_.with_last_change) search_.last_change = run_oldest_;
  return std::move(search_);
}

}  // namespace tidemark::lake::hudi
