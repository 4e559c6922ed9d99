/// The files that a completed commit says it wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace tidemark::lake::hudi {

struct WrittenFile {
  std::string path;  ///< relative to the table
  /// Bytes from the file's beginning to the end of what was written. A log file may have grown
  /// since.
  uint64_t size = 0;
  /// The commit that the write built upon, `prevCommit`; empty for the first of a file group.
  std::string previous;

  friend bool operator==(const WrittenFile&, const WrittenFile&) = default;
};

/// What an inflight body says is to be written.
struct PlannedWrite {
  std::string partition;
  std::string file_id;  ///< empty: file groups that are new

  friend bool operator==(const PlannedWrite&, const PlannedWrite&) = default;
};

struct CommitWrites {
  std::vector<WrittenFile> files;
  std::vector<PlannedWrite> planned;  ///< writes without a path
  /// The body says what was written, be it nothing: it has write stats, and where they are empty
  /// the operation or extra metadata that writers leave. false: an empty body, `{}`, null stats.
  bool is_told = false;
};

/// Reads them off a commit body, JSON or Avro. Left out are writes without a path or of no bytes: a
/// writer that had nothing to append leaves no file. A path that leads out of the table stands for
/// the file of its name in the partition that it is listed under. Errors as ParseCommitMetadata.
/// Takes the body because the JSON parser needs spare bytes behind it.
Result<CommitWrites> ParseCommitWrites(std::string body);
/// The files alone.
Result<std::vector<WrittenFile>> ParseWrittenFiles(std::string body);

}  // namespace tidemark::lake::hudi
