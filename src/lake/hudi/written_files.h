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

/// Reads them off a commit body, JSON or Avro. Left out are writes without a path inside the table
/// or of no bytes: a writer that had nothing to append leaves no file. An empty body wrote nothing.
/// Errors as ParseCommitMetadata. Takes the body because the JSON parser needs spare bytes behind
/// it.
Result<std::vector<WrittenFile>> ParseWrittenFiles(std::string body);

}  // namespace tidemark::lake::hudi
