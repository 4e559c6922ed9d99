/// From a Hudi table to the tables that a catalog is to show. Pure.
#pragma once

#include <optional>
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

/// Whether ChangedTable changed anything but the stamp and Hudi's cursors.
bool DiffersInShape(const CatalogTable& a, const CatalogTable& b);

}  // namespace tidemark::sink
