/// The archived timeline: instants that the writer has moved out of the active one (hudi-format
/// §5).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "lake/column_reader.h"
#include "lake/finding.h"
#include "lake/hudi/archive_entry.h"
#include "lake/hudi/archive_files.h"
#include "lake/hudi/properties.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

/// More instants than this are not held of one archive (kExhausted).
inline constexpr size_t kArchivedInstantsMax = 1 << 20;
/// A larger file of an archive is not read (a Finding). Writers stop at 1 GB.
inline constexpr uint64_t kArchiveFileSizeMax = uint64_t{1} << 30;

/// Walks an archive from the newest instant to the oldest, reading its files only as far as needed:
/// a file's instants are older than its last change, so files that were last changed well before
/// the instant at hand wait. Neither names nor numbers of files say this: merges and upgrades break
/// their order. Both layouts, and the legacy archive of an upgraded table beside its new history.
/// Borrows the store. Single-threaded.
class ArchiveWalk {
 public:
  /// Lists the archive; a table without one has no instants. Cost: one to three listings and, in
  /// layout 2, two small reads; more while its writer changes it.
  static Result<ArchiveWalk> Open(const storage::ObjectStore& store,
                                  const TableProperties& properties, ColumnReaderSource columns,
                                  const ArchiveOptions& options, const Budget& budget);

  /// The next older instant by requested time and action, each once, in the highest state that the
  /// archive has of it; nullopt behind the oldest. It may stand in the active timeline as well: the
  /// writer removes it there after it is here. What cannot be read is a Finding. kConflict: a
  /// listed file is gone, open anew. kUnavailable: also when the Parquet module is needed and
  /// missing.
  Result<std::optional<ArchivedInstant>> Next(const Budget& budget);

  /// false: something that may have held instants could not be read, so that an instant not found
  /// proves nothing. May turn false with every Next().
  bool is_whole() const { return is_whole_; }
  /// Since the last call. Kinds: those of FindArchiveFiles and of LogReader, and
  /// "oversized_archive_file", "unreadable_archive_file", "unreadable_archive_entry",
  /// "unreadable_commit", "unknown_action".
  std::vector<Finding> TakeFindings() { return std::exchange(findings_, {}); }
  size_t files_read() const { return files_read_; }
  size_t file_count() const { return files_.size(); }

 private:
  ArchiveWalk(const storage::ObjectStore& store, ColumnReaderSource columns,
              const ArchiveOptions& options)
      : store_(&store), columns_(std::move(columns)), options_(options) {}

  bool IsNewestSafe() const;
  Status ReadFile(const ArchiveFile& file, const Budget& budget);
  Status Keep(ArchivedInstant archived, const ArchiveFile& file);
  Result<std::optional<ArchiveMergePlan>> ReadMergePlan(const ArchiveFile& file,
                                                        const Budget& budget) const;
  bool IsUnfinishedMerge(const ArchiveFile& file, const ArchiveMergePlan& plan) const;

  const storage::ObjectStore* store_;
  ColumnReaderSource columns_;
  ArchiveOptions options_;
  std::vector<ArchiveFile> files_;  // last changed first
  size_t next_file_ = 0;
  // Read and not handed out, by requested time and the word of the comparable action.
  std::map<std::pair<std::string, std::string>, ArchivedInstant> held_;
  size_t held_text_ = 0;  // bytes
  std::set<std::string> unknown_words_;
  bool is_whole_ = true;
  size_t files_read_ = 0;
  std::vector<Finding> findings_;
};

/// A whole archive.
struct Archive {
  std::vector<ArchivedInstant> instants;  ///< as ArchiveWalk, oldest first
  bool is_whole = true;
  size_t files_read = 0;
  std::vector<Finding> findings;
};

/// Reads all of an archive, anew when it changes meanwhile. Errors as ArchiveWalk.
Result<Archive> ReadArchive(const storage::ObjectStore& store, const TableProperties& properties,
                            const ColumnReaderSource& columns, const ArchiveOptions& options,
                            const Budget& budget);

}  // namespace tidemark::lake::hudi
