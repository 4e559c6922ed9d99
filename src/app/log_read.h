/// Reading one log file for the command that shows it.
#pragma once

#include <memory>
#include <string>

#include "app/freshness_run.h"
#include "base/budget.h"
#include "base/error.h"
#include "lake/hudi/log_listing.h"
#include "storage/object_store.h"

namespace tidemark::app {

struct LogReading {
  std::string file;                          ///< as the user wrote it
  std::unique_ptr<const std::string> bytes;  ///< what the listing views
  lake::hudi::LogListing listing;
};

/// `file`: a path or URI. Rows of Parquet blocks are counted where the columnar module can be
/// loaded. Errors are those of the store and of ListLog (message begins with the file);
/// kInvalidArgument: `file` names no file.
Result<LogReading> ReadLog(const std::string& file, const storage::StoreOptions& store,
                           const Budget& budget, const FreshnessEdges& edges);

}  // namespace tidemark::app
