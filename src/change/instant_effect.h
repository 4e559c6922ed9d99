/// What one completed instant did to its table, as far as its body tells.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lake/hudi/instant_facts.h"
#include "lake/hudi/timeline.h"

namespace tidemark::change {

/// What an instant is, whatever its file is called (change-feed §2.3): an upgrade renames files,
/// and a savepoint bears the time of the commit it protects.
struct InstantKey {
  std::string requested{};
  std::string action{};  ///< the word of the completed action: "commit", never "compaction"

  friend auto operator<=>(const InstantKey&, const InstantKey&) = default;
};
InstantKey KeyOf(const lake::hudi::Instant& instant);

/// What a commit did in one partition. File ids are ascending, each once.
struct PartitionWrite {
  std::vector<std::string> written{};    ///< file ids that got a file
  std::vector<std::string> continued{};  ///< of `written`: those that an earlier commit wrote to
  std::vector<std::string> replaced{};   ///< file ids that are no part of the table any more
  int64_t files_added = 0;
  int64_t bytes = 0;  ///< of the files added
};

enum class BodyState {
  kRead,
  kEmpty,       ///< no bytes, as a writer leaves it that dies while completing
  kUnreadable,  ///< see InstantEffect::defect
};

/// The facts of a body, by what they do to partitions and published instants.
struct InstantEffect {
  lake::hudi::Instant instant{};
  BodyState body = BodyState::kRead;
  std::string defect{};  ///< why the body cannot be read; empty otherwise

  // Of a commit, deltacommit or replacecommit.
  std::optional<std::string> operation{};  ///< "UPSERT"
  bool is_compaction = false;
  std::map<std::string, std::string> extra{};          ///< all of `extraMetadata`
  std::map<std::string, PartitionWrite> partitions{};  ///< by path
  /// Inserted and updated, as the writer counted them.
  int64_t records_written = 0;
  int64_t records_deleted = 0;
  bool writes_base_files = false;
  bool writes_logs = false;  ///< which a read-optimised view does not show

  // Of a clean: files removed by partition.
  std::map<std::string, int64_t> removed{};

  // Of a rollback or restore: the instants it undid. The action is empty where the body has none.
  std::vector<InstantKey> undone{};
};

InstantEffect MakeEffect(lake::hudi::Instant instant, lake::hudi::InstantFacts facts);
/// `body`: kEmpty or kUnreadable.
InstantEffect MakeUnreadable(lake::hudi::Instant instant, BodyState body, std::string defect);

}  // namespace tidemark::change
