/// One key in several file groups: where an index had forgotten it, behind a clustering, or, when
/// keys are unique in the whole table, in several partitions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "merge/key_versions.h"
#include "merge/profile.h"

namespace tidemark::merge {

/// What one group makes of a key by event time, and its deletes that cut off all before them.
struct GroupResult {
  Merged merged;
  std::vector<Version> cuts{};
};

GroupResult ResultOfGroup(const Profile& event_time, const KeyVersions& key);

/// Which group has the last word.
struct AcrossGroups {
  size_t group = 0;
  bool is_live = false;
  Version version;  ///< the row that is right, or the delete
};

/// R1-R7 over the results of several groups, whose commits are ranked together. Of one commit
/// nobody knows which group was written first, and a row that moves is deleted in one and written
/// to another: deletes count as earlier. nullopt: no version anywhere.
std::optional<AcrossGroups> MergeGroups(const Profile& event_time,
                                        std::span<const GroupResult> groups);

}  // namespace tidemark::merge
