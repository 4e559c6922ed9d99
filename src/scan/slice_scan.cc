#include "scan/slice_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scan/base_file.h"
#include "scan/slice_blocks.h"
#include "scan/slice_fold.h"

namespace tidemark::scan {
namespace {

/// Memory that a byte of log file costs when all of its keys are held: the byte itself and the
/// key's entry.
constexpr uint64_t kMemoryPerLogByte = 2;
uint64_t MemoryFor(const lake::hudi::FileSlice& slice) {
  uint64_t bytes = 0;
  for (const auto& log : slice.logs) bytes += log.size * kMemoryPerLogByte;
  return bytes;
}

Status FoldBlocks(const SliceBlocks& blocks, SliceFold& fold) {
  TRY(blocks.ForEach([&](const PlacedBlock& placed) -> Status {
    Status done = fold.logs().Read(
        placed, [&](const MetVersion& met) { return fold.Take(met, blocks.are_all_held()); });
    if (done) return done;
    auto finding = FindingOfBlock(done.error(), placed.file_name);
    if (!finding) return done;
    // What lies before the damage counts, as do the other blocks.
    fold.Report(*std::move(finding));
    return {};
  }));
  if (auto finding = fold.logs().FindingOfOrdering()) fold.Report(*std::move(finding));
  return {};
}

Status StreamBase(const ScanTable& table, const lake::hudi::FileSlice& slice, SliceFold& fold,
                  SliceCounts& counts) {
  if (!slice.base) return {};
  TRY_ASSIGN(const auto reader, OpenBaseFile(table, *slice.base));
  while (true) {
    TRY(table.budget.Check());
    TRY_ASSIGN(const auto batch, reader->Next());
    if (!batch) return {};
    if (fold.is_first_pass()) counts.base_rows += batch->rows();
    TRY(fold.MeetBase(*batch));
  }
}

}  // namespace

SliceCounts& SliceCounts::operator+=(const SliceCounts& other) {
  base_rows += other.base_rows;
  log_versions += other.log_versions;
  rows += other.rows;
  passes = std::max(passes, other.passes);
  return *this;
}

std::string PlaceOf(const lake::hudi::FileSlice& slice) {
  return slice.group.partition.empty()
             ? slice.group.file_id
             : fmt::format("{}/{}", slice.group.partition, slice.group.file_id);
}

Result<uint32_t> PassesFor(const ScanTable& table, const lake::hudi::FileSlice& slice,
                           uint64_t bytes) {
  const uint64_t passes = bytes / table.memory_max + 1;
  if (passes <= kPassesMax) return static_cast<uint32_t>(passes);
  return Fail(ErrorKind::kExhausted,
              fmt::format("files of a slice are too large for the memory limit, slice={} "
                          "memory_limit={} passes={} passes_max={}",
                          PlaceOf(slice), table.memory_max, passes, kPassesMax));
}

Result<SliceCounts> ScanSlice(const ScanTable& table, const lake::hudi::FileSlice& slice,
                              SliceView view, const BatchSink& sink) {
  SliceCounts counts;
  const bool has_logs = view == SliceView::kSnapshot && !slice.logs.empty();
  if (has_logs) {
    TRY_ASSIGN(counts.passes, PassesFor(table, slice, MemoryFor(slice)));
  }
  std::optional<SliceBlocks> blocks;
  if (has_logs) {
    const uint64_t held = counts.passes == 1 ? UINT64_MAX : table.memory_max / kHeldPart;
    TRY_ASSIGN(blocks, SliceBlocks::Read(table, slice, held));
  }
  for (uint32_t pass = 0; pass < counts.passes; ++pass) {
    SliceFold fold(table, PlaceOf(slice), {pass, counts.passes}, sink);
    if (blocks) {
      TRY(FoldBlocks(*blocks, fold));
      if (pass == 0) counts.log_versions += fold.logs().versions_read();
    }
    TRY(StreamBase(table, slice, fold, counts));
    TRY(fold.Finish());
    counts.rows += fold.rows_out();
  }
  return counts;
}

}  // namespace tidemark::scan
