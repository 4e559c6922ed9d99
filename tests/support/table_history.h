/// A Hudi table in small whose history is made up step by step: what a reader of it sees (by the
/// written rules, from its files and the words of its commits), and what a publisher would read of
/// it. For tests that compare the two.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "change/planner.h"

namespace tidemark::support {

class TableHistory {
 public:
  /// A number below `below`.
  using Draw = std::function<int(int below)>;
  using Group = std::pair<std::string, std::string>;  // partition, file id

  /// One action on the table.
  struct Commit {
    std::string requested{};
    std::string action{};     // as it is called when it is complete
    std::string operation{};  // of a commit
    bool is_completed = false;
    bool is_archived = false;
    change::BodyState body = change::BodyState::kRead;
    int64_t completed_at = 0;  // seconds
    std::vector<Group> written{};
    std::vector<Group> replaced{};
    std::string column{};  // of its schema; empty: it has none
    std::vector<change::InstantKey> undone{};
    std::optional<lake::hudi::Action> planned_as{};
  };

  explicit TableHistory(int version) { SetVersion(version); }

  // --- Steps. Each draws what it needs. ---

  void Write(const Draw& draw, bool completes);
  /// A compaction rewrites groups as they are, and repeats the schema of when it was planned.
  void Compact(const Draw& draw, bool completes);

  /// insert_overwrite, delete_partition or clustering of one partition.
  void Overwrite(const Draw& draw, bool completes);

  void WriteNothing(change::BodyState body);

  void CompleteOne(const Draw& draw);

  void RollBackPending(const Draw& draw);

  /// The newest completed commit is taken back, as an operator may.
  void RollBackCompleted(const Draw& draw);

  void Save();

  /// Everything requested after the savepoint goes. In two steps: a reader may come between.
  void BeginRestore();
  void EndRestore();

  /// Files of groups that were replaced are removed, but for those that a savepoint still needs.
  void Clean();

  /// Moves the oldest `count` completed commits to the archive, as far as Hudi would: never past
  /// one that is pending, a savepoint, or a replacecommit whose files are not cleaned.
  void Archive(int count, bool is_readable);

  void Upgrade();

  void Recreate();

  // --- What a reader sees: the oracle ---

  /// Partitions with a file group that a completed commit wrote to and none replaced.
  std::set<std::string> Partitions() const;

  /// The column of the schema that readers take: that of the completed commit requested last which
  /// may change it, or of the last one of all while there is none; empty: none.
  std::string Column() const;

  bool is_restoring() const { return is_restoring_; }

  // --- What a publisher reads ---

  change::TableFacts Facts() const;

  /// What NeedsOf() may ask for.
  change::InstantEffect Body(const change::InstantKey& key) const;
  change::ArchiveFacts ArchiveFrom(const std::string& from) const;
  lake::hudi::PartitionListing Listing() const;

  std::string Describe() const;

 private:
  struct File {
    std::string path{};
    std::string id{};
    std::string commit{};
  };

  static bool IsCommit(const Commit& commit);

  void SetVersion(int version);

  static std::string TimeText(int64_t seconds);
  static WallTime TimeOf(int64_t seconds);

  Commit& Begin(const std::string& action, const std::string& operation);
  void Finish(Commit& commit, bool completes);
  void Remove(const std::string& requested);

  bool IsVisible(const std::string& requested) const;
  bool HasInstant(const std::string& requested, const std::string& action) const;
  /// By which replacecommit; the newest.
  std::map<Group, std::string> Replaced() const;
  std::vector<Group> AllGroups() const;
  std::vector<Group> GroupsIn(const std::string& path) const;
  static bool TellsSchema(const Commit& commit);
  /// Another active commit tells a schema. Writers keep tens of commits: there always is one.
  bool HasSchemaWithout(const Commit& gone) const;
  bool IsCleaned(const Commit& commit) const;
  bool IsAllCleaned(const Commit& commit) const;
  std::vector<Commit*> Pending();
  /// By requested time.
  std::vector<Commit*> ActiveCompleted();

  static std::string AnyPath(const Draw& draw);
  static std::string AnyColumn(const Draw& draw);
  std::string NewId();

  lake::hudi::Instant InstantOf(const Commit& commit) const;

  change::InstantEffect EffectOf(const Commit& commit) const;

  lake::hudi::TableProperties properties_;
  std::vector<Commit> commits_;  // in the order of their beginning
  std::vector<File> files_;
  std::map<std::string, std::map<std::string, int64_t>> removed_;
  std::set<Group> cleaned_;
  std::set<std::string> lost_;  // requested times of commits in an archive that cannot be read
  std::string savepoint_;
  std::string column_ = "c";  // of the commit that completed last
  bool is_restoring_ = false;
  bool is_archive_whole_ = true;
  int64_t now_ = 0;
  int ids_ = 0;
};

}  // namespace tidemark::support
