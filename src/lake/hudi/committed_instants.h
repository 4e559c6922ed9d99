/// Which instants count for a table's files.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lake/hudi/timeline.h"

namespace tidemark::lake::hudi {

/// What became of the write that a file or a log block names.
enum class WriteFate {
  kCommitted,  ///< completed, in the active timeline or in what was read of the archive
  /// In neither, and older than the active timeline: archived before anybody looked. Readers take
  /// it for committed.
  kBeforeStart,
  kPending,  ///< requested or inflight: its files may be half written
  kLater,    ///< requested after as_of
  kAbsent,   ///< rolled back, never begun, or no instant at all
};

/// The writes of one timeline as readers of files see them: by requested time alone. A value.
class CommittedInstants {
 public:
  CommittedInstants() = default;
  /// `timeline`: the active one, or with archived instants as well. Only instants requested at or
  /// before `as_of` count; nullopt: all.
  explicit CommittedInstants(const Timeline& timeline,
                             std::optional<std::string> as_of = std::nullopt);

  /// Adds completed writes that were found in the archive afterwards.
  void AddArchived(std::span<const Instant> instants);

  /// As Hudi, a time that ends in 999 also stands for the one without it: a 14-digit instant that
  /// was padded.
  WriteFate FateOf(std::string_view instant) const;
  bool IsCommitted(std::string_view instant) const {
    const auto fate = FateOf(instant);
    return fate == WriteFate::kCommitted || fate == WriteFate::kBeforeStart;
  }
  /// Completion time of a committed write in layout 2; where nothing tells it, its requested time,
  /// as Hudi takes it.
  std::string CompletionOf(std::string_view instant) const;

  bool IsPendingCompaction(std::string_view instant) const;
  /// A requested or inflight commit or delta commit, no planned action, although a later write has
  /// completed: it is under way beside others, it failed, or its completed file is lost.
  bool IsUnfinished(std::string_view instant) const;
  /// Of compactions that are requested or inflight; ascending.
  const std::set<std::string, std::less<>>& pending_compactions() const {
    return pending_compactions_;
  }
  /// Requested time of the newest completed write at or before as_of; empty without one. A reader
  /// of the latest state reads as of it.
  const std::string& newest() const { return newest_; }
  /// As given; nullopt: the latest.
  const std::optional<std::string>& as_of() const { return as_of_; }
  /// Requested time of the oldest write of the active timeline; empty without one. What is older
  /// has been archived.
  const std::string& start() const { return start_; }

 private:
  std::map<std::string, std::string, std::less<>> completed_;  // requested -> completion or ""
  std::set<std::string, std::less<>> pending_;
  std::set<std::string, std::less<>> pending_compactions_;
  std::set<std::string, std::less<>> planned_;  // pending, and planned beside the writes
  std::optional<std::string> as_of_;
  std::string newest_;
  std::string start_;
};

}  // namespace tidemark::lake::hudi
