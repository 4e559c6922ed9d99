/// What the body of any completed instant says, by the instant's action.
#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include "base/error.h"
#include "lake/hudi/clean_metadata.h"
#include "lake/hudi/commit_stats.h"
#include "lake/hudi/rollback_metadata.h"
#include "lake/hudi/timeline.h"

namespace tidemark::lake::hudi {

/// monostate: an action whose body says nothing of the table's state (indexing, schemacommit,
/// one we do not know), or an archived instant whose record has none.
///
/// A schemacommit is not read: `.hoodie/.schema` is a history for readers of old files. What a
/// reader of the table sees stands in the commit itself, as `extra["latest_schema"]`, and a file of
/// the history counts only once that commit has completed (hudi-format §6); it can stand there for
/// one that never did.
using InstantFacts = std::variant<std::monostate, CommitStats, CleanMetadata, RollbackMetadata,
                                  RestoreMetadata, SavepointMetadata>;

/// Reads the body of a completed instant of the active timeline, or of layout 2's archive, which
/// keeps the same bytes. Errors as the parser of the action; an empty body is one where that says
/// so. Never an error for an action without facts.
Result<InstantFacts> ParseInstantFacts(Action action, std::string body);

/// Bytes of the texts in it, for bounds.
size_t FactsTextSize(const InstantFacts& facts);

}  // namespace tidemark::lake::hudi
