#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lake/hudi/data_file_name.h"
#include "lake/hudi/doubtful_commits_internal.h"
#include "storage/object_key.h"

namespace tidemark::lake::hudi {
namespace {

using storage::NameOf;

/// The write that a name in a table of any version is surely of.
std::optional<std::string> WriterOf(std::string_view name) {
  if (auto base = ParseBaseFileName(name)) return std::move(base->instant);
  return std::nullopt;
}

/// Writes that are neither requested only nor planned for later. None while a rollback is pending.
std::vector<const Instant*> Inflight(const Timeline& timeline, const SliceOptions& options) {
  std::vector<const Instant*> inflight;
  for (const Instant& instant : timeline.instants) {
    const bool is_pending = instant.state != State::kCompleted && !instant.is_archived;
    if (!is_pending) continue;
    if (instant.action == Action::kRollback || instant.action == Action::kRestore) return {};
    const bool is_later = options.as_of && instant.requested > *options.as_of;
    const bool is_write = instant.state == State::kInflight && IsCommitAction(instant.action);
    if (is_write && !is_later) inflight.push_back(&instant);
  }
  return inflight;
}

/// Files of uncommitted writes by the write. Set aside are logs of own writes alone, and base
/// files; a log that several writes append to is named by the slice's, and is set aside with it.
std::map<std::string, std::string, std::less<>> UncommittedFiles(const TableSlices& table,
                                                                 bool has_own_logs) {
  std::map<std::string, std::string, std::less<>> files;
  for (const SetAsideFile& file : table.set_aside) {
    if (file.reason != SetAsideReason::kUncommitted) continue;
    auto writer = WriterOf(NameOf(file.key));
    if (!writer && has_own_logs) {
      if (auto log = ParseLogFileName(NameOf(file.key))) writer = std::move(log->instant);
    }
    if (writer) files.try_emplace(*std::move(writer), file.key);
  }
  return files;
}

/// The compaction whose plan lists a log of each write.
std::map<std::string, std::string, std::less<>> PlannedWrites(const SliceInputs& inputs) {
  std::map<std::string, std::string, std::less<>> writes;
  for (const auto& [compaction, operations] : inputs.plans) {
    for (const CompactionOperation& operation : operations) {
      for (const std::string& file : operation.log_files) {
        if (auto log = ParseLogFileName(NameOf(file)))
          writes.try_emplace(std::move(log->instant), compaction);
      }
    }
  }
  return writes;
}

Result<std::set<std::string, std::less<>>> CompletedInMetadataTable(
    const storage::ObjectStore& store, const Budget& budget) {
  std::set<std::string, std::less<>> completed;
  for (const auto* const folder :
       {".hoodie/metadata/.hoodie/", ".hoodie/metadata/.hoodie/timeline/"}) {
    TRY_ASSIGN(const auto listing, store.List(folder, {}, budget));
    for (const auto& object : listing.objects) {
      auto name = ParseInstantFileName(NameOf(object.key));
      if (name && name->state == State::kCompleted && IsCommitAction(name->action))
        completed.insert(std::move(name->requested));
    }
  }
  return completed;
}

Result<size_t> CountMarkers(const storage::ObjectStore& store, const std::string& instant,
                            const Budget& budget) {
  TRY_ASSIGN(const auto listing, store.List(".hoodie/.temp/" + instant, {}, budget));
  return listing.objects.size() + listing.folders.size();
}

}  // namespace

Status FindDoubtfulCommits(const storage::ObjectStore& store, const TableProperties& properties,
                           const Timeline& timeline, const SliceInputs& inputs,
                           const SliceOptions& options, const TableSlices& table,
                           const Budget& budget, FindingList& findings) {
  const auto inflight = Inflight(timeline, options);
  if (inflight.empty()) return {};
  const bool has_own_logs = properties.version >= kOwnLogsVersion;
  const auto files = UncommittedFiles(table, has_own_logs);
  const auto planned =
      has_own_logs ? PlannedWrites(inputs) : std::map<std::string, std::string, std::less<>>();
  TRY_ASSIGN(const auto completed, CompletedInMetadataTable(store, budget));
  for (const Instant* instant : inflight) {
    TRY(budget.Check());
    const auto plan = planned.find(instant->requested);
    const auto file = files.find(instant->requested);
    std::string why;
    if (plan != planned.end()) {
      why = fmt::format("the plan of a compaction lists a log file of it compaction={}",
                        plan->second);
    } else if (file != files.end()) {
      TRY_ASSIGN(const size_t markers, CountMarkers(store, instant->requested, budget));
      if (markers == 0) {
        why = fmt::format(
            "a file of it is there whose marker is removed, as is done after "
            "completion file={}",
            file->second);
      }
    }
    if (why.empty() && completed.contains(instant->requested)) {
      why = "the metadata table has it as completed, which is written just before";
    }
    if (why.empty()) continue;
    findings.Add("doubtful_commit", instant->file,
                 fmt::format("this write is inflight, so that its rows are not shown, and may have "
                             "been completed and its file lost: {}",
                             why));
  }
  return {};
}

}  // namespace tidemark::lake::hudi
