/// The demo's set-up: real tables, and a Kafka cluster inside this process whose topics are loaded
/// so that the tables' checkpoints fit.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/freshness_run.h"
#include "base/error.h"
#include "kafka/client/mock_cluster.h"

namespace tidemark::app {

class Demo {
 public:
  /// Reads the tables below `data_folder` (testdata/hudi/tables) and loads the cluster. Takes about
  /// a second.
  static Result<std::unique_ptr<Demo>> Open(const std::string& data_folder,
                                            const FreshnessEdges& edges);

  /// The demo's pipelines; valid while the demo lives.
  const Config& config() const { return config_; }

  /// What each pipeline shows, in their order.
  const std::vector<std::string>& stories() const { return stories_; }

 private:
  struct Token {};  // only Open makes one

 public:
  explicit Demo(Token) {}

 private:

  std::unique_ptr<kafka::client::MockCluster> cluster_;
  Config config_;
  std::vector<std::string> stories_;
};

/// Where the demo's tables are: $TIDEMARK_DEMO_DATA, share/tidemark/demo beside the installed
/// binary, or the source tree this binary was built from. kNotFound says where was looked.
Result<std::string> FindDemoData();

}  // namespace tidemark::app
