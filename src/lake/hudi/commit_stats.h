/// What a completed commit says of every write: the facts that a feed of changes is built from.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "lake/hudi/commit_metadata.h"

namespace tidemark::lake::hudi {

/// One write stat. Numbers are as the writer gave them; negative or absent ones are 0.
struct WriteStat {
  std::string file_id;
  /// Of the file written, relative to the table. Empty: the writer had nothing to write, and left
  /// no file. A path that leads out of the table stands for the file of its name in the partition.
  std::string path;
  /// `prevCommit`: requested time of the commit that the write built upon; empty for the first
  /// write of a file group. The first log file of a group of table version 8 and later names its
  /// own commit here.
  std::string previous;
  uint64_t records_written = 0;  ///< `numWrites`: of a base file all its records, copied ones too
  uint64_t inserted = 0;         ///< `numInserts`
  uint64_t updated = 0;          ///< `numUpdateWrites`
  uint64_t deleted = 0;          ///< `numDeletes`
  /// `totalWriteBytes`: of a base file its size, of a log file what this commit appended. The
  /// releases known say the same in `fileSizeInBytes`, which stands in where the former is absent.
  uint64_t bytes = 0;
  bool is_log = false;  ///< told from the name; a path that is no log file's is a base file's

  friend bool operator==(const WriteStat&, const WriteStat&) = default;
};

struct CommitStats {
  CommitMetadata metadata;  ///< as ParseCommitMetadata, extra metadata whole
  /// By partition, "" for a table without partitions; in the order written. A partition may have
  /// none.
  std::map<std::string, std::vector<WriteStat>> partitions;
  /// The body says what was written, be it nothing: as CommitWrites.
  bool is_told = false;

  friend bool operator==(const CommitStats&, const CommitStats&) = default;
};

/// Reads all of a commit body, JSON or Avro, in one pass; an empty body is empty stats. Errors as
/// ParseCommitMetadata; here the bytes inside the write stats count as well. Takes the body because
/// the JSON parser needs spare bytes behind it. Cost: bench/commit_metadata_bench.
Result<CommitStats> ParseCommitStats(std::string body);

}  // namespace tidemark::lake::hudi
