/// Values as text in Prometheus' query language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace tidemark::rules {

/// `text` as a string literal: "orders" with its quotes. Bytes that a query cannot hold as they
/// are, and "{{", which templates of other programs would take for theirs, are written as escapes.
std::string QuotedText(std::string_view text);

/// A matcher for the label `pipeline`: `pipeline="a"` for one, `pipeline=~"a|b"` for several, the
/// names taken literally. `names` is not empty.
std::string PipelineMatcher(const std::vector<std::string>& names);

/// In the largest unit that divides it: "1d", "90m", "30s", "1500ms".
std::string RangeText(Milliseconds duration);

}  // namespace tidemark::rules
