/// The sentences of findings; of this module alone.
#pragma once

#include <optional>
#include <string>

#include "merge/java_order.h"

namespace tidemark::merge {

std::string ClassMismatchText(const JavaValue& data, const std::optional<JavaValue>& deleted);

}  // namespace tidemark::merge
