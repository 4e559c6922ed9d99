#include "lake/hudi/block_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "lake/hudi/data_file_name.h"

namespace tidemark::lake::hudi {
namespace {

constexpr std::string_view kRollback = "0";
constexpr std::array<std::string_view, 10> kFateNames = {
    "applies",     "command",   "uncommitted", "later",    "hidden",
    "rolled_back", "duplicate", "compacted",   "not_rows", "unsupported"};

bool HoldsRows(LogBlockKind kind) {
  switch (kind) {
    case LogBlockKind::kDelete:
    case LogBlockKind::kAvroData:
    case LogBlockKind::kParquetData:
    case LogBlockKind::kHFileData: return true;
    default: return false;
  }
}

class Planner {
 public:
  Planner(std::span<const SliceBlock> blocks, std::span<const LogFile> files,
          const CommittedInstants& instants, const BlockRules& rules)
      : blocks_(blocks), files_(files), instants_(instants), rules_(rules) {
    plan_.fates.resize(blocks.size());
  }

  BlockPlan Plan() && {
    for (size_t place = 0; place < blocks_.size(); ++place) {
      plan_.fates[place] = FirstFate(blocks_[place]);
      const bool ends = rules_.ends_at_later_block && IsLater(blocks_[place]);
      if (ends) {
        std::fill(plan_.fates.begin() + static_cast<std::ptrdiff_t>(place) + 1, plan_.fates.end(),
                  BlockFate::kHidden);
        break;
      }
      if (plan_.fates[place] == BlockFate::kCommand) RollBack(place);
      if (plan_.fates[place] == BlockFate::kApplies)
        applied_[blocks_[place].instant].push_back(place);
    }
    ReportUnclaimed();
    ReportContradictions();
    if (!rules_.keeps_duplicates) DropDuplicates();
    if (rules_.keeps_compacted_blocks)
      OrderAsTheyLie();
    else
      OrderByInstant();
    RefuseUnsupported();
    return std::move(plan_);
  }

 private:
  bool IsLater(const SliceBlock& block) const {
    return !rules_.as_of.empty() && block.instant > rules_.as_of;
  }

  bool IsInChangeFile(const SliceBlock& block) const {
    return block.file >= files_.size() || files_[block.file].name.is_cdc;
  }

  BlockFate FirstFate(const SliceBlock& block) const {
    if (block.kind == LogBlockKind::kCommand) return BlockFate::kCommand;
    if (IsLater(block)) return BlockFate::kLater;
    // Change data is for other readers where its file is; among rows it would be lost.
    const bool is_unknown = block.kind == LogBlockKind::kUnknown ||
                            (block.kind == LogBlockKind::kCdcData && !IsInChangeFile(block));
    if (!is_unknown && !HoldsRows(block.kind)) return BlockFate::kNotRows;
    // A block of another format version has no header that could be read.
    const auto otherwise = is_unknown ? BlockFate::kUnsupported : BlockFate::kApplies;
    if (block.instant.empty()) return is_unknown ? otherwise : BlockFate::kUncommitted;
    if (!rules_.asks_timeline) return otherwise;
    const auto fate = instants_.FateOf(block.instant);
    if (fate == WriteFate::kLater) return BlockFate::kLater;
    const bool is_committed = fate == WriteFate::kCommitted || fate == WriteFate::kBeforeStart;
    return is_committed ? otherwise : BlockFate::kUncommitted;
  }

  /// Takes back the blocks before a rollback; what its instant writes afterwards counts again.
  void RollBack(size_t rollback) {
    const SliceBlock& command = blocks_[rollback];
    if (command.command != kRollback) {
      Report("unknown_command", rollback,
             fmt::format("log file has a command that is not known command={}", command.command));
      return;
    }
    if (command.target_instant.empty()) {
      Report("corrupt_block", rollback, "rollback block does not say which commit it takes back");
      return;
    }
    const auto applied = applied_.find(command.target_instant);
    if (applied == applied_.end()) return;
    for (const size_t place : applied->second) plan_.fates[place] = BlockFate::kRolledBack;
    applied_.erase(applied);
    rollbacks_.insert_or_assign(command.target_instant, rollback);
  }

  /// A rollback takes the commit off the timeline before it takes back the blocks. A write that is
  /// tried again at its instant leaves its blocks behind the rollback of the first attempt.
  void ReportContradictions() {
    for (const auto& [instant, rollback] : rollbacks_) {
      if (applied_.contains(instant)) continue;
      if (instants_.FateOf(instant) != WriteFate::kCommitted) continue;
      Report("contradicting_rollback", rollback,
             fmt::format("a rollback block takes back rows of a commit that the timeline has as "
                         "completed, target={}",
                         instant));
    }
  }

  /// A write that fails is inflight until it is rolled back, which leaves a command behind what was
  /// appended. A block that names neither a write of the timeline nor one that was taken back is
  /// damaged, or the timeline is.
  void ReportUnclaimed() {
    std::set<std::string_view> taken_back;
    std::set<std::string_view> unfinished;
    for (const SliceBlock& block : blocks_)
      if (block.kind == LogBlockKind::kCommand) taken_back.insert(block.target_instant);
    for (size_t place = 0; place < blocks_.size(); ++place) {
      const SliceBlock& block = blocks_[place];
      if (block.kind == LogBlockKind::kCorrupt) {
        Report("corrupt_block", place, "log block of a kind that no writer leaves, kind=CORRUPT");
      }
      if (!HoldsRows(block.kind)) continue;
      if (block.instant.empty()) {
        Report("corrupt_block", place, "log block does not say which commit wrote it");
        continue;
      }
      if (taken_back.contains(block.instant)) continue;
      if (instants_.IsUnfinished(block.instant) && unfinished.insert(block.instant).second) {
        Report("unfinished_write", place,
               fmt::format("log block of a write that has not completed, while later ones have: it "
                           "is under way, it failed, or its completed file is lost instant={}",
                           block.instant));
      }
      if (instants_.FateOf(block.instant) != WriteFate::kAbsent) continue;
      Report("unclaimed_block", place,
             fmt::format("log block of a commit that is neither on the timeline nor rolled back, "
                         "instant={}",
                         block.instant));
    }
  }

  /// Of several attempts of one instant's task the one with most blocks counts, then the last.
  void DropDuplicates() {
    std::map<std::string_view, std::map<int64_t, size_t>> attempts;
    for (size_t place = 0; place < blocks_.size(); ++place) {
      const SliceBlock& block = blocks_[place];
      if (plan_.fates[place] == BlockFate::kApplies && block.identifier)
        ++attempts[block.instant][block.identifier->attempt];
    }
    std::map<std::string_view, int64_t> chosen;
    for (const auto& [instant, counts] : attempts) {
      size_t most = 0;
      for (const auto& [attempt, count] : counts) {
        if (count < most) continue;
        most = count;
        chosen[instant] = attempt;
      }
    }
    for (size_t place = 0; place < blocks_.size(); ++place) {
      const SliceBlock& block = blocks_[place];
      if (plan_.fates[place] != BlockFate::kApplies || !block.identifier) continue;
      if (block.identifier->attempt != chosen[block.instant])
        plan_.fates[place] = BlockFate::kDuplicate;
    }
  }

  void OrderAsTheyLie() {
    for (size_t place = 0; place < blocks_.size(); ++place)
      if (plan_.fates[place] == BlockFate::kApplies) plan_.order.push_back(place);
  }

  /// The steps of BaseHoodieLogRecordReader.scanInternal (1.1; the "optimized" scan of 0.13 to
  /// 0.15): newest instant first, so that a log compaction is met before what it stands for.
  void OrderByInstant() {
    std::vector<std::string_view> arrivals;
    std::map<std::string_view, std::vector<size_t>> by_instant;
    for (size_t place = 0; place < blocks_.size(); ++place) {
      if (plan_.fates[place] != BlockFate::kApplies) continue;
      auto& places = by_instant[blocks_[place].instant];
      if (places.empty()) arrivals.push_back(blocks_[place].instant);
      places.push_back(place);
    }
    std::map<std::string_view, std::string_view> stands_for;  // instant -> the last compaction
    std::map<std::string_view, size_t> place_of;              // among the arrivals
    for (size_t i = arrivals.size(); i-- > 0;) {
      const auto instant = arrivals[i];
      const auto compacted = stands_for.find(instant);
      const auto final_instant = compacted == stands_for.end() ? instant : compacted->second;
      const auto& times = blocks_[by_instant[instant].front()].compacted_times;
      for (const std::string& time : times) stands_for[time] = final_instant;
      // A compaction is placed where the newest of what it stands for lay.
      if (times.empty()) place_of.try_emplace(final_instant, i);
    }
    // One whose sources are all damaged stays at its own place. Hudi would drop it.
    for (size_t i = 0; i < arrivals.size(); ++i)
      if (!stands_for.contains(arrivals[i])) place_of.try_emplace(arrivals[i], i);
    std::map<size_t, std::string_view> by_place;
    for (const auto& [instant, place] : place_of) by_place.emplace(place, instant);
    for (const auto& [place, instant] : by_place) {
      const auto& places = by_instant[instant];
      plan_.order.insert(plan_.order.end(), places.begin(), places.end());
    }
    for (const auto instant : arrivals) {
      if (place_of.contains(instant)) continue;
      for (const size_t place : by_instant[instant]) plan_.fates[place] = BlockFate::kCompacted;
    }
  }

  /// What would apply and cannot be read is left out last, so that it keeps its say in duplicates
  /// and compactions.
  void RefuseUnsupported() {
    std::erase_if(plan_.order, [this](size_t place) {
      if (blocks_[place].kind != LogBlockKind::kHFileData) return false;
      plan_.fates[place] = BlockFate::kUnsupported;
      return true;
    });
    for (size_t place = 0; place < blocks_.size(); ++place) {
      if (plan_.fates[place] != BlockFate::kUnsupported) continue;
      Report("unsupported_block", place,
             fmt::format("rows of this log block are not read kind={} instant={}",
                         LogBlockKindName(blocks_[place].kind), blocks_[place].instant));
    }
  }

  void Report(std::string_view kind, size_t place, std::string_view message) {
    const SliceBlock& block = blocks_[place];
    plan_.findings.push_back({std::string(kind),
                              block.file < files_.size() ? files_[block.file].key : "",
                              fmt::format("{} offset={}", message, block.offset)});
  }

  std::span<const SliceBlock> blocks_;
  std::span<const LogFile> files_;
  const CommittedInstants& instants_;
  const BlockRules& rules_;
  std::map<std::string_view, std::vector<size_t>> applied_;  // so far, by instant
  std::map<std::string_view, size_t> rollbacks_;             // that took blocks back, by instant
  BlockPlan plan_;
};

}  // namespace

BlockRules EventTimeBlockRules(int table_version, const CommittedInstants& instants) {
  BlockRules rules;
  rules.as_of = instants.as_of().value_or("");
  rules.asks_timeline = table_version < kOwnLogsVersion;
  return rules;
}

BlockRules PlainScanBlockRules(const CommittedInstants& instants, bool keeps_duplicates) {
  BlockRules rules;
  rules.as_of = instants.newest();
  rules.ends_at_later_block = true;
  rules.keeps_compacted_blocks = true;
  rules.keeps_duplicates = keeps_duplicates;
  return rules;
}

std::string_view BlockFateName(BlockFate fate) {
  return kFateNames.at(static_cast<size_t>(fate));
}

BlockPlan PlanBlocks(std::span<const SliceBlock> blocks, std::span<const LogFile> files,
                     const CommittedInstants& instants, const BlockRules& rules) {
  return Planner(blocks, files, instants, rules).Plan();
}

}  // namespace tidemark::lake::hudi
