/// The events of one table without Kafka: what a publisher would send.
#pragma once

#include <string>
#include <vector>

#include "api/change_json.h"
#include "app/freshness_run.h"
#include "base/budget.h"
#include "base/error.h"
#include "lake/finding.h"
#include "storage/object_store.h"

namespace tidemark::app {

struct ChangesReading {
  std::vector<api::ChangeEvent> events{};  ///< in the order that they would be sent in
  std::vector<lake::Finding> findings{};
  /// A restore is under way, so nothing can be told before it is complete.
  bool is_paused = false;
};

struct ChangesOptions {
  bool from_start = false;  ///< the archived instants first, as far back as they can be read
  api::EventLimits limits;
};

/// Errors are those of the store and of feed::ReadChanges; the message begins with the table.
Result<ChangesReading> ReadTableChanges(const std::string& table,
                                        const storage::StoreOptions& store,
                                        const ChangesOptions& options, const Budget& budget,
                                        const FreshnessEdges& edges);

/// The name that a table's events bear, the same for each way to write its place: a local path is
/// made absolute.
std::string BasePathOf(const std::string& table);

}  // namespace tidemark::app
