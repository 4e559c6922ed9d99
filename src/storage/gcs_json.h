/// The JSON answers of Google Cloud Storage, as values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "storage/bucket_listing.h"

namespace tidemark::storage {

/// One page of "objects: list". kCorrupt for what is no "storage#objects", or has an entry without
/// name, size or time of its creation. That time is the object's: "updated" also moves when only
/// its description changes.
Result<ListPage> ParseGcsListPage(std::string_view json);

/// Size and time of a "storage#object"; its key is not looked at.
std::optional<ObjectInfo> ParseGcsObject(std::string_view json);

struct GcsErrorText {
  std::string reason;   ///< "rateLimitExceeded"; empty when the body is no error of the JSON API
  std::string message;  ///< one line, shortened; the body itself where it is plain text
};

/// Never fails: what is no error document gives its beginning as the message.
GcsErrorText ParseGcsError(std::string_view body);

}  // namespace tidemark::storage
