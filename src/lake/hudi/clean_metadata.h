/// What a clean removed from a table.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "lake/avro/datum.h"

namespace tidemark::lake::hudi {

/// The files that one clean removed, or was about to.
struct CleanMetadata {
  /// Requested time of the oldest commit whose slices it kept whole; empty where its policy counts
  /// file versions.
  std::string earliest_to_retain;
  /// Requested time of the newest commit it had seen completed; empty in old releases.
  std::string last_completed;
  /// Names without folders, ascending, each once; by partition. Deletions that failed are among
  /// them: whoever asks looks whether a file is still there.
  std::map<std::string, std::vector<std::string>> removed;
  /// Partitions that were deleted as a whole, `isPartitionDeleted` or, in a plan,
  /// `partitionsToBeDeleted`; ascending, each once. Old releases leave it empty.
  std::vector<std::string> deleted_partitions{};

  friend bool operator==(const CleanMetadata&, const CleanMetadata&) = default;
};

/// Reads the body of a completed `.clean` (HoodieCleanMetadata in an Avro container), of any
/// release. kCorrupt unless it holds exactly one whole record, an empty body included: no writer
/// leaves one; kUnsupported for an Avro codec or field types we do not read.
Result<CleanMetadata> ParseCleanMetadata(std::string_view body);

/// Reads a HoodieCleanMetadata record, as layout 1 archives it. Errors as ParseCleanMetadata.
Result<CleanMetadata> ReadCleanMetadata(const avro::Datum& record);

/// Reads the body of a `.clean.requested` (HoodieCleanerPlan in an Avro container): what the clean
/// set out to remove. Errors as ParseCleanMetadata.
Result<CleanMetadata> ParseCleanPlan(std::string_view body);

}  // namespace tidemark::lake::hudi
