/// What a daemon says of itself.
#pragma once

#include <string_view>

#include "metrics/point.h"

namespace tidemark::metrics {

/// The families of FamilyGroup::kProcess, read from /proc now.
Points ProcessPoints(std::string_view version);

/// Of these only what is running: values that leave the process do not speak of its memory, and
/// agents that collect them have series of the same names of their own.
Points BuildPoints(std::string_view version);

}  // namespace tidemark::metrics
