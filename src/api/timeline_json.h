/// A table's timeline as JSON, schema "tidemark.timeline/1".
#pragma once

#include <string>
#include <string_view>

#include "lake/hudi/properties.h"
#include "lake/hudi/timeline.h"

namespace tidemark::api {

/// One object on one line, without a line feed; instants newest last. An action we do not know is
/// given by its word. Added to the contract's keys: planned_as of an instant (the pending action a
/// commit completed), ignored_files and findings at the end.
std::string TimelineJson(std::string_view table, const lake::hudi::TableProperties& properties,
                         const lake::hudi::Timeline& timeline);

}  // namespace tidemark::api
