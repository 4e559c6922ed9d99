/// What a daemon says of itself.
#pragma once

#include <string>
#include <string_view>

#include "metrics/text_exposition.h"

namespace tidemark::metrics {

/// The families of FamilyGroup::kProcess, read from /proc now.
std::string ProcessExposition(std::string_view version, TextFormat format);

}  // namespace tidemark::metrics
