/// A log file in a store, read in stretches while its blocks are walked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/error.h"
#include "lake/hudi/log_file.h"
#include "storage/object_state.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

struct StoredLogOptions {
  uint64_t size = 0;  ///< bytes, to where the file is read; it may have grown since
  /// Blocks of more bytes are not looked into. At least stretch_bytes are taken for it.
  uint64_t block_bytes_max = UINT64_MAX;
  uint64_t stretch_bytes = uint64_t{4} << 20;  ///< read at once
};

/// Holds one stretch, or the block at hand where that is larger. Borrows store, state and budget.
/// Single-threaded.
class StoredLog final : public LogBytes {
 public:
  StoredLog(const storage::ObjectStore& store, std::string key, const StoredLogOptions& options,
            storage::ObjectState& state, const Budget& budget);

  uint64_t size() const override { return options_.size; }
  Result<std::string_view> At(uint64_t offset, uint64_t count) override;
  uint64_t block_bytes_max() const override { return options_.block_bytes_max; }

  /// So far; stretches that were asked for again count again.
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  const storage::ObjectStore& store_;
  std::string key_;
  StoredLogOptions options_;
  storage::ObjectState& state_;
  const Budget& budget_;
  std::string stretch_;
  uint64_t begin_ = 0;  // of the stretch in the file
  uint64_t bytes_read_ = 0;
};

/// Bytes [offset, offset + size) of an object. kConflict: it has become shorter, or is another one.
Result<std::string> ReadStretch(const storage::ObjectStore& store, std::string_view key,
                                uint64_t offset, uint64_t size, storage::ObjectState& state,
                                const Budget& budget);

}  // namespace tidemark::lake::hudi
