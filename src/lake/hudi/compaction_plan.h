/// What a compaction set out to do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tidemark::lake::hudi {

/// One file slice to be compacted. Names are those of files, without folders.
struct CompactionOperation {
  std::string partition;
  std::string file_id;
  std::string base_instant;
  std::string base_file;  ///< empty where the slice has none
  std::vector<std::string> log_files;

  friend bool operator==(const CompactionOperation&, const CompactionOperation&) = default;
};

/// Reads a `.compaction.requested` body (HoodieCompactionPlan in an Avro container), of any
/// release. An empty body plans nothing. kCorrupt unless it holds exactly one whole record;
/// kUnsupported for an Avro codec or field types we do not read.
Result<std::vector<CompactionOperation>> ParseCompactionPlan(std::string_view body);

}  // namespace tidemark::lake::hudi
