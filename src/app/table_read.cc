#include "app/table_read.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tidemark::app {

namespace {

/// A store and the table in it, together because the table refers to the store.
struct OpenedTable {
  std::unique_ptr<storage::ObjectStore> store;
  lake::hudi::Table table;
};

Result<OpenedTable> Open(const std::string& uri, const storage::StoreOptions& options,
                         const Budget& budget, const FreshnessEdges& edges) {
  TRY_ASSIGN(auto store, edges.open_store(uri, options));
  TRY_ASSIGN(auto table, lake::hudi::Table::Open(*store, edges.columns, budget));
  return OpenedTable{std::move(store), std::move(table)};
}

}  // namespace

Result<TimelineReading> ReadTimeline(const std::string& table, const storage::StoreOptions& store,
                                     const TimelineReadingOptions& options, const Budget& budget,
                                     const FreshnessEdges& edges) {
  TRY_ASSIGN(const auto opened, Open(table, store, budget, edges));
  TRY_ASSIGN(auto timeline,
             opened.table.ReadTimeline({.with_archived = options.with_archived}, budget));
  auto& instants = timeline.instants;
  if (options.limit > 0 && instants.size() > options.limit) {
    instants.erase(instants.begin(), instants.end() - static_cast<ptrdiff_t>(options.limit));
  }
  TRY_ASSIGN(auto findings, opened.table.ReadOperations(instants, budget));
  std::ranges::move(findings, std::back_inserter(timeline.findings));
  return TimelineReading{table, opened.table.properties(), std::move(timeline)};
}

Result<CheckpointReading> ReadCheckpoint(const std::string& table,
                                         const storage::StoreOptions& store,
                                         const lake::hudi::CheckpointOptions& options,
                                         const Budget& budget, const FreshnessEdges& edges) {
  TRY_ASSIGN(const auto opened, Open(table, store, budget, edges));
  TRY_ASSIGN(auto search, opened.table.FindCheckpoint(options, budget));
  return CheckpointReading{table, std::move(search)};
}

}  // namespace tidemark::app
