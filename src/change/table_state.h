/// What the publisher remembers of a table between two readings.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "change/group.h"
#include "change/inventory.h"

namespace tidemark::change {

/// The part that is stored with the events it led to. The cursor is a set of instants and no time:
/// instants complete in any order (change-feed F5).
struct Cursor {
  int64_t epoch = 1;
  int64_t seq = 0;  ///< of the group published last
  std::optional<Previous> previous{};
  /// Published, and in the active timeline when it was last read; with their seq.
  std::map<InstantKey, int64_t> published{};
  /// Requested or inflight when the timeline was last read, as they will be called when complete.
  std::set<InstantKey> pending;
  std::string newest_requested{};  ///< greatest requested time published in this epoch
  /// Everything requested before it is archived: requested time of the oldest active instant.
  std::string floor{};

  Schema schema{};
  int64_t schema_version = 0;
  std::optional<SchemaSource> schema_source{};  ///< the commit it is from; nullopt: the properties
  int64_t partition_count = 0;
  Digest partition_digest{};
  int table_version = 0;
  int layout = 0;
};

/// A cursor without the inventory is one that was read back: the inventory is made anew from a
/// listing when it is needed, and checked against the digest.
struct TableState {
  std::optional<Cursor> cursor{};  ///< nullopt: never seen
  std::optional<Inventory> inventory{};
};

}  // namespace tidemark::change
