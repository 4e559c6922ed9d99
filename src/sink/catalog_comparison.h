/// Whether a catalog holds what a table shows (change-feed R38, R60).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "change/reconciliation.h"
#include "sink/catalog.h"
#include "sink/catalog_sink.h"
#include "sink/sink.h"

namespace tidemark::sink {

/// What is known of the table that a catalog is compared with.
struct TableTruth {
  TableView view{};                         ///< its `partitions` is not used
  std::vector<PartitionView> partitions{};  ///< all, ascending by path
  /// The publisher's last group; nullopt: it never published the table.
  std::optional<SinkStamp> told{};
  bool is_told_whole = true;  ///< the publisher has told all that `view` and `partitions` show
  /// By path: seq of the group, of the epoch of `told`, that named a partition last. May lack some.
  std::map<std::string, int64_t, std::less<>> named{};
};

/// What a catalog answered when it was asked for one table.
struct CatalogAnswer {
  std::optional<CatalogTable> table{};                 ///< nullopt: no such table
  std::vector<std::vector<std::string>> partitions{};  ///< their values
};

/// One table of a catalog compared.
struct CatalogComparison {
  std::string database{};
  std::string table{};
  change::Agreement agreement = change::Agreement::kUnknown;
  std::string message{};               ///< why, where the rest does not say it; no secret of ours
  bool is_there = false;               ///< a table, or view, of this name is in the catalog
  std::optional<SinkStamp> stamp{};    ///< that it bears
  std::vector<std::string> missing{};  ///< Hive's names of partitions; in the table's order
  std::vector<std::string> surplus{};  ///< ascending by their values
  std::vector<std::string> differences{};  ///< of the table itself, a short phrase each
};

/// Compares one table, by the same differences that CatalogSink writes.
///
/// A stamp says that all up to it was there. What is missing although it was told by then, and what
/// differs under the stamp of the last group, is different; what may still come is behind. Where a
/// stamp moves only with the table itself an older one says nothing: without a difference the two
/// are equal. A table without a stamp is not known to be ours: unknown. One that is not there is
/// different, for nothing shows that it is on its way.
CatalogComparison CompareTable(const CatalogTable& wanted, const CatalogAnswer& there,
                               const TableTruth& truth, Stamping stamping);

/// Asks for each table that a sink with these options makes of the table, in their order. An error
/// of the catalog is an unknown table with the error as its message. kInvalidArgument: it cannot be
/// a table of the catalog. Cost: one reading and one listing for each.
Result<std::vector<CatalogComparison>> CompareCatalog(Catalog& catalog,
                                                      const CatalogSinkOptions& options,
                                                      const TableTruth& truth,
                                                      const Budget& budget);

}  // namespace tidemark::sink
