/// The blocks of a slice's logs that count for a profile, in the order in which they apply.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "lake/finding.h"
#include "lake/hudi/block_plan.h"
#include "lake/hudi/file_slices.h"
#include "lake/hudi/slice_log.h"
#include "scan/log_versions.h"
#include "scan/scan_table.h"

namespace tidemark::scan {

/// One reading of a slice's logs. Borrows the table. Single-threaded.
class SliceBlocks {
 public:
  /// Reads the log files and gives their findings to the table's sink. `held_bytes_max`: what of
  /// them stays in memory; the rest is read again. Errors as lake::hudi::SliceLog.
  static Result<SliceBlocks> Read(const ScanTable& table, const lake::hudi::FileSlice& slice,
                                  uint64_t held_bytes_max);

  /// Calls `visit` with each block, in the order of the profile's scan: a release that reads its
  /// newest log file first gets them so. A block's bytes are good during the call, and as long as
  /// this object when all files are held. Places number the commits as they come, from 1.
  Status ForEach(const std::function<Status(const PlacedBlock& placed)>& visit) const;

  /// Of the blocks that count; repeats are possible.
  std::vector<std::string_view> Instants() const;

  /// Places (file from 1, block) of the blocks that count here and that the reader of `profile`
  /// passes over.
  std::set<std::pair<uint32_t, uint32_t>> HiddenFrom(const merge::Profile& profile) const;

  /// Whether the bytes of all blocks live as long as this object.
  bool are_all_held() const { return are_all_held_; }
  /// What of them is in memory, at most.
  uint64_t held_bytes() const { return held_bytes_; }

 private:
  SliceBlocks(const ScanTable& table, lake::hudi::SliceLog log)
      : table_(&table), log_(std::move(log)) {}

  const ScanTable* table_;
  lake::hudi::SliceLog log_;
  std::vector<size_t> order_;      // of log_.blocks()
  std::vector<uint32_t> commits_;  // beside order_
  bool are_all_held_ = true;
  uint64_t held_bytes_ = 0;
};

/// What to say of a block that cannot be read, while the others are: "corrupt_block", or
/// "unsupported_block" for one of a version, class or size that is not read. nullopt: the error is
/// not about the block, and ends the reading.
std::optional<lake::Finding> FindingOfBlock(const Error& error, std::string_view file_name);

/// Which blocks a profile's reader applies.
lake::hudi::BlockRules BlockRulesOf(const ScanTable& table, const merge::Profile& profile);

}  // namespace tidemark::scan
