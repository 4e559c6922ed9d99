/// What one file of an archive holds, over what is damaged in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "lake/column_reader.h"
#include "lake/finding.h"
#include "lake/hudi/archive_entry.h"

namespace tidemark::lake::hudi {

/// More text than this is not held of one archive (kExhausted).
inline constexpr size_t kArchivedTextMax = size_t{512} << 20;

/// Bytes of an instant's metadata, for kArchivedTextMax.
size_t ArchivedTextSize(const ArchivedInstant& archived);

struct ArchiveContent {
  std::vector<ArchivedInstant> instants;  ///< as written; one instant may come several times
  /// false: bytes that may have held instants could not be read. A torn tail does not count: what
  /// its writer was archiving is still in the active timeline.
  bool is_whole = true;
  std::vector<Finding> findings;
};

/// Reads a log file of layout 1. `place`: the file as findings name it.
ArchiveContent ReadArchiveLog(std::string_view bytes, const std::string& place,
                              const ArchiveOptions& options);

/// Reads a Parquet file of layout 2. Never kCorrupt: that is a finding.
ArchiveContent ReadArchiveHistory(std::string_view bytes, const std::string& place,
                                  const ColumnReader& columns, const ArchiveOptions& options);

}  // namespace tidemark::lake::hudi
