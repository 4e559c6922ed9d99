/// How tables compare with what was told of them, as JSON, schema "tidemark.reconcile/1".
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "change/reconciliation.h"

namespace tidemark::api {

/// At most so many partitions and instants are listed of each kind; the counts are always whole.
inline constexpr size_t kListedMax = 1000;

/// One table compared with what was told of it.
struct ReconciledTable {
  std::string table;
  std::string uid;
  change::Reconciliation found{};
  std::optional<Error> failure{};  ///< why it is unknown
  bool is_repair_asked = false;    ///< of the publisher
};

/// One object on one line, without a line feed.
std::string ReconcileJson(std::span<const ReconciledTable> tables, WallTime now);

}  // namespace tidemark::api
