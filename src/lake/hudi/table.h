/// A Hudi table as its `.hoodie` folder and the names of its files describe it: properties,
/// instants, checkpoints, file slices. No data file is read here.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "lake/column_reader.h"
#include "lake/commit_point.h"
#include "lake/hudi/file_slices.h"
#include "lake/hudi/properties.h"
#include "lake/hudi/timeline.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

struct TimelineOptions {
  /// Read the archived instants as well. Cost: the archive's files, which may be many.
  bool with_archived = false;
};

struct CheckpointOptions {
  /// Completed commits without a usable checkpoint that may be passed over before the walk gives
  /// up. >= 0.
  int64_t commit_depth_max = 100;
  /// Walk on into the archived timeline when the active one has no checkpoint, or no end of the
  /// run.
  bool with_archived = true;
  /// Also look for the commit that last changed the offsets. Costs one read per commit of the
  /// unchanged run, and files of the archive when the run goes back so far.
  bool with_last_change = true;
};

/// One reading of one table. Holds the store by reference (it must outlive the table) and nothing
/// else that changes: every method reads anew. Any thread.
class Table {
 public:
  /// Reads `.hoodie/hoodie.properties` (or its backup while an update is under way). kNotFound when
  /// there is no Hudi table under the store's root, kUnsupported for a table version over 9,
  /// kCorrupt for unreadable properties.
  static Result<Table> Open(const storage::ObjectStore& store, ColumnReaderSource columns,
                            const Budget& budget);

  const TableProperties& properties() const { return properties_; }

  /// All instants, oldest first. Cost: one listing of the timeline folder; with the archive also
  /// its files.
  Result<Timeline> ReadTimeline(const TimelineOptions& options, const Budget& budget) const;

  /// Walks the completed commits back, newest first, to the newest usable checkpoint, as
  /// HoodieStreamer does: on a merge-on-read table only deltacommits count as soon as there is one,
  /// and what does not count is not among the commits passed over either. Where ours differs:
  /// docs/decisions/0005-which-checkpoint-counts.md.
  ///
  /// Findings: "unreadable_commit" (the walk goes on, the commit counts as passed over),
  /// "empty_commit", "oversized_commit", "unreadable_checkpoint" (found, see
  /// SourceCheckpoint::defect), "reset_checkpoint_only", and those of the timeline. kConflict when
  /// the timeline changes faster than it can be read, kCorrupt when it lists a commit that is never
  /// there to read (a folder, a broken link). Cost: one listing and one read per commit
  /// looked at; the archive's files when the walk gets there.
  Result<CheckpointSearch> FindCheckpoint(const CheckpointOptions& options,
                                          const Budget& budget) const;

  /// The file slices of the table as its timeline shows it now. Writers may go on meanwhile: what
  /// they commit later is not seen, and when they clean, roll back or restore under the listing it
  /// is done anew; kConflict when they do not stop. Findings also of the timeline, and
  /// "torn_properties". Other errors and the cost as hudi's ReadFileSlices, and two listings of the
  /// timeline.
  Result<TableSlices> ReadFileSlices(const SliceOptions& options, const Budget& budget) const;

  /// Fills `operation` of the completed commits among `instants` that have none yet; archived ones
  /// are left alone. Gives the findings ("unreadable_commit", "oversized_commit"). A commit that
  /// has gone away meanwhile stays without. Cost: one read per commit.
  Result<std::vector<Finding>> ReadOperations(std::span<Instant> instants,
                                              const Budget& budget) const;

 private:
  Table(const storage::ObjectStore& store, ColumnReaderSource columns, TableProperties properties)
      : store_(&store), columns_(std::move(columns)), properties_(std::move(properties)) {}

  const storage::ObjectStore* store_;
  ColumnReaderSource columns_;
  TableProperties properties_;
};

}  // namespace tidemark::lake::hudi
