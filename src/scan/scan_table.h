/// What the scans of a table's file slices share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/budget.h"
#include "columnar/batch.h"
#include "columnar/row_type.h"
#include "lake/finding.h"
#include "lake/hudi/committed_instants.h"
#include "lake/hudi/properties.h"
#include "merge/profile.h"
#include "scan/file_columns.h"
#include "scan/table_columns.h"
#include "storage/object_store.h"

namespace tidemark::scan {

/// Takes rows in order; its error ends the scan.
using BatchSink = std::function<Status(columnar::Batch batch)>;

/// Rows of one batch that goes out.
inline constexpr size_t kBatchRows = size_t{1} << 15;

/// Borrows the store. Immutable while slices are read; the sink takes findings from any thread.
struct ScanTable {
  const storage::ObjectStore* store = nullptr;
  lake::hudi::TableProperties properties;
  lake::hudi::CommittedInstants instants;
  merge::Profile profile;
  TableColumns columns;
  columnar::RowType type;
  TableColumns::Places places;  ///< of `columns` in `type`
  FileColumns of_files;         ///< how the columns of files differ from these
  uint64_t memory_max = 0;      ///< bytes that the scan of one slice may hold
  lake::FindingSink findings;
  Budget budget;
  /// Of one log block: a larger one is an error. Blocks that are over a part of memory_max are held
  /// one at a time, by all scans of the table together.
  uint64_t block_bytes_max = UINT64_MAX;
  std::shared_ptr<std::mutex> large_block = std::make_shared<std::mutex>();
};

}  // namespace tidemark::scan
