/// The timeline: which actions were taken on a table, when, and how far each got.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "lake/finding.h"
#include "lake/hudi/properties.h"

namespace tidemark::lake::hudi {

/// Every action a timeline may name. kUnknown keeps its word in Instant::action_name.
enum class Action {
  kCommit,
  kDeltaCommit,
  kReplaceCommit,
  kClustering,
  kCompaction,
  kLogCompaction,
  kClean,
  kRollback,
  kRestore,
  kSavepoint,
  kIndexing,
  kSchemaCommit,
  kUnknown,
};

/// "commit", "deltacommit", …; "unknown" for kUnknown.
std::string_view ActionName(Action action);
/// kUnknown for every other word.
Action ParseAction(std::string_view word);

/// The action a pending one completes as: compaction -> commit, logcompaction -> deltacommit,
/// clustering -> replacecommit; every other is itself.
Action ComparableAction(Action action);

/// Whether a completed instant of this action is a commit: commit, deltacommit, replacecommit. Only
/// these carry commit metadata.
bool IsCommitAction(Action action);

/// How far an instant got. Later is greater.
enum class State { kRequested, kInflight, kCompleted };

/// "REQUESTED", "INFLIGHT", "COMPLETED".
std::string_view StateName(State state);

/// One action on the table. Instants are compared as text, as Hudi does: "20240101000000" <
/// "20240101000000123".
struct Instant {
  std::string requested;  ///< digits; 17, 14, or a special one such as "00000000000000"
  std::optional<std::string>
      completed;  ///< completion time, layout 2 only; nullopt for pending and legacy instants
  Action action =
      Action::kUnknown;     ///< as stored in its highest state: a completed compaction is kCommit
  std::string action_name;  ///< the word in the file name
  State state = State::kRequested;
  bool is_archived = false;
  std::string file;  ///< object key relative to the table of the highest state; the archive's file
                     ///< when archived
  uint64_t file_size = 0;             ///< bytes; of the body when archived
  std::optional<WallTime> file_time;  ///< modification time; nullopt when archived
  /// Modification time of the `.requested` file, which is written right after the instant was
  /// taken; nullopt when there is none or the instant is archived.
  std::optional<WallTime> requested_file_time;
  /// Action of a pending state that differs from the completed one: "compaction" behind a completed
  /// "commit".
  std::optional<Action> planned_as;
  /// Write operation from the commit metadata, "UPSERT"; filled by readers of the metadata only.
  std::optional<std::string> operation;
};

/// What one file name of a timeline folder says; nullopt for what is not an instant (see the
/// patterns in docs/formats/hudi-timeline.md). A word that is no action we know is kUnknown when it
/// may be one of a newer writer; `.crc`, `.tmp` and the like are never.
struct InstantFileName {
  std::string requested;
  std::optional<std::string> completed;
  Action action = Action::kUnknown;
  std::string action_name;
  State state = State::kCompleted;

  friend bool operator==(const InstantFileName&, const InstantFileName&) = default;
};
std::optional<InstantFileName> ParseInstantFileName(std::string_view name);

/// The moment an instant names if its zone is UTC: 17 or 14 digits (a 14-digit one is padded with
/// 999 ms, longer ones are cut to 17, as Hudi does). nullopt for special instants and impossible
/// dates.
std::optional<WallTime> InstantToWallTime(std::string_view instant);

struct Timeline {
  std::vector<Instant>
      instants;  ///< by requested time (as text), then action, then state; oldest first
  /// Files of the folder that are no instants, `.crc` sidecars and folders included. Not an error.
  size_t ignored_files = 0;
  std::vector<Finding> findings;
};

}  // namespace tidemark::lake::hudi
