/// The rows of one file slice under a profile: its logs folded by key, its base file streamed
/// through them.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "lake/hudi/file_slices.h"
#include "scan/scan_table.h"

namespace tidemark::scan {

/// What a scan did.
struct SliceCounts {
  uint64_t base_rows = 0;
  uint64_t log_versions = 0;
  uint64_t rows = 0;  ///< given to the sink
  uint32_t passes = 1;

  SliceCounts& operator+=(const SliceCounts& other);
};

enum class SliceView : uint8_t {
  kSnapshot,
  kReadOptimized,  ///< base files alone
};

/// Gives the rows of a slice to `sink`: first those of the base file that stay, in its order, then
/// those of the logs in the order in which their keys came first. A slice whose logs do not fit
/// into `table.memory_max` is read in several passes, each over a part of the keys (by hash): the
/// same rows, pass by pass.
///
/// Findings: those of the log reader; "corrupt_record" (a row that won cannot be decoded and is
/// missing), "reader_fails" (a release's reader throws on a key, which is left out). Errors: those
/// of the store and the readers; kUnsupported: a block or file that is not read; kExhausted: no
/// number of passes makes it fit.
Result<SliceCounts> ScanSlice(const ScanTable& table, const lake::hudi::FileSlice& slice,
                              SliceView view, const BatchSink& sink);

/// Passes that files take which need `bytes` in memory. kExhausted: over kPassesMax.
Result<uint32_t> PassesFor(const ScanTable& table, const lake::hudi::FileSlice& slice,
                           uint64_t bytes);
inline constexpr uint64_t kPassesMax = 4096;
/// Of a slice read in passes one part in so many of the memory holds log files for the next pass.
inline constexpr uint64_t kHeldPart = 4;

/// "partition/file id", for messages.
std::string PlaceOf(const lake::hudi::FileSlice& slice);

}  // namespace tidemark::scan
