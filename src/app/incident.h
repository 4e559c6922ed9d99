/// The demo's second half: a table that lost its rows, what each release shows of it, and what the
/// audit says.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/freshness_run.h"
#include "audit/report.h"
#include "base/error.h"

namespace tidemark::app {

struct Incident {
  std::string table;
  std::string story;
  /// Rows under "event-time" (what is right) and each release's profile.
  std::vector<std::pair<std::string, uint64_t>> rows;
  audit::Report report;  ///< of the first release
};

/// Reads and audits the demo's two incident tables, which lie in or beside `data_folder`
/// (FindDemoData). kNotFound: they are not there.
Result<std::vector<Incident>> TellIncidents(const std::string& data_folder,
                                            const FreshnessEdges& edges);

}  // namespace tidemark::app
