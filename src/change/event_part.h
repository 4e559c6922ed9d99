/// One event of the feed as a subscriber takes it (change-feed §4.3): a part of a group, or a page
/// of a snapshot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "change/group.h"

namespace tidemark::change {

/// A list of partitions out of a table's whole state.
struct SnapshotPage {
  std::optional<Schema> schema{};  ///< on the first page only
  std::vector<std::string> partitions{};

  friend bool operator==(const SnapshotPage&, const SnapshotPage&) = default;
};

struct EventPart {
  std::string uid{};
  std::string table_id{};
  std::string base_path{};
  /// What all parts of the group say alike, and of its details the one that this part brings. Of a
  /// page: `seq` is what the snapshot is as of.
  Group group{};
  std::optional<SnapshotPage> page{};
  size_t index = 0;
  size_t count = 1;
  Digest group_digest{};  ///< of the details of all parts, see DigestOfDetails
  std::string detail{};   ///< this part's, byte for byte as it came
  // Of the whole event, to know a repeat from a part that says something else under the same id.
  uint64_t body_hash = 0;
  size_t body_size = 0;
};

/// What proves that the parts at hand are those of one group and all of them: over the texts of
/// `changeDetail` in the order of the parts, each behind its length, so that no two lists have one
/// text.
Digest DigestOfDetails(std::span<const std::string_view> details);

}  // namespace tidemark::change
