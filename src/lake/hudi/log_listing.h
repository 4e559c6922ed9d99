/// Everything one log file holds, in its order, damaged stretches included.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "lake/hudi/delete_block.h"
#include "lake/hudi/log_file.h"

namespace tidemark::lake::hudi {

enum class LogEntryState {
  kSound,
  kDamaged,     ///< bytes that are no whole block, or a block whose content is damaged
  kTorn,        ///< the file ends inside a block: its writer died or is still writing
  kUnreadable,  ///< sound as far as can be seen, but of a kind, version or class we do not read
};
/// "sound", "damaged", "torn", "unreadable".
std::string_view LogEntryStateName(LogEntryState state);

/// A block, or a stretch of bytes that is none.
struct LogEntry {
  uint64_t offset = 0;
  uint64_t size = 0;
  /// Views the file's bytes; nullopt for a stretch.
  std::optional<LogBlock> block;
  LogEntryState state = LogEntryState::kSound;
  std::string reason;  ///< of every state but kSound
  /// Of an Avro data, CDC or delete block.
  std::optional<int32_t> content_version;
  /// Records or deletes that can be read, which is all of them unless the block is damaged; nullopt
  /// where they are not counted (Parquet, HFile).
  std::optional<uint64_t> records;
};

struct LogListing {
  std::vector<LogEntry> entries;  ///< by offset; together they are the whole file

  bool Has(LogEntryState state) const;
};

/// Reads every block and every record's length. kCorrupt: no log file, as there is no block's magic
/// in it (an empty file is one); kCancelled, kUnavailable: the budget. The listing views `bytes`.
Result<LogListing> ListLog(std::string_view bytes, const Budget& budget);

/// Hands the deletes of a delete block to `sink`, in their order, as far as they can be read.
void ForEachDelete(const LogBlock& block, const std::function<void(const DeleteRecord&)>& sink);

/// "SCHEMA" of 2; "UNKNOWN".
std::string_view LogHeaderKeyName(LogHeaderKey key);

}  // namespace tidemark::lake::hudi
