/// The write stats of a commit body put together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lake/hudi/commit_stats.h"
#include "lake/hudi/write_sink_internal.h"

namespace tidemark::lake::hudi {

class StatsCollector : public WriteSink {
 public:
  void BeginStats() override;
  void BeginPartition(std::string_view partition) override;
  void Take(const WriteView& write) override;
  CommitStats Finish(CommitMetadata metadata) &&;

 private:
  bool HasFiles() const;

  CommitStats stats_;
  std::string partition_;
  std::vector<WriteStat>* list_ = nullptr;
};

/// Whether there is what only a writer puts there, even when it wrote nothing.
bool IsDescribed(const CommitMetadata& metadata);

}  // namespace tidemark::lake::hudi
