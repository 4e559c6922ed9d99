/// What changed between two schemas of a table (change-feed §4.3).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "change/schema.h"

namespace tidemark::change {

enum class SchemaOp { kDrop, kRename, kAdd, kType, kNullability, kDefault, kComment, kReorder };

/// "DROP", "RENAME", "ADD", "TYPE", "NULLABILITY", "DEFAULT", "COMMENT", "REORDER".
std::string_view SchemaOpName(SchemaOp op);

struct SchemaDiff {
  SchemaOp op = SchemaOp::kAdd;
  /// Of the column in the new schema; in the old one where it was dropped.
  std::string path;
  /// kDrop: its type, and empty. kAdd: empty, and its type. kRename: old and new path. kType:
  /// types. kNullability: "NULL" or "NOT NULL". kDefault: JSON, empty for none. kComment: texts.
  /// kReorder: positions.
  std::string from;
  std::string to;

  friend bool operator==(const SchemaDiff&, const SchemaDiff&) = default;
};

/// Empty exactly when the fingerprints are equal.
///
/// Columns are the same when their ids are, where both schemas have one for every column of the
/// level and they are of one history; else when their names are. So a rename is told with ids
/// only; without it is a drop and an add. Where only `to` has ids, or others, `from` gets those
/// that Hudi gives to columns when an ALTER first asks for them, or again after a writer lost them;
/// if they fit. A struct, array or map that stays one is compared inside, not by its type text; a
/// column that is added or dropped is reported whole, without what is inside of it. Of the columns
/// that stay, the fewest that explain the new order are reported as moved.
///
/// In order, on each level: what was dropped, in the old order; then each column in the new order,
/// its own changes in the order of SchemaOp, and then those inside of it. Deterministic.
std::vector<SchemaDiff> DiffSchemas(const Schema& from, const Schema& to);

}  // namespace tidemark::change
