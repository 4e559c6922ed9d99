/// Where a store is, taken apart from the words of the user.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tidemark::storage {

enum class StoreKind { kLocal, kS3, kGcs, kAzure, kMemory };

struct StoreUri {
  StoreKind kind = StoreKind::kLocal;
  /// As the user wrote it, without trailing '/'.
  std::string text;
  std::string path;    ///< kLocal: the path, percent-decoded where it was a file: URI
  std::string bucket;  ///< kS3, kGcs; kAzure: the container
  std::string prefix;  ///< of the same: key of the root, "" or "a/b", never percent-decoded
  /// kAzure: "lake.blob.core.windows.net", where its blobs are; empty for az://, which names none.
  std::string host;
  std::string name;  ///< kMemory

  friend bool operator==(const StoreUri&, const StoreUri&) = default;
};

/// "s3" of "s3://bucket/x" and "file" of "file:/x"; empty for a plain path. Lower case.
std::string SchemeOf(std::string_view uri);

/// kInvalidArgument for an empty text, a scheme nobody knows, a file: URI of another host or with a
/// bad escape, a URI of a bucket without its name or with credentials in it; kUnsupported for adl,
/// hdfs, viewfs. Messages hold no secret.
Result<StoreUri> ParseStoreUri(std::string_view uri);

/// One text for every way to write a place, for comparing: "s3://b/x" of "s3a://b/x/",
/// "file:///x" of "file:/x" and "/x"; a relative path is one of the working folder. What lies in it
/// begins with it and a '/'. What is no place stays as it is.
std::string ComparableUri(std::string_view uri);

/// Whether `place` is `outer` or lies in it; both as ComparableUri or absolute paths.
bool LiesIn(std::string_view place, std::string_view outer);

/// Undoes %XX; kInvalidArgument for a '%' without two hex digits and for %00.
Result<std::string> PercentDecoded(std::string_view text);

}  // namespace tidemark::storage
