/// The body of a completed commit: what the writer noted beside the files it wrote.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tidemark::lake::hudi {

/// A larger body is not read (kExhausted). Real ones of 10,000 written files have 10 MB.
inline constexpr size_t kCommitBodySizeMax = size_t{256} << 20;

/// The parts of a commit's body that say where its data came from and what it replaced. The write
/// stats, which are nearly all of its bytes, are passed over.
struct CommitMetadata {
  std::map<std::string, std::string>
      extra;                             ///< `extraMetadata`; entries that are null are left out
  std::optional<std::string> operation;  ///< `operationType`, "UPSERT"
  bool is_compacted = false;             ///< `compacted`, set by compactions only
  /// `partitionToReplaceFileIds` of a replacecommit: the file groups that are no part of the table
  /// from it on, by partition.
  std::map<std::string, std::vector<std::string>> replaced;
  bool says_replaced = false;  ///< `partitionToReplaceFileIds` is there, though it may be empty

  friend bool operator==(const CommitMetadata&, const CommitMetadata&) = default;
};

/// Reads a commit body, JSON or Avro, told from its first bytes and not from the table's layout.
/// An empty body is empty metadata: a writer that crashed leaves it, and Hudi takes it for a commit
/// without files. kCorrupt for anything that is not one whole document from its first byte to its
/// last: a cut-off body never gives metadata, however much of it arrived. Bytes inside the write
/// stats of JSON are checked for balanced brackets, closed strings and UTF-8 only. kUnsupported for
/// an Avro codec or field types we do not read.
///
/// Takes the body because the JSON parser needs spare bytes behind it.
Result<CommitMetadata> ParseCommitMetadata(std::string body);

/// Whether a commit of this operation may change the table's schema
/// (WriteOperationType.canUpdateSchema of 0.14 and later). CLUSTER, COMPACT, INDEX and LOG_COMPACT
/// write the schema of what they rewrite, which may be older than that of a commit before them.
bool MayChangeSchema(std::string_view operation);

}  // namespace tidemark::lake::hudi
