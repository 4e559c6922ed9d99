/// The JSON form of a commit body.
#pragma once

#include <string>

#include "base/error.h"
#include "lake/hudi/commit_metadata.h"

namespace tidemark::lake::hudi {

/// See ParseCommitMetadata. `body` may grow in capacity; its bytes stay.
Result<CommitMetadata> ParseJsonCommitMetadata(std::string& body);

}  // namespace tidemark::lake::hudi
