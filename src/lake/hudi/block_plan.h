/// Which blocks of a slice's log files a reader applies, and in which order. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lake/finding.h"
#include "lake/hudi/committed_instants.h"
#include "lake/hudi/slice_log.h"

namespace tidemark::lake::hudi {

/// The choices on which releases differ. The defaults are right; what a release does instead is
/// named where it is set.
struct BlockRules {
  /// Blocks of later instants do not apply. Empty: no such bound.
  std::string as_of;
  /// Ask the timeline about the instant of each block. Needed below table version 8, where any
  /// commit may append to a log file; from there on the file's own instant was asked for.
  bool asks_timeline = true;
  /// Releases up to 0.15, with their default scan: reading ends for good at the first block whose
  /// instant is later than `as_of`, committed or not. A rollback takes a later instant than the
  /// commit that it makes way for, so that commit stays hidden until the next one.
  bool ends_at_later_block = false;
  /// Releases up to 0.15, with their default scan: a log compaction's blocks apply beside those
  /// that they were made of, each at its place.
  bool keeps_compacted_blocks = false;
  /// Releases other than 0.14.0: the blocks of a task's earlier attempt apply too.
  bool keeps_duplicates = false;
};

/// The right rules for a table of `table_version` as `instants` has it.
BlockRules EventTimeBlockRules(int table_version, const CommittedInstants& instants);
/// What the default scan of 0.x does (0.14.0 drops duplicates, others keep them).
BlockRules PlainScanBlockRules(const CommittedInstants& instants, bool keeps_duplicates);

enum class BlockFate : uint8_t {
  kApplies,
  kCommand,      ///< a rollback: says something about other blocks
  kUncommitted,  ///< its instant is not committed, or it names none
  kLater,        ///< its instant is later than as_of
  kHidden,       ///< behind such a block (ends_at_later_block)
  kRolledBack,   ///< a later rollback block names its instant
  kDuplicate,    ///< another attempt of the same task wrote it too
  kCompacted,    ///< the blocks of a log compaction stand for it
  kNotRows,      ///< change data
  kUnsupported,  ///< a kind we do not read: rows may be missing, and a finding says so
};
/// "applies", "command", "uncommitted", …
std::string_view BlockFateName(BlockFate fate);

struct BlockPlan {
  std::vector<BlockFate> fates;  ///< of each block
  /// Places of the blocks that apply, first to last. Data, Parquet and delete blocks only.
  std::vector<size_t> order;
  /// "unsupported_block": one that would apply is an HFile, of an unknown kind, or change data in a
  /// file of rows; "unknown_command"; "corrupt_block": one that names no instant, or a rollback of
  /// none; "unclaimed_block": one of an instant that is neither on the timeline nor taken back;
  /// "contradicting_rollback": of a completed commit; "unfinished_write": blocks of an instant that
  /// is under way although later ones have completed.
  std::vector<Finding> findings;
};

/// `files` are those the blocks lie in, for findings. Blocks of one instant apply together, at the
/// place of its first one; those of a log compaction at the place of the newest instant they stand
/// for.
BlockPlan PlanBlocks(std::span<const SliceBlock> blocks, std::span<const LogFile> files,
                     const CommittedInstants& instants, const BlockRules& rules);

}  // namespace tidemark::lake::hudi
