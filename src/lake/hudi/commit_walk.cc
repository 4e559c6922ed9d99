#include "lake/hudi/commit_walk.h"

#include <fmt/core.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lake/hudi/archive.h"
#include "lake/hudi/checkpoint_scan.h"
#include "lake/hudi/commit_reader.h"
#include "lake/hudi/commit_time.h"
#include "lake/hudi/timeline_reader.h"

namespace tidemark::lake::hudi {
namespace {

/// A body still being written is seen whole on the second try.
constexpr int kNewestBodyTries = 2;

/// What one pass over the timeline has to work with.
struct WalkInput {
  const storage::ObjectStore& store;
  const TableProperties& properties;
  const ColumnReaderSource& columns;
  const CheckpointOptions& options;
  const Budget& budget;
};

/// kMoved: a file is gone that the listing had. It was archived, rolled back or merged, and what
/// the listing says about the others is as old, so the walk starts over.
enum class PassEnd { kDone, kMoved };

/// Shows the commits of the active timeline to `scan`.
Result<PassEnd> ScanActive(const WalkInput& input, const Timeline& timeline, CommitReader& reader,
                           CheckpointScan& scan) {
  const auto candidates = CheckpointCandidates(
      timeline.instants, HasOnlyDeltaCheckpoints(input.properties.type, timeline.instants));
  for (const Instant* commit : candidates) {
    if (!scan.WantsNext()) break;
    TRY(input.budget.Check());
    TRY_ASSIGN(const CommitReading* reading,
               reader.Read(*commit, commit == candidates.front() ? kNewestBodyTries : 1));
    if (reading == nullptr) return PassEnd::kMoved;
    scan.Show(*commit, *reading, CommitTimeOf(*commit, timeline.instants, input.properties.zone));
  }
  return PassEnd::kDone;
}

using InstantKey = std::pair<std::string, Action>;

std::set<InstantKey> KeysOf(const Timeline& timeline) {
  std::set<InstantKey> keys;
  for (const Instant& instant : timeline.instants)
    if (instant.state == State::kCompleted) keys.emplace(instant.requested, instant.action);
  return keys;
}

CommitReading ReadingOfArchived(const ArchivedInstant& archived) {
  CommitReading reading = ReadingOf(archived.metadata, archived.instant.file);
  reading.is_readable = archived.defect.empty();
  return reading;
}

/// Only an archive says when a commit of layout 1 completed.
CommitTime TimeOfArchived(const ArchivedInstant& archived, TimelineZone zone) {
  Instant instant = archived.instant;
  if (!instant.completed) instant.completed = archived.transition_time;
  return CommitTimeOf(instant, {}, zone);
}

/// Shows the archived commits that are not in the active timeline any more to `scan`. `is_whole`:
/// every commit of the table has been shown.
Status ShowArchived(const WalkInput& input, const Timeline& timeline, ArchiveWalk& archive,
                    CheckpointScan& scan, bool& is_whole) {
  const auto is_active = KeysOf(timeline);
  bool only_deltas = HasOnlyDeltaCheckpoints(input.properties.type, timeline.instants);
  bool had_whole_archive = true;
  while (true) {
    TRY(input.budget.Check());
    TRY_ASSIGN(const auto archived, archive.Next(input.budget));
    scan.AddFindings(archive.TakeFindings());
    if (had_whole_archive && !archive.is_whole()) scan.NoteGap();
    had_whole_archive = archive.is_whole();
    if (!archived) break;
    const Instant& instant = archived->instant;
    if (instant.state != State::kCompleted || !IsCommitAction(instant.action)) continue;
    if (is_active.contains({instant.requested, instant.action})) continue;
    only_deltas = only_deltas || HasOnlyDeltaCheckpoints(input.properties.type, {instant});
    if (only_deltas && instant.action != Action::kDeltaCommit) continue;
    if (!scan.WantsNext()) return {};
    scan.Show(instant, ReadingOfArchived(*archived),
              TimeOfArchived(*archived, input.properties.zone));
  }
  is_whole = archive.is_whole();
  return {};
}

/// Looks into the archive for what the active timeline did not show.
Result<PassEnd> ScanArchive(const WalkInput& input, const Timeline& timeline, CheckpointScan& scan,
                            bool& is_whole) {
  auto archive = ArchiveWalk::Open(input.store, input.properties, input.columns, {}, input.budget);
  Status shown;
  if (archive) {
    scan.AddFindings(archive->TakeFindings());
    // Without the archive all that matters is whether there is one.
    if (input.options.with_archived)
      shown = ShowArchived(input, timeline, *archive, scan, is_whole);
    else
      is_whole = archive->is_whole() && archive->file_count() == 0;
  } else {
    shown = internal::Pass(archive);
  }
  if (shown) return PassEnd::kDone;
  if (shown.error().kind == ErrorKind::kConflict) return PassEnd::kMoved;
  // A checkpoint in hand is not thrown away because its history cannot be read.
  if (!scan.has_found() || shown.error().kind == ErrorKind::kCancelled)
    return internal::Pass(shown);
  scan.AddFindings(
      {{"unreadable_archive", input.properties.archive_folder, shown.error().message}});
  return PassEnd::kDone;
}

/// One pass over the timeline as one listing shows it; nullopt when it moved.
Result<std::optional<CheckpointSearch>> WalkOnce(const WalkInput& input, CommitReader& reader) {
  TRY_ASSIGN(const Timeline timeline,
             ReadActiveTimeline(input.store, input.properties, input.budget));
  CheckpointScan scan(input.options);
  scan.AddFindings(timeline.findings);
  TRY_ASSIGN(PassEnd end, ScanActive(input, timeline, reader, scan));
  bool is_whole = false;
  if (end == PassEnd::kDone && scan.WantsNext()) {
    TRY_ASSIGN(end, ScanArchive(input, timeline, scan, is_whole));
  }
  if (end == PassEnd::kMoved) return std::nullopt;
  return scan.Finish(is_whole);
}

}  // namespace

Result<CheckpointSearch> WalkToCheckpoint(const storage::ObjectStore& store,
                                          const TableProperties& properties,
                                          const ColumnReaderSource& columns,
                                          const CheckpointOptions& options, const Budget& budget) {
  const WalkInput input{store, properties, columns, options, budget};
  CommitReader reader(store, budget);
  for (int listing = 0; listing <= kRelistMax; ++listing) {
    TRY_ASSIGN(auto search, WalkOnce(input, reader));
    if (search) return *std::move(search);
  }
  // What every listing names and nobody can open is no race: a folder, a pipe, a broken link.
  if (reader.gone_count() == kRelistMax + 1) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("a commit that the timeline lists is not there to read table={} "
                            "listings={}: {}",
                            store.uri(), kRelistMax + 1, reader.gone_message()));
  }
  return Fail(ErrorKind::kConflict,
              fmt::format("the timeline changes faster than it can be read table={} listings={}",
                          store.uri(), kRelistMax + 1));
}

}  // namespace tidemark::lake::hudi
