/// What rollbacks, restores and savepoints say: which commits a table has lost, and which it keeps.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "lake/avro/datum.h"

namespace tidemark::lake::hudi {

/// An instant as another one names it.
struct NamedInstant {
  std::string requested;
  /// As in the timeline at that time: of a compaction rolled back before it completed it is
  /// "compaction", after it "commit". Empty where an old release named the time alone.
  std::string action_name;

  friend auto operator<=>(const NamedInstant&, const NamedInstant&) = default;
};

/// The commits that one rollback undid, or is about to. That a commit is named does not mean that
/// it had completed: most rollbacks are of failed writes.
struct RollbackMetadata {
  std::vector<NamedInstant> instants;  ///< each once, as written; of a plan one, or none

  friend bool operator==(const RollbackMetadata&, const RollbackMetadata&) = default;
};

/// What one restore undid, or is about to.
struct RestoreMetadata {
  std::vector<NamedInstant> instants;  ///< each once, as written: newest first
  /// Requested time of the savepoint that is restored to. Plans say it (0.14 and later) and
  /// nothing else; empty otherwise.
  std::string savepoint;

  friend bool operator==(const RestoreMetadata&, const RestoreMetadata&) = default;
};

/// Who keeps the commit that has the savepoint's requested time.
struct SavepointMetadata {
  std::string created_by;
  std::string comment;
  WallTime created_at{};
  /// Names without folders of the files kept, as written; by partition.
  std::map<std::string, std::vector<std::string>> files;

  friend bool operator==(const SavepointMetadata&, const SavepointMetadata&) = default;
};

/// They read the body of a completed `.rollback`, `.restore` and `.savepoint` (Avro containers of
/// HoodieRollbackMetadata, HoodieRestoreMetadata, HoodieSavepointMetadata), of any release.
/// kCorrupt unless it holds exactly one whole record, an empty body included: no writer leaves one;
/// kUnsupported for an Avro codec or field types we do not read, and for a record of another kind.
Result<RollbackMetadata> ParseRollbackMetadata(std::string_view body);
Result<RestoreMetadata> ParseRestoreMetadata(std::string_view body);
Result<SavepointMetadata> ParseSavepointMetadata(std::string_view body);

/// The bodies of a `.rollback.requested` and a `.restore.requested` (HoodieRollbackPlan,
/// HoodieRestorePlan). Errors as above.
Result<RollbackMetadata> ParseRollbackPlan(std::string_view body);
Result<RestoreMetadata> ParseRestorePlan(std::string_view body);

/// The records themselves, as layout 1 archives them. Errors as above.
Result<RollbackMetadata> ReadRollbackMetadata(const avro::Datum& record);
Result<SavepointMetadata> ReadSavepointMetadata(const avro::Datum& record);

}  // namespace tidemark::lake::hudi
