#include "scan/slice_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace tidemark::scan {
namespace {

using lake::hudi::SliceLog;

/// Of what a scan may hold; blocks over that wait for each other.
constexpr uint64_t kLargePart = 4;

/// The others ask for what is right, by event time or by arrival.
bool IsRelease(const merge::Profile& profile) {
  return profile.name != "event-time" && profile.name != "commit-time";
}

/// Whole files from the last to the first, the blocks of each as they were.
std::vector<size_t> NewestFileFirst(const std::vector<size_t>& order, const SliceLog& log) {
  std::vector<size_t> turned;
  for (size_t end = order.size(); end > 0;) {
    size_t begin = end - 1;
    while (begin > 0 && log.blocks()[order[begin - 1]].file == log.blocks()[order[end - 1]].file) {
      --begin;
    }
    for (size_t i = begin; i < end; ++i) turned.push_back(order[i]);
    end = begin;
  }
  return turned;
}

/// Of the blocks that count.
Status CheckSizes(const ScanTable& table, const SliceLog& log, const std::vector<size_t>& order) {
  for (const size_t place : order) {
    const auto& block = log.blocks()[place];
    if (block.size <= table.block_bytes_max) continue;
    return Fail(
        ErrorKind::kExhausted,
        fmt::format("a log block is over the memory limit, file={} block={} "
                    "bytes={} limit={}",
                    log.files()[block.file].key, block.number, block.size, table.block_bytes_max));
  }
  return {};
}

}  // namespace

std::optional<lake::Finding> FindingOfBlock(const Error& error, std::string_view file_name) {
  switch (error.kind) {
    case ErrorKind::kCorrupt:
      return lake::Finding{"corrupt_block", std::string(file_name), error.message};
    case ErrorKind::kUnsupported:
    case ErrorKind::kExhausted:
      return lake::Finding{"unsupported_block", std::string(file_name), error.message};
    default: return std::nullopt;
  }
}

lake::hudi::BlockRules BlockRulesOf(const ScanTable& table, const merge::Profile& profile) {
  const merge::Rules& rules = profile.read;
  if (IsRelease(profile) && rules.release < merge::Release::k1_0_0) {
    return PlainScanBlockRules(table.instants, rules.release != merge::Release::k0_14);
  }
  return EventTimeBlockRules(table.properties.version, table.instants);
}

Result<SliceBlocks> SliceBlocks::Read(const ScanTable& table, const lake::hudi::FileSlice& slice,
                                      uint64_t held_bytes_max) {
  auto files = slice.logs;
  if (IsRelease(table.profile)) OrderLogs(files, lake::hudi::LogOrder::kByName);
  uint64_t bytes = 0;
  for (const auto& file : files) bytes += file.size;
  TRY_ASSIGN(auto log, SliceLog::Read(*table.store, std::move(files),
                                      {.held_bytes_max = held_bytes_max,
                                       .walked_block_bytes_max = table.memory_max / kLargePart},
                                      table.budget));
  SliceBlocks read(table, std::move(log));
  read.are_all_held_ = bytes <= held_bytes_max;
  read.held_bytes_ = std::min(bytes, held_bytes_max);
  for (const auto& finding : read.log_.findings()) table.findings(finding);
  auto plan = PlanBlocks(read.log_.blocks(), read.log_.files(), table.instants,
                         BlockRulesOf(table, table.profile));
  for (auto& finding : plan.findings) table.findings(std::move(finding));
  TRY(CheckSizes(table, read.log_, plan.order));
  std::map<std::string_view, uint32_t> ranks;
  for (const size_t place : plan.order) {
    ranks.try_emplace(read.log_.blocks()[place].instant, static_cast<uint32_t>(ranks.size() + 1));
  }
  read.order_ = table.profile.read.scan == merge::ScanOrder::kNewestFileFirst
                    ? NewestFileFirst(plan.order, read.log_)
                    : std::move(plan.order);
  for (const size_t place : read.order_) {
    read.commits_.push_back(ranks[read.log_.blocks()[place].instant]);
  }
  return read;
}

std::vector<std::string_view> SliceBlocks::Instants() const {
  std::vector<std::string_view> instants;
  for (const size_t place : order_) instants.emplace_back(log_.blocks()[place].instant);
  return instants;
}

std::set<std::pair<uint32_t, uint32_t>> SliceBlocks::HiddenFrom(
    const merge::Profile& profile) const {
  const auto plan =
      PlanBlocks(log_.blocks(), log_.files(), table_->instants, BlockRulesOf(*table_, profile));
  const std::set<size_t> seen(plan.order.begin(), plan.order.end());
  std::set<std::pair<uint32_t, uint32_t>> hidden;
  for (const size_t place : order_) {
    const auto& block = log_.blocks()[place];
    if (!seen.contains(place)) {
      hidden.emplace(static_cast<uint32_t>(block.file + 1), static_cast<uint32_t>(block.number));
    }
  }
  return hidden;
}

Status SliceBlocks::ForEach(const std::function<Status(const PlacedBlock& placed)>& visit) const {
  for (size_t i = 0; i < order_.size(); ++i) {
    TRY(table_->budget.Check());
    const auto& block = log_.blocks()[order_[i]];
    std::unique_lock<std::mutex> alone;
    if (!log_.is_held(block.file) && block.size > table_->memory_max / kLargePart) {
      alone = std::unique_lock(*table_->large_block);
    }
    TRY_ASSIGN(const auto loaded, log_.Load(order_[i], table_->budget));
    PlacedBlock placed;
    placed.block = loaded.block;
    placed.file_name = log_.files()[block.file].key;
    placed.instant = block.instant;
    placed.place = {commits_[i], static_cast<uint32_t>(block.file + 1),
                    static_cast<uint32_t>(block.number), 0};
    TRY(visit(placed));
  }
  return {};
}

}  // namespace tidemark::scan
