/// From what the user typed to the pipelines of a run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/config.h"
#include "base/error.h"
#include "rules/watched.h"

namespace tidemark::app {

/// One table and one cluster given on the command line instead of a configuration file.
struct SinglePipeline {
  std::string table;
  std::string bootstrap;
  std::string topic{};  ///< empty: whatever the checkpoint names
  std::string sla{};    ///< empty: the mode's default
  std::string mode = "streaming";
  std::string isolation = "read_uncommitted";
  std::vector<std::string> properties{};  ///< "key=value"
  std::string kafka_client = "auto";      ///< one of ParseKafkaClient()'s words
  std::string record_access = "auto";     ///< one of ParseRecordAccess()'s words
  storage::StoreOptions store{};
  int64_t commit_depth_max = 100;
};

/// The configuration that a file with just this pipeline would give. The pipeline is named after
/// the table's last path part. kInvalidArgument names the flag.
Result<Config> ConfigOf(const SinglePipeline& single, const ConfigSources& sources);

/// The pipelines of these names, in the order of the file; all when `names` is empty.
/// kInvalidArgument for a name that is not there, with the nearest one, and when the configuration
/// holds no pipeline: to look at nothing is not health.
Result<std::vector<PipelineConfig>> SelectPipelines(const Config& config,
                                                    const std::vector<std::string>& names);

/// The pipeline as it is judged at `now`: in maintenance or not.
freshness::PipelineSpec SpecAt(const PipelineConfig& pipeline, WallTime now);

/// What rules are made for: the pipelines that are not switched off, in their order.
std::vector<rules::WatchedPipeline> WatchedPipelines(const std::vector<PipelineConfig>& pipelines);

/// Whether all are switched off, so that a run over them looks at nothing.
bool AreAllDisabled(const std::vector<PipelineConfig>& pipelines);

}  // namespace tidemark::app
