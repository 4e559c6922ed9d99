/// The blocks in the log files of one file slice. Which of them count is decided in block_plan.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "lake/finding.h"
#include "lake/hudi/file_slices.h"
#include "lake/hudi/log_file.h"
#include "storage/object_state.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

/// Who wrote a block: release 0.14.0 notes the task's attempt and counts the attempt's blocks.
struct BlockIdentifier {
  int64_t attempt = 0;
  int64_t sequence = 0;

  friend bool operator==(const BlockIdentifier&, const BlockIdentifier&) = default;
};

/// What deciding about a block takes; its content and schema are loaded when they are wanted.
struct SliceBlock {
  size_t file = 0;    ///< place of its file in SliceLog::files()
  size_t number = 0;  ///< among the whole blocks of its file, from 0
  uint64_t offset = 0;
  uint64_t size = 0;
  LogBlockKind kind = LogBlockKind::kUnknown;
  std::string instant;                       ///< that wrote it; empty where its header has none
  std::string command;                       ///< of a command block: "0" is a rollback
  std::string target_instant;                ///< that a rollback takes back
  std::vector<std::string> compacted_times;  ///< instants whose blocks are merged in this one
  std::optional<BlockIdentifier> identifier;
  bool is_partial = false;  ///< its records hold some columns only
};

/// From the header of a block. An identifier that cannot be read is as good as none.
SliceBlock DescribeBlock(const LogBlock& block, size_t file, size_t number);

/// A block with its bytes. The block views them.
struct LoadedBlock {
  std::shared_ptr<const std::string> bytes;
  LogBlock block;  ///< offsets are those in its file
};

struct SliceLogOptions {
  /// Bytes of log files kept for Load(). A file that goes beyond is walked in stretches, and its
  /// blocks are read again.
  uint64_t held_bytes_max = uint64_t{256} << 20;
  /// Of those files: larger blocks are not held to be looked into before Load().
  uint64_t walked_block_bytes_max = uint64_t{16} << 20;
};

/// One reading of the log files of a slice. Borrows the store. Load() from any thread.
class SliceLog {
 public:
  /// Reads `files` in their order (FileSlice::logs). kConflict: a file is gone, list the table
  /// anew. Cost: one read per file that is held; of the others their bytes once, in stretches.
  static Result<SliceLog> Read(const storage::ObjectStore& store, std::vector<LogFile> files,
                               const SliceLogOptions& options, const Budget& budget);

  std::span<const LogFile> files() const { return files_; }
  /// Whether the bytes of a file are in memory.
  bool is_held(size_t file) const { return held_[file] != nullptr; }
  /// By file, then as they lie in it. Damaged stretches are none; see findings().
  std::span<const SliceBlock> blocks() const { return blocks_; }
  /// Those of LogReader; `place` is the file.
  const std::vector<Finding>& findings() const { return findings_; }
  const LogReader::Losses& losses() const { return losses_; }
  uint64_t bytes_read() const { return bytes_read_; }

  /// The block at `place` of blocks(). kConflict: its file has changed since; kCorrupt: it was not
  /// looked into before, and is damaged inside. Cost: one ranged read unless its file is held.
  Result<LoadedBlock> Load(size_t place, const Budget& budget) const;

 private:
  explicit SliceLog(const storage::ObjectStore& store) : store_(&store) {}
  Status Hold(size_t file, const Budget& budget);
  Status Walk(size_t file, const SliceLogOptions& options, const Budget& budget);
  Status Scan(size_t file, LogReader reader);

  const storage::ObjectStore* store_;
  std::vector<LogFile> files_;
  std::vector<std::shared_ptr<const std::string>> held_;       // per file; nullptr when not held
  std::vector<std::shared_ptr<storage::ObjectState>> states_;  // per file; of those not held
  uint64_t walked_block_bytes_max_ = 0;
  std::vector<SliceBlock> blocks_;
  std::vector<Finding> findings_;
  LogReader::Losses losses_;
  uint64_t bytes_read_ = 0;
};

}  // namespace tidemark::lake::hudi
