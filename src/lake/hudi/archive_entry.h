/// One archived instant, from the record that either layout keeps of it.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "lake/avro/datum.h"
#include "lake/hudi/clean_metadata.h"
#include "lake/hudi/commit_metadata.h"
#include "lake/hudi/instant_facts.h"
#include "lake/hudi/timeline.h"

namespace tidemark::lake::hudi {

struct ArchiveOptions {
  /// false: `metadata.extra` stays empty, for a caller that only lists instants.
  bool with_extra = true;
  /// Read what completed cleans removed.
  bool with_cleans = false;
  /// Read `facts`.
  bool with_facts = false;
};

/// An instant of an archive with what its record says about its commit.
struct ArchivedInstant {
  /// `file` is the archive's file; `file_size` that of the record in layout 1 and of the commit's
  /// body in layout 2; `operation` is filled.
  Instant instant;
  /// Of a completed commit, deltacommit or replacecommit. Without the table schemas ("schema",
  /// "latest_schema"), which every commit repeats.
  CommitMetadata metadata;
  /// false: it is no completed commit, or its body was empty, or see `defect`.
  bool has_metadata = false;
  /// Of a completed clean, where asked for.
  std::optional<CleanMetadata> clean;
  /// Of a completed instant, where asked for; monostate where the record has no body. A commit's
  /// have the table schemas too. Layout 1 has no place for the body of a restore.
  InstantFacts facts;
  /// Why the commit's metadata cannot be read: it may have held any checkpoint; or what was asked
  /// for of another instant. Empty otherwise.
  std::string defect;
  /// When the state was reached, as an instant in the table's zone; layout 1 only, and not in old
  /// releases.
  std::optional<std::string> transition_time;
};

/// Reads a HoodieArchivedMetaEntry of layout 1. `size`: its bytes. kCorrupt when the record is
/// damaged or of another size, or has no time, action or known state; kUnsupported when it is of
/// another type.
Result<ArchivedInstant> ReadArchivedEntry(const avro::Datum& entry, size_t size,
                                          const ArchiveOptions& options);

/// The columns of layout 2 that ReadHistoryRow takes, in its order.
inline constexpr std::array<std::string_view, 4> kHistoryColumns = {"instantTime", "completionTime",
                                                                    "action", "metadata"};

/// Reads a row of layout 2. kCorrupt when it has no time or no action. REQUIRES: a row of
/// kHistoryColumns.
Result<ArchivedInstant> ReadHistoryRow(std::span<const std::optional<std::string_view>> row,
                                       const ArchiveOptions& options);

/// Makes one of two records of the same instant: the higher state counts, then the later completion
/// time; metadata that only the other has is kept.
void MergeArchived(ArchivedInstant& instant, ArchivedInstant other);

}  // namespace tidemark::lake::hudi
