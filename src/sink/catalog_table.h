/// From a Hudi table to the tables that a catalog is to show. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "sink/catalog.h"
#include "sink/sink.h"

namespace tidemark::sink {

/// Which tables a merge-on-read table becomes. A copy-on-write table is always one, under its name.
enum class MergeOnReadTables {
  kBoth,       ///< NAME_ro (as of the last compaction) and NAME_rt (with the logs merged)
  kSnapshot,   ///< NAME alone, with the logs merged
  kOptimized,  ///< NAME alone, as of the last compaction
};

struct CatalogNaming {
  std::string database{};  ///< empty: the table's own, else "default"
  std::string prefix{};    ///< before each name
  MergeOnReadTables merge_on_read = MergeOnReadTables::kBoth;
  bool with_meta_columns = true;  ///< Hudi's five, as Hudi's own sync shows them

  friend bool operator==(const CatalogNaming&, const CatalogNaming&) = default;
};

/// Where a table is known, and as what.
struct CatalogName {
  std::string database{};
  std::string table{};
  bool is_realtime = false;   ///< with the logs merged
  bool is_optimized = false;  ///< as of the last compaction

  friend bool operator==(const CatalogName&, const CatalogName&) = default;
};
/// At least one. kInvalidArgument: the table has no name.
Result<std::vector<CatalogName>> CatalogNames(const TableView& view, const CatalogNaming& naming);

/// The tables, without stamp; at least one. kInvalidArgument: cannot be a table of Hive's model
/// (two columns of one name but for case, no column, a partition with more or fewer values than
/// the table has partition columns), with what to do.
Result<std::vector<CatalogTable>> CatalogTables(const TableView& view, const CatalogNaming& naming);

/// The stamp that a table bears; nullopt: none, or none that can be read.
std::optional<SinkStamp> StampOf(const CatalogTable& table);
void SetStamp(CatalogTable& table, const SinkStamp& stamp);

/// A table that is there, changed to be `wanted`; what is not ours in it stays. Columns keep the
/// place that they have, new ones go behind them: metastores compare types by position (Hudi reads
/// by name), so a column added in the middle would be refused (hudi#1631).
/// kInvalidArgument: what must not be changed (another place, other partition columns, a view, a
/// type under which what was written cannot be read).
Result<CatalogTable> ChangedTable(const CatalogTable& there, const CatalogTable& wanted);

/// What ChangedTable changed, but for the stamp and Hudi's cursors: a short phrase each, for
/// people. Empty: nothing.
std::vector<std::string> ShapeDifferences(const CatalogTable& there, const CatalogTable& changed);

/// The partitions of a catalog against those of a table, by their values.
struct PartitionDifference {
  std::vector<PartitionView> missing{};  ///< each values once, in the order they were given
  std::vector<PartitionView> surplus{};  ///< without paths; ascending by their values
};
/// `present`: as a catalog lists them. kInvalidArgument: a partition with more or fewer values than
/// the table has partition columns. Cost: n log n in both.
Result<PartitionDifference> ComparePartitions(const CatalogTable& table,
                                              std::vector<PartitionView> wanted,
                                              const std::vector<std::vector<std::string>>& present);

/// kInvalidArgument, as ComparePartitions.
Status CheckValues(const CatalogTable& table, std::span<const PartitionView> partitions);

}  // namespace tidemark::sink
