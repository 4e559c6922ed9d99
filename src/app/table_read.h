/// Reading one table for the commands that show it.
#pragma once

#include <string>

#include "app/freshness_run.h"
#include "base/budget.h"
#include "base/error.h"
#include "lake/commit_point.h"
#include "lake/hudi/table.h"
#include "storage/object_store.h"

namespace tidemark::app {

struct TimelineReadingOptions {
  bool with_archived = false;
  size_t limit = 0;  ///< only the newest so many instants; 0: all
};

struct TimelineReading {
  std::string table;
  lake::hudi::TableProperties properties;
  lake::hudi::Timeline timeline;  ///< `operation` filled in where the commit could be read
};

struct CheckpointReading {
  std::string table;
  lake::CheckpointSearch search;
};

/// Errors are those of the store and of lake::hudi::Table; the message begins with the table.
Result<TimelineReading> ReadTimeline(const std::string& table, const storage::StoreOptions& store,
                                     const TimelineReadingOptions& options, const Budget& budget,
                                     const FreshnessEdges& edges);
Result<CheckpointReading> ReadCheckpoint(const std::string& table,
                                         const storage::StoreOptions& store,
                                         const lake::hudi::CheckpointOptions& options,
                                         const Budget& budget, const FreshnessEdges& edges);

}  // namespace tidemark::app
