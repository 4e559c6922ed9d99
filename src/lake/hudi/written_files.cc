#include "lake/hudi/written_files.h"

#include <string_view>
#include <utility>

#include "lake/hudi/commit_stats_internal.h"
#include "lake/hudi/write_sink_internal.h"

namespace tidemark::lake::hudi {
namespace {

class FileCollector : public WriteSink {
 public:
  void BeginStats() override {
    writes_ = {};
    writes_.is_told = true;
  }
  void BeginPartition(std::string_view partition) override { partition_ = partition; }
  void Take(const WriteView& write) override {
    // Every partition has one for what is inserted, if nothing is.
    if (write.path.empty() && (!write.file_id.empty() || write.inserts != 0)) {
      writes_.planned.push_back({TablePath(partition_), std::string(write.file_id)});
    }
    if (write.path.empty() || write.file_size <= 0 || write.log_offset < 0) return;
    WrittenFile file;
    file.path = WrittenPath(write.path, partition_);
    if (file.path.empty()) return;
    file.size = static_cast<uint64_t>(write.file_size) + static_cast<uint64_t>(write.log_offset);
    file.previous = PreviousCommit(write.previous);
    writes_.files.push_back(std::move(file));
  }
  CommitWrites Finish(const CommitMetadata& metadata) && {
    writes_.is_told = writes_.is_told && (IsDescribed(metadata) || !writes_.files.empty());
    return std::move(writes_);
  }

 private:
  CommitWrites writes_;
  std::string partition_;
};

}  // namespace

Result<CommitWrites> ParseCommitWrites(std::string body) {
  FileCollector collector;
  TRY_ASSIGN(const auto metadata, ParseCommitBody(std::move(body), &collector));
  return std::move(collector).Finish(metadata);
}

Result<std::vector<WrittenFile>> ParseWrittenFiles(std::string body) {
  TRY_ASSIGN(CommitWrites writes, ParseCommitWrites(std::move(body)));
  return std::move(writes.files);
}

}  // namespace tidemark::lake::hudi
