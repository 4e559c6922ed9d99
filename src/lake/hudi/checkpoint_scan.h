/// The decisions of the walk to the checkpoint, without its reading: commits are shown newest first
/// until no more are wanted.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lake/commit_point.h"
#include "lake/finding.h"
#include "lake/hudi/commit_time.h"
#include "lake/hudi/table.h"
#include "lake/hudi/timeline.h"

namespace tidemark::lake::hudi {

/// What one commit's body said.
struct CommitReading {
  std::optional<SourceCheckpoint> checkpoint;
  /// A body that could not be read: it may have held any checkpoint.
  bool is_readable = true;
  std::vector<Finding> findings;
};

/// Whether HoodieStreamer looks for checkpoints in deltacommits alone: on a merge-on-read table
/// that has a completed one.
bool HasOnlyDeltaCheckpoints(TableType type, const std::vector<Instant>& instants);

/// The completed commits that may carry a checkpoint, newest first.
std::vector<const Instant*> CheckpointCandidates(const std::vector<Instant>& instants,
                                                 bool only_deltas);

/// One walk. Single-threaded.
class CheckpointScan {
 public:
  explicit CheckpointScan(const CheckpointOptions& options) : options_(options) {}

  /// Whether the next older commit is to be read and shown. Asked only where there is or may be
  /// one: when the bound on depth says no, it is noted as the reason.
  bool WantsNext();
  void Show(const Instant& commit, const CommitReading& reading, const CommitTime& time);

  /// Between the last commit shown and the next one there may be some that cannot be read.
  void NoteGap();
  void AddFindings(std::vector<Finding> findings);

  bool has_found() const { return search_.found.has_value(); }

  /// Ends the walk. `is_whole`: every commit of the table has been shown, so that the oldest of
  /// the run is where the offsets began.
  CheckpointSearch Finish(bool is_whole);

 private:
  bool IsBoundReached() const;
  void ShowForChange(const Instant& commit, const CommitReading& reading, const CommitTime& time);

  CheckpointOptions options_;
  CheckpointSearch search_;
  std::optional<CommitPoint> run_oldest_;
  int64_t passed_count_ = 0;        // commits without a usable checkpoint, newer than `found`
  int64_t behind_found_count_ = 0;  // commits older than `found` that were shown
  bool is_run_certain_ = true;      // false: an unreadable commit may hold the change
  bool is_over_ = false;
};

}  // namespace tidemark::lake::hudi
