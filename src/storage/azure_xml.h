/// The XML answers of Azure Blob Storage, as values.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "storage/bucket_listing.h"

namespace tidemark::storage {

/// One page of "List Blobs" with include=metadata. What stands for a folder (accounts with a
/// hierarchical namespace list their folders as blobs; Hadoop's older driver makes such blobs) is
/// left out. kCorrupt for what is no EnumerationResults, lacks NextMarker, or has an entry without
/// name, size or time.
Result<ListPage> ParseAzureListPage(std::string_view xml);

struct AzureErrorText {
  std::string code;     ///< "BlobNotFound"; empty when the body is no error of Azure's
  std::string message;  ///< its first line, shortened; the others name the request
};

/// Never fails: what is no error document gives empty fields.
AzureErrorText ParseAzureError(std::string_view xml);

}  // namespace tidemark::storage
