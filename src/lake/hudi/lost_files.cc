#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lake/hudi/commit_metadata.h"
#include "lake/hudi/lost_files_internal.h"
#include "lake/hudi/written_files.h"

namespace tidemark::lake::hudi {
namespace {

/// From this table version on a log file belongs to one delta commit and is named by it.
constexpr int kOwnLogsVersion = 8;

std::string_view NameOf(std::string_view key) {
  return key.substr(key.rfind('/') + 1);
}

std::string PartitionOf(std::string_view key) {
  const size_t slash = key.rfind('/');
  return std::string(slash == key.npos ? std::string_view() : key.substr(0, slash));
}

class LostFiles {
 public:
  LostFiles(const TableProperties& properties, const SliceInputs& inputs,
            const SliceOptions& options, const TableSlices& table, FindingList& findings)
      : has_own_logs_(properties.version >= kOwnLogsVersion),
        inputs_(inputs),
        options_(options),
        findings_(findings) {
    for (const FileSlice& slice : table.slices) {
      if (slice.base) {
        sizes_.emplace(slice.base->key, slice.base->size);
        auto& newest = newest_bases_[slice.group];
        newest = std::max(newest, std::optional(slice.base->name.instant));
      }
      for (const LogFile& log : slice.logs) sizes_.emplace(log.key, log.size);
      for (const LogFile& log : slice.cdc_logs) sizes_.emplace(log.key, log.size);
    }
    for (const SetAsideFile& file : table.set_aside) set_aside_.insert(file.key);
  }

  void Compare(const std::vector<WrittenFile>& files, const Instant& commit) {
    for (const WrittenFile& file : files) Compare(file, commit);
  }

  /// Once all commits have been compared: a newer base file makes up for what is not there.
  void Report() {
    for (const auto& [path, lost] : lost_bases_) {
      auto& newest = newest_bases_[lost.group];
      newest = std::max(newest, std::optional(lost.instant));
    }
    for (const auto& [path, lost] : lost_bases_)
      if (IsOfLatestSlice(lost)) Missing(path, lost);
    for (const auto& [path, lost] : lost_logs_)
      if (IsOfLatestSlice(lost)) Missing(path, lost);
  }

 private:
  struct Lost {
    FileGroupId group;
    std::string instant;  ///< that decides on which slice the file lies
    std::string commit;
  };

  void Compare(const WrittenFile& file, const Instant& commit) {
    const auto base = ParseBaseFileName(NameOf(file.path));
    const auto log = base ? std::optional<LogFileName>() : ParseLogFileName(NameOf(file.path));
    if (!base && (!log || log->is_cdc || options_.loss_check != LossCheck::kAllFiles)) return;
    FileGroupId group{PartitionOf(file.path), base ? base->file_id : log->file_id};
    if (options_.wants_partition && !options_.wants_partition(group.partition)) return;
    if (inputs_.replaced.contains(group)) return;
    LookBehind(file, commit);
    const auto there = sizes_.find(file.path);
    if (there != sizes_.end()) {
      const bool is_wrong = base ? there->second != file.size : there->second < file.size;
      if (is_wrong && told_.insert(file.path).second) {
        findings_.Add("wrong_size", file.path,
                      fmt::format("the file is not as long as its commit left it size={} "
                                  "committed={} commit={}",
                                  there->second, file.size, commit.requested));
      }
      return;
    }
    if (set_aside_.contains(file.path)) return;
    if (base) {
      lost_bases_.try_emplace(file.path, std::move(group), base->instant, commit.requested);
      return;
    }
    std::string instant =
        has_own_logs_ ? inputs_.instants.CompletionOf(log->instant) : log->instant;
    lost_logs_.try_emplace(file.path, std::move(group), std::move(instant), commit.requested);
  }

  /// What a commit built upon must be part of the table. Nothing else tells a completed commit
  /// whose file is gone from a write that never completed.
  void LookBehind(const WrittenFile& file, const Instant& commit) {
    if (file.previous.empty() || inputs_.instants.IsCommitted(file.previous)) return;
    if (inputs_.instants.IsPendingCompaction(file.previous)) return;
    if (!told_.insert(file.previous).second) return;
    findings_.Add("missing_commit", file.previous,
                  fmt::format("a completed commit built upon this one, which the timeline does not "
                              "have as completed commit={} file={}",
                              commit.requested, file.path));
  }

  bool IsOfLatestSlice(const Lost& lost) const {
    const auto newest = newest_bases_.find(lost.group);
    return newest == newest_bases_.end() || !newest->second || lost.instant >= *newest->second;
  }

  void Missing(const std::string& path, const Lost& lost) {
    findings_.Add(
        "missing_file", path,
        fmt::format("a file that a completed commit wrote is not there commit={}", lost.commit));
  }

  bool has_own_logs_;
  const SliceInputs& inputs_;
  const SliceOptions& options_;
  FindingList& findings_;
  std::unordered_map<std::string_view, uint64_t> sizes_;  // of the files in slices, by key
  std::unordered_set<std::string_view> set_aside_;
  std::map<FileGroupId, std::optional<std::string>> newest_bases_;  // there, or known to be lost
  std::map<std::string, Lost> lost_bases_;
  std::map<std::string, Lost> lost_logs_;
  std::unordered_set<std::string> told_;
};

}  // namespace

Status FindLostFiles(const storage::ObjectStore& store, const TableProperties& properties,
                     const Timeline& timeline, const SliceInputs& inputs,
                     const SliceOptions& options, const TableSlices& table, const Budget& budget,
                     FindingList& findings) {
  LostFiles lost(properties, inputs, options, table, findings);
  for (const Instant& instant : timeline.instants) {
    if (instant.state != State::kCompleted || !IsCommitAction(instant.action)) continue;
    // What is older than the timeline's start is kept for a savepoint alone: what followed it is
    // archived, and would have to be known.
    if (instant.is_archived || instant.requested < inputs.instants.start()) continue;
    if (options.as_of && instant.requested > *options.as_of) continue;
    TRY(budget.Check());
    if (instant.file_size > kCommitBodySizeMax) {
      findings.Add("unreadable_commit", instant.file,
                   fmt::format("commit body is over the bound size={} max={}", instant.file_size,
                               kCommitBodySizeMax));
      continue;
    }
    auto body = store.Read(instant.file, budget);
    // Archived since the timeline was listed.
    if (!body && body.error().kind == ErrorKind::kNotFound) continue;
    if (!body) return std::unexpected(body.error());
    const auto files = ParseWrittenFiles(*std::move(body));
    if (files)
      lost.Compare(*files, instant);
    else
      findings.Add("unreadable_commit", instant.file, files.error().message);
  }
  lost.Report();
  return {};
}

}  // namespace tidemark::lake::hudi
