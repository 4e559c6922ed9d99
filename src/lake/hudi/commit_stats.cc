#include "lake/hudi/commit_stats.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "lake/hudi/commit_stats_internal.h"

namespace tidemark::lake::hudi {
namespace {

bool IsInstant(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// All names of log files have the form, which no base file's has: `.<fileId>_<instant>.log.<n>…`.
bool IsLogPath(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  return name.starts_with('.') && name.contains(".log.");
}

uint64_t Count(int64_t number) {
  return number < 0 ? 0 : static_cast<uint64_t>(number);
}

}  // namespace

std::string TablePath(std::string_view path) {
  if (path.starts_with('/') || path.find("://") != path.npos) return {};
  std::string inside;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const auto segment = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (segment == "..") return {};
    if (segment.empty() || segment == ".") continue;
    if (!inside.empty()) inside += '/';
    inside += segment;
  }
  return inside;
}

std::string WrittenPath(std::string_view path, std::string_view partition) {
  std::string inside = TablePath(path);
  if (!inside.empty() || path.empty()) return inside;
  return TablePath(fmt::format("./{}/{}", partition, path.substr(path.rfind('/') + 1)));
}

std::string_view PreviousCommit(std::string_view previous) {
  // Writers of JSON have "null" in it.
  return IsInstant(previous) ? previous : std::string_view();
}

void StatsCollector::BeginStats() {
  stats_.partitions.clear();
  list_ = nullptr;
  stats_.is_told = true;
}

void StatsCollector::BeginPartition(std::string_view partition) {
  partition_ = partition;
  list_ = &stats_.partitions[partition_];
}

void StatsCollector::Take(const WriteView& write) {
  WriteStat stat;
  stat.file_id = write.file_id;
  stat.path = WrittenPath(write.path, partition_);
  stat.previous = PreviousCommit(write.previous);
  stat.records_written = Count(write.writes);
  stat.inserted = Count(write.inserts);
  stat.updated = Count(write.updates);
  stat.deleted = Count(write.deletes);
  stat.bytes = Count(write.written_bytes);
  if (stat.bytes == 0) stat.bytes = Count(write.file_size);
  stat.is_log = IsLogPath(stat.path);
  list_->push_back(std::move(stat));
}

CommitStats StatsCollector::Finish(CommitMetadata metadata) && {
  stats_.metadata = std::move(metadata);
  stats_.is_told = stats_.is_told && (IsDescribed(stats_.metadata) || HasFiles());
  return std::move(stats_);
}

bool StatsCollector::HasFiles() const {
  return std::ranges::any_of(stats_.partitions, [](const auto& partition) {
    return std::ranges::any_of(partition.second,
                               [](const WriteStat& stat) { return !stat.path.empty(); });
  });
}

bool IsDescribed(const CommitMetadata& metadata) {
  return !metadata.operation.value_or("").empty() || !metadata.extra.empty();
}

Result<CommitStats> ParseCommitStats(std::string body) {
  StatsCollector collector;
  TRY_ASSIGN(auto metadata, ParseCommitBody(std::move(body), &collector));
  return std::move(collector).Finish(std::move(metadata));
}

}  // namespace tidemark::lake::hudi
