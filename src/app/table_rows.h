/// Writing the rows of a table for `tidemark read`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/freshness_run.h"
#include "app/metered_store.h"
#include "base/budget.h"
#include "base/error.h"
#include "columnar/batch_writer.h"
#include "lake/finding.h"
#include "scan/table_scan.h"
#include "storage/object_store.h"

namespace tidemark::app {

struct RowsOptions {
  scan::ScanOptions scan;
  columnar::RowFormat format = columnar::RowFormat::kJsonLines;
  ProgressSink progress = {};
};

struct RowsWritten {
  scan::ScanCounts counts;
  /// Findings that say that rows may be missing or wrong; the others are about the table's state.
  uint64_t damages = 0;
};

/// Opens the table and writes its rows to `sink` in the format asked for, to its end. `findings`
/// are called one at a time. Errors: those of the store, the scan and the sink; the message begins
/// with the table. After an error what went to the sink is worth nothing.
Result<RowsWritten> WriteRows(const std::string& table, const storage::StoreOptions& store,
                              const RowsOptions& options, const columnar::ByteSink& sink,
                              const lake::FindingSink& findings, const Budget& budget,
                              const FreshnessEdges& edges);

/// Whether a finding of this kind means that rows may be missing or wrong.
bool IsDamage(std::string_view kind);

}  // namespace tidemark::app
