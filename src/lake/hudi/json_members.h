/// A JSON object of strings, as checkpoints of several writers are written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tidemark::lake::hudi {

/// Name and value of one member; nullopt for a value that is no string.
using JsonMember = std::pair<std::string, std::optional<std::string>>;

/// The members of the object that `text` is, in the order written, names not made unique. kCorrupt
/// when it is not one whole object; values that are no strings are checked for balanced brackets
/// only.
Result<std::vector<JsonMember>> ParseJsonMembers(std::string_view text);

}  // namespace tidemark::lake::hudi
