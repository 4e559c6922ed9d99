/// Which files an archive consists of, in both layouts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"
#include "lake/finding.h"
#include "lake/hudi/properties.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

enum class ArchiveFormat {
  kLog,      ///< layout 1: `.commits_.archive.N`, a log file of Avro records
  kParquet,  ///< layout 2: a file that the newest manifest names
};

struct ArchiveFile {
  std::string key;  ///< relative to the table
  uint64_t size = 0;
  WallTime modified{};
  ArchiveFormat format = ArchiveFormat::kLog;

  friend bool operator==(const ArchiveFile&, const ArchiveFile&) = default;
};

struct ArchiveFiles {
  std::vector<ArchiveFile> files;  ///< last changed first
  bool is_whole = true;            ///< false: a file of the archive is known to be missing
  std::vector<Finding> findings;   ///< "missing_archive_file", "unreadable_archive_manifest"
};

/// Lists the archive of a table: that of its layout, and in layout 2 also what an upgrade left in
/// the legacy folder. A table without an archive has no files. kConflict when it keeps changing
/// under the listing.
Result<ArchiveFiles> FindArchiveFiles(const storage::ObjectStore& store,
                                      const TableProperties& properties, const Budget& budget);

/// Whether a file name is that of a log file of layout 1: `.commits_.archive.N` and whatever
/// follows the digits.
bool IsArchiveLogName(std::string_view name);

/// The file names in a manifest of layout 2, in its order. kCorrupt for anything but the JSON that
/// writers make, and for a name that leads elsewhere.
Result<std::vector<std::string>> ParseArchiveManifest(std::string_view json);

/// What the `mergeArchivePlan` of layout 1 says: while it is there, `merged` is being made from
/// `candidates`, which are removed when it is done. File names.
struct ArchiveMergePlan {
  std::string merged;
  std::vector<std::string> candidates;
};

/// kCorrupt and kUnsupported as avro::Container; kCorrupt without a merged name.
Result<ArchiveMergePlan> ParseArchiveMergePlan(std::string_view bytes);

inline constexpr std::string_view kArchiveMergePlanName = "mergeArchivePlan";

}  // namespace tidemark::lake::hudi
