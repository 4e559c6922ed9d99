/// Reading folders of a file system as an object store lists them.
#pragma once

#include <string>

#include "storage/object_store.h"

namespace tidemark::storage {

/// Lists the folder at `path`, whose keys begin with `prefix` ("" or "a/b/"). A folder that does
/// not exist is kNotFound. A symbolic link to one of its own parents is left out: it holds nothing
/// new.
Result<Listing> ListLocalFolder(const std::string& path, const std::string& prefix,
                                std::string_view uri, const ListOptions& options,
                                const Budget& budget);

}  // namespace tidemark::storage
