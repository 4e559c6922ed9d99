#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lake/hudi/commit_metadata.h"
#include "lake/hudi/data_file_name.h"
#include "lake/hudi/lost_files_internal.h"
#include "lake/hudi/written_files.h"
#include "storage/object_key.h"

namespace tidemark::lake::hudi {
namespace {

/// A body still being written is seen whole on a later try.
constexpr int kBodyTries = 3;
/// Files that a finding names.
constexpr size_t kNamedFiles = 5;

using storage::FolderOf;
using storage::NameOf;

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

  /// A commit that does not say what it wrote: what of it is gone nobody can know. `planned` is
  /// what it was going to write, where its inflight file tells.
  void Untold(const Instant& commit, std::vector<PlannedWrite> planned, size_t size) {
    untold_.push_back({&commit, std::move(planned), size});
  }

  /// Once all commits have been compared: not those whose every group has a newer base file.
  void ReportUntold() {
    for (const auto& untold : untold_) {
      const auto is_covered = [&](const PlannedWrite& write) {
        if (options_.wants_partition && !options_.wants_partition(write.partition)) return true;
        if (write.file_id.empty()) return false;
        const FileGroupId group{write.partition, write.file_id};
        const auto newest = newest_bases_.find(group);
        const std::string instant = has_own_logs_
                                        ? inputs_.instants.CompletionOf(untold.commit->requested)
                                        : untold.commit->requested;
        return inputs_.replaced.contains(group) ||
               (newest != newest_bases_.end() && newest->second && *newest->second > instant);
      };
      if (!untold.planned.empty() && std::ranges::all_of(untold.planned, is_covered)) continue;
      Tell(*untold.commit, untold.size);
    }
  }

  void Tell(const Instant& commit, size_t size) {
    findings_.Add("empty_commit", commit.file,
                  fmt::format("a completed commit does not say which files it wrote, so that "
                              "nothing tells whether one is gone size={}",
                              size));
  }

  void Compare(const std::vector<WrittenFile>& files, const Instant& commit) {
    for (const WrittenFile& file : files) Compare(file, commit);
  }

  /// Files of writes that have not completed while later ones have. A base file beneath logs is one
  /// that a later writer saw committed.
  void CompareUnfinished(const TableSlices& table) {
    std::map<std::string, std::vector<std::string_view>> files;  // by instant
    std::map<FileGroupId, std::string> bases;
    for (const SetAsideFile& file : table.set_aside) {
      if (file.reason != SetAsideReason::kUncommitted) continue;
      const auto base = ParseBaseFileName(NameOf(file.key));
      const auto log = base ? std::optional<LogFileName>() : ParseLogFileName(NameOf(file.key));
      const std::string instant = base ? base->instant : log ? log->instant : std::string();
      if (!inputs_.instants.IsUnfinished(instant)) continue;
      files[instant].push_back(file.key);
      if (base) bases.emplace(FileGroupId{file.partition, base->file_id}, instant);
    }
    for (const SetAsideFile& file : table.set_aside) {
      const auto log = ParseLogFileName(NameOf(file.key));
      if (has_own_logs_ || !log) continue;
      const auto base = bases.find({file.partition, log->file_id});
      if (base != bases.end() && base->second == log->instant) BuiltUpon(base->second, file.key);
    }
    for (const FileSlice& slice : table.slices) {
      const auto base = bases.find(slice.group);
      if (!has_own_logs_ || slice.base || slice.logs.empty() || base == bases.end()) continue;
      const LogFile& last = slice.logs.back();
      const bool is_first = newest_bases_.find(slice.group) == newest_bases_.end();
      if (is_first && last.name.instant > base->second) BuiltUpon(base->second, last.key);
    }
    for (const auto& [instant, keys] : files) {
      if (told_.contains(instant)) continue;
      findings_.Add(
          "unfinished_write", std::string(keys.front()),
          fmt::format("a write has not completed, while later ones have: it is under "
                      "way, it failed, or its completed file is lost instant={} files={} "
                      "first={}",
                      instant, keys.size(), fmt::join(keys | std::views::take(kNamedFiles), ",")));
    }
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
  struct UntoldCommit {
    const Instant* commit;
    std::vector<PlannedWrite> planned;
    size_t size;
  };
  struct Lost {
    FileGroupId group;
    std::string instant;  ///< that decides on which slice the file lies
    std::string commit;
  };

  void Compare(const WrittenFile& file, const Instant& commit) {
    const auto base = ParseBaseFileName(NameOf(file.path));
    const auto log = base ? std::optional<LogFileName>() : ParseLogFileName(NameOf(file.path));
    if (!base && (!log || log->is_cdc || options_.loss_check != LossCheck::kAllFiles)) return;
    FileGroupId group{std::string(FolderOf(file.path)), base ? base->file_id : log->file_id};
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

  void BuiltUpon(const std::string& instant, const std::string& log) {
    if (!told_.insert(instant).second) return;
    findings_.Add("missing_commit", instant,
                  fmt::format("a log file lies upon a base file of this write, which the timeline "
                              "does not have as completed file={}",
                              log));
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
  std::vector<UntoldCommit> untold_;
  std::unordered_set<std::string> told_;
};

/// What the commit was going to write; empty where nothing tells.
Result<std::vector<PlannedWrite>> ReadPlanned(const storage::ObjectStore& store,
                                              const Instant& commit, const Budget& budget) {
  const std::string folder = commit.file.substr(0, commit.file.rfind('/') + 1);
  const auto action =
      commit.action == Action::kCommit ? std::string() : fmt::format(".{}", commit.action_name);
  const auto body = store.ReadUpTo(fmt::format("{}{}{}.inflight", folder, commit.requested, action),
                                   kCommitBodySizeMax, budget);
  if (!body) {
    if (body.error().kind != ErrorKind::kNotFound) return std::unexpected(body.error());
    return std::vector<PlannedWrite>();
  }
  auto writes = ParseCommitWrites(*body);
  if (!writes) return std::vector<PlannedWrite>();
  return std::move(writes->planned);
}

struct Body {
  size_t size = 0;
  Result<CommitWrites> writes;
};

/// nullopt: archived since the timeline was listed.
Result<std::optional<Body>> ReadBody(const storage::ObjectStore& store, const std::string& key,
                                     const Budget& budget) {
  for (int next_try = 2;; ++next_try) {
    auto text = store.Read(key, budget);
    if (!text && text.error().kind == ErrorKind::kNotFound) return std::nullopt;
    if (!text) return internal::Pass(text);
    Body body{text->size(), ParseCommitWrites(*std::move(text))};
    const bool is_whole = body.writes && body.writes->is_told;
    if (is_whole || next_try > kBodyTries || !budget.WaitForTry(next_try)) return body;
  }
}

}  // namespace

Status FindLostFiles(const storage::ObjectStore& store, const TableProperties& properties,
                     const Timeline& timeline, const SliceInputs& inputs,
                     const SliceOptions& options, const TableSlices& table, const Budget& budget,
                     FindingList& findings) {
  LostFiles lost(properties, inputs, options, table, findings);
  const auto unreadable = [&](const Instant& instant, std::string message) {
    findings.Add("unreadable_commit", instant.file,
                 fmt::format("nothing tells whether a file that the commit wrote is gone: {}",
                             std::move(message)));
  };
  for (const Instant& instant : timeline.instants) {
    if (instant.state != State::kCompleted || !IsCommitAction(instant.action)) continue;
    // What is older than the timeline's start is kept for a savepoint alone: what followed it is
    // archived, and would have to be known.
    if (instant.is_archived || instant.requested < inputs.instants.start()) continue;
    if (options.as_of && instant.requested > *options.as_of) continue;
    TRY(budget.Check());
    if (instant.file_size > kCommitBodySizeMax) {
      unreadable(instant, fmt::format("its body is over the bound size={} max={}",
                                      instant.file_size, kCommitBodySizeMax));
      continue;
    }
    TRY_ASSIGN(const auto body, ReadBody(store, instant.file, budget));
    if (!body) continue;
    if (!body->writes) {
      unreadable(instant, body->writes.error().message);
    } else if (body->writes->is_told) {
      lost.Compare(body->writes->files, instant);
    } else if (body->size > 0 || instant.action != Action::kReplaceCommit) {
      // Else "empty_replacecommit" says it.
      TRY_ASSIGN(auto planned, ReadPlanned(store, instant, budget));
      lost.Untold(instant, std::move(planned), body->size);
    }
  }
  lost.Report();
  lost.ReportUntold();
  lost.CompareUnfinished(table);
  return {};
}

}  // namespace tidemark::lake::hudi
