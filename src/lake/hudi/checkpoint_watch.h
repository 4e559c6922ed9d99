/// Looking at one table again and again for its newest checkpoint.
#pragma once

#include <optional>
#include <string>

#include "base/budget.h"
#include "base/error.h"
#include "lake/column_reader.h"
#include "lake/commit_point.h"
#include "lake/hudi/table.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

/// Remembers what the last look found, and for which listing of the timeline folder. One caller at
/// a time; the store must outlive it.
class CheckpointWatch {
 public:
  CheckpointWatch(const storage::ObjectStore& store, ColumnReaderSource columns,
                  const CheckpointOptions& options)
      : store_(store), columns_(std::move(columns)), options_(options) {}

  /// The same answer and errors as Table::Open and FindCheckpoint. Cost: one listing when names,
  /// sizes and times in the timeline folder are those of the last look, else that and the cost of
  /// those. An answer with unreadable commits is never kept: what could not be read a moment ago
  /// may be readable now.
  Result<CheckpointSearch> Look(const Budget& budget);

 private:
  struct Seen {
    std::string folder;
    storage::Listing listing;
    CheckpointSearch search;
  };

  const storage::ObjectStore& store_;
  ColumnReaderSource columns_;
  CheckpointOptions options_;
  std::optional<Seen> seen_;
};

}  // namespace tidemark::lake::hudi
