#include "lake/hudi/commit_walk.h"

#include <fmt/core.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "lake/hudi/checkpoint.h"
#include "lake/hudi/checkpoint_scan.h"
#include "lake/hudi/commit_metadata.h"
#include "lake/hudi/commit_time.h"
#include "lake/hudi/timeline_reader.h"

namespace tidemark::lake::hudi {
namespace {

bool IsResetKey(std::string_view key) {
  return key == kStreamerResetKeyV1 || key == kStreamerResetKeyV2;
}

CommitReading ReadingOf(const CommitMetadata& metadata, const std::string& place) {
  CommitReading reading;
  reading.checkpoint = CheckpointOf(metadata.extra);
  if (!reading.checkpoint) return reading;
  const SourceCheckpoint& checkpoint = *reading.checkpoint;
  if (!checkpoint.defect.empty()) {
    reading.findings.push_back({"unreadable_checkpoint", place,
                                fmt::format("{} key={}", checkpoint.defect, checkpoint.key)});
  }
  if (IsResetKey(checkpoint.key)) {
    reading.findings.push_back(
        {"reset_checkpoint_only", place,
         fmt::format("the commit holds where the streamer was told to start and not how far it "
                     "got key={}",
                     checkpoint.key)});
  }
  return reading;
}

/// Reads commit bodies, each file once however often the timeline is listed.
class CommitReader {
 public:
  CommitReader(const storage::ObjectStore& store, const Budget& budget)
      : store_(store), budget_(budget) {}

  /// nullptr when the file is gone. `tries_max`: how often a damaged body is read again, in case
  /// its writer was caught in the act.
  Result<const CommitReading*> Read(const Instant& commit, int tries_max) {
    const auto known = by_file_.find(commit.file);
    if (known != by_file_.end()) return &known->second;
    if (commit.file_size > kCommitBodySizeMax)
      return Keep(commit, Unreadable(commit, "oversized_commit",
                                     fmt::format("commit body is over the bound size={} max={}",
                                                 commit.file_size, kCommitBodySizeMax)));
    for (int next_try = 2;; ++next_try) {
      auto body = store_.Read(commit.file, budget_);
      if (!body && body.error().kind == ErrorKind::kNotFound) return nullptr;
      if (!body) return internal::Pass(body);
      const bool is_empty = body->empty();
      auto metadata = ParseCommitMetadata(*std::move(body));
      if (metadata) {
        auto reading = ReadingOf(*metadata, commit.file);
        if (is_empty)
          reading.findings.push_back(
              {"empty_commit", commit.file,
               "the commit's file is empty, as a writer leaves it that dies while completing"});
        return Keep(commit, std::move(reading));
      }
      if (next_try > tries_max || !budget_.WaitForTry(next_try))
        return Keep(commit, Unreadable(commit, "unreadable_commit", metadata.error().message));
    }
  }

 private:
  static CommitReading Unreadable(const Instant& commit, std::string kind, std::string message) {
    CommitReading reading;
    reading.is_readable = false;
    reading.findings.push_back({std::move(kind), commit.file, std::move(message)});
    return reading;
  }
  const CommitReading* Keep(const Instant& commit, CommitReading reading) {
    return &by_file_.insert_or_assign(commit.file, std::move(reading)).first->second;
  }

  const storage::ObjectStore& store_;
  const Budget& budget_;
  std::map<std::string, CommitReading> by_file_;
};

/// A body still being written is seen whole on the second try.
constexpr int kNewestBodyTries = 2;

enum class ScanEnd { kWhole, kVanished };

/// Shows the commits of the active timeline to `scan`; kVanished when one is gone that the listing
/// had.
Result<ScanEnd> ScanActive(const Timeline& timeline, const TableProperties& properties,
                           CommitReader& reader, CheckpointScan& scan, const Budget& budget) {
  const auto candidates = CheckpointCandidates(
      timeline.instants, HasOnlyDeltaCheckpoints(properties.type, timeline.instants));
  for (const Instant* commit : candidates) {
    if (!scan.WantsNext()) break;
    TRY(budget.Check());
    TRY_ASSIGN(const CommitReading* reading,
               reader.Read(*commit, commit == candidates.front() ? kNewestBodyTries : 1));
    if (reading == nullptr) return ScanEnd::kVanished;
    scan.Show(*commit, *reading, CommitTimeOf(*commit, timeline.instants, properties.zone));
  }
  return ScanEnd::kWhole;
}

}  // namespace

Result<CheckpointSearch> WalkToCheckpoint(const storage::ObjectStore& store,
                                          const TableProperties& properties,
                                          const ColumnReaderSource& columns,
                                          const CheckpointOptions& options, const Budget& budget) {
  static_cast<void>(columns);
  CommitReader reader(store, budget);
  for (int listing = 0; listing <= kRelistMax; ++listing) {
    TRY_ASSIGN(const Timeline timeline, ReadActiveTimeline(store, properties, budget));
    CheckpointScan scan(options);
    TRY_ASSIGN(const ScanEnd end, ScanActive(timeline, properties, reader, scan, budget));
    // A commit that is gone was archived or rolled back. What the listing says about the others is
    // as old, so the walk starts over.
    if (end == ScanEnd::kVanished) continue;
    bool is_whole = false;
    if (!scan.is_over()) {
      TRY_ASSIGN(const storage::Listing archive, store.List(properties.archive_folder, {}, budget));
      is_whole = archive.objects.empty();
    }
    // Older commits may be in the archive. At the bound that is not looked into.
    if (!scan.has_found() && options.with_archived) static_cast<void>(scan.WantsNext());
    CheckpointSearch search = scan.Finish(is_whole);
    search.findings.insert(search.findings.begin(), timeline.findings.begin(),
                           timeline.findings.end());
    return search;
  }
  return Fail(ErrorKind::kConflict,
              fmt::format("the timeline changes faster than it can be read table={} listings={}",
                          store.uri(), kRelistMax + 1));
}

}  // namespace tidemark::lake::hudi
