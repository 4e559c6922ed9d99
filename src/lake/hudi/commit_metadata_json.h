/// The JSON form of a commit body.
#pragma once

#include <string>

#include "base/error.h"
#include "lake/hudi/commit_metadata.h"

namespace tidemark::lake::hudi {

class WriteSink;

/// See ParseCommitBody. `body` may grow in capacity; its bytes stay.
Result<CommitMetadata> ParseJsonCommitMetadata(std::string& body, WriteSink* writes);

}  // namespace tidemark::lake::hudi
