/// From two looks at a table to the groups that subscribers must get. Pure: whoever calls fetches
/// the facts that are asked for.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "change/group.h"
#include "change/instant_effect.h"
#include "change/table_state.h"
#include "lake/finding.h"
#include "lake/hudi/partitions.h"
#include "lake/hudi/properties.h"
#include "lake/hudi/timeline.h"

namespace tidemark::change {

/// What was read of an archive.
struct ArchiveFacts {
  /// Completed instants, oldest first, at least back to the requested time that was asked for.
  std::vector<InstantEffect> instants{};
  bool is_whole = true;  ///< false: an instant that is not here may still have been archived
};

/// One reading of a table. The listing, where there is one, was taken between two equal readings of
/// the timeline.
struct TableFacts {
  lake::hudi::TableProperties properties;
  lake::hudi::Timeline timeline;  ///< the active one
  std::map<InstantKey, InstantEffect> bodies{};
  std::optional<ArchiveFacts> archive{};
  std::optional<lake::hudi::PartitionListing> listing{};
};

/// What is missing from the facts; nothing: the plan can be made.
struct Needs {
  std::vector<lake::hudi::Instant> bodies{};
  std::optional<std::string> archive_from{};  ///< read the archive back to this requested time
  bool listing = false;

  bool is_empty() const { return bodies.empty() && !archive_from && !listing; }
};

/// Where a table that was never seen begins.
enum class Beginning {
  kNow,    ///< with a snapshot of what is there: a publisher
  kStart,  ///< with the oldest instant that can be read, archived ones included
  kActive  ///< with the oldest instant of the active timeline
};

struct PlanOptions {
  Beginning beginning = Beginning::kNow;
  bool with_touches = true;  ///< also partitions that were only written to (R8)
  /// Keys of extra metadata that are passed on; a key that ends in '*' stands for its beginning.
  /// Never the schemas.
  std::vector<std::string> extra_keys{};
  bool wants_snapshot = false;  ///< an operator asked for one
  /// Compare with a listing, and tell where it differs from what was told (source kReconcile).
  bool wants_reconcile = false;
};

/// Groups, and what is known after them. Whoever publishes stores `after` together with the groups,
/// or neither.
struct Plan {
  std::vector<Group> groups{};  ///< in order
  /// To go out after the group whose (epoch, seq) it bears; ascending.
  std::vector<Snapshot> snapshots{};
  TableState after;
  /// A restore is under way: nothing is told before it is complete.
  bool is_paused = false;
  std::vector<lake::Finding> findings{};
};

/// Asked again after each fetch, until nothing is missing: an unreadable body is known only when it
/// was read.
Needs NeedsOf(const TableState& state, const TableFacts& facts, const PlanOptions& options);

/// REQUIRES: NeedsOf(...).is_empty(). Cost: linear in what is new; with a listing in the files.
Plan PlanChanges(const TableState& state, const TableFacts& facts, const PlanOptions& options);

}  // namespace tidemark::change
