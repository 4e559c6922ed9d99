/// One round over pipelines: read each table, ask each cluster once, judge. The edges (stores,
/// probes, clock) come in as functions, so that a round can be tested without a network.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "app/config.h"
#include "base/clock.h"
#include "base/error.h"
#include "freshness/report.h"
#include "kafka/partition_probe.h"
#include "lake/column_reader.h"
#include "storage/object_store.h"

namespace tidemark::app {

/// Where facts come from. Functions are called from several threads at once.
struct FreshnessEdges {
  std::function<Result<std::unique_ptr<storage::ObjectStore>>(const std::string& uri,
                                                              const storage::StoreOptions&)>
      open_store;
  std::function<Result<std::unique_ptr<kafka::PartitionProbe>>(const ClusterConfig&)> open_probe;
  lake::ColumnReaderSource columns;
  const Clock* clock = nullptr;  ///< outlives the run
};

/// The real ones: OpenStore, OpenProbe, the columnar module on first use, the machine's clock.
FreshnessEdges SystemEdges();

struct FreshnessRunOptions {
  Milliseconds table_deadline = std::chrono::seconds(10);  ///< for reading one table
  Milliseconds probe_deadline = std::chrono::seconds(10);  ///< for asking one cluster
  /// Tables read at the same time. Reading is waiting for the store, not computing.
  unsigned tables_at_once = 16;
  std::stop_token stop;
};

struct FreshnessRun {
  std::vector<freshness::PipelineReport> reports;  ///< one per pipeline, in their order
  WallTime generated_at{};
  Milliseconds duration{0};
  /// Pipelines about which nothing at all was learned because a store or cluster did not answer.
  size_t unreachable = 0;
  /// Pipelines whose table is there but cannot be read, or is none.
  size_t unreadable = 0;
  /// Pipelines whose cluster's properties contradict each other, which shows only when a client is
  /// opened with all of them, or whose store answers that it was asked wrongly (another region).
  size_t misconfigured = 0;
  /// What is wrong with the properties of such a cluster, by its name.
  std::map<std::string, std::string> cluster_mistakes;
  /// What is wrong with how such a table's store is asked, by the table.
  std::map<std::string, std::string> table_mistakes;
};

/// Reads the tables in parallel, then asks every cluster in parallel, each within its own deadline:
/// what one table, broker or cluster does never changes another pipeline's report. Pipelines that
/// share a topic cost one look-up per distinct set of committed offsets. Disabled pipelines are
/// reported without reading anything. `config` gives clusters and stores.
FreshnessRun RunFreshness(const Config& config, const std::vector<PipelineConfig>& pipelines,
                          const FreshnessRunOptions& options, const FreshnessEdges& edges);

}  // namespace tidemark::app
