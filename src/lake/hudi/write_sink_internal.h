/// The write stats of a commit body, one at a time, for whoever wants them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "lake/hudi/commit_metadata.h"

namespace tidemark::lake::hudi {

/// One write stat as its bytes have it; what is absent or null is empty or 0. The texts are good
/// until the call that hands it out returns.
struct WriteView {
  std::string_view file_id;
  std::string_view path;
  std::string_view previous;  ///< "null" in JSON for none
  int64_t writes = 0;
  int64_t inserts = 0;
  int64_t updates = 0;
  int64_t deletes = 0;
  int64_t written_bytes = 0;
  int64_t file_size = 0;
  int64_t log_offset = 0;
};

class WriteSink {
 public:
  virtual ~WriteSink() = default;
  /// There are write stats. When it comes again, what came before does not count.
  virtual void BeginStats() = 0;
  /// The stats that follow are of this partition.
  virtual void BeginPartition(std::string_view partition) = 0;
  virtual void Take(const WriteView& write) = 0;
};

/// ParseCommitMetadata, with the write stats to `writes` where it is not nullptr: else they are
/// passed over unread.
Result<CommitMetadata> ParseCommitBody(std::string body, WriteSink* writes);

/// `path` as the store has it, without empty and "." segments; empty when it leads out of the
/// table.
std::string TablePath(std::string_view path);

/// The TablePath of a file; one that leads out of the table is the file of its name in `partition`.
/// Empty when that leads out of it too.
std::string WrittenPath(std::string_view path, std::string_view partition);

/// `previous` of a view as a requested time; empty for none.
std::string_view PreviousCommit(std::string_view previous);

}  // namespace tidemark::lake::hudi
