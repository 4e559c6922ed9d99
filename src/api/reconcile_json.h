/// How tables compare with what was told of them, as JSON, schema "tidemark.reconcile/1".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "change/reconciliation.h"

namespace tidemark::api {

/// At most so many partitions and instants are listed of each kind; the counts are always whole.
inline constexpr size_t kListedMax = 1000;

/// One table of a catalog compared with the listing of the table that a sink brings there.
struct ReconciledCatalogTable {
  std::string database{};
  std::string table{};
  change::Agreement agreement = change::Agreement::kUnknown;
  std::string message{};  ///< empty: the rest says it
  bool is_there = false;
  /// Epoch and seq of its stamp; nullopt: it bears none.
  std::optional<std::pair<int64_t, int64_t>> stamp{};
  std::vector<std::string> missing{};  ///< partitions, as Hive names them
  std::vector<std::string> surplus{};
  std::vector<std::string> differences{};  ///< of the table itself
};

/// What one sink keeps of a table.
struct ReconciledSink {
  std::string sink{};  ///< its name in the configuration
  std::string kind{};
  std::optional<Error> failure{};  ///< why it is unknown; then without tables
  std::vector<ReconciledCatalogTable> tables{};
};

/// One table compared with what was told of it.
struct ReconciledTable {
  std::string table;
  std::string uid;
  change::Reconciliation found{};
  std::optional<Error> failure{};       ///< why it is unknown
  bool is_repair_asked = false;         ///< of the publisher
  std::vector<ReconciledSink> sinks{};  ///< those that were asked for, in that order
};

/// Different before unknown before behind before equal, as for pipelines.
change::Agreement WorseOf(change::Agreement a, change::Agreement b);
/// The worst of its tables; unknown where it has none.
change::Agreement AgreementOf(const ReconciledSink& sink);
/// The worst of the table and of its sinks.
change::Agreement AgreementOf(const ReconciledTable& table);

/// One object on one line, without a line feed.
std::string ReconcileJson(std::span<const ReconciledTable> tables, WallTime now);

}  // namespace tidemark::api
