/// The freshness report for people.
#pragma once

#include <span>
#include <string>

#include "cli/command.h"
#include "freshness/report.h"

namespace tidemark::cli {

/// One line a pipeline, below it the sentence that says what to do and what was found amiss in the
/// table; with `with_partitions` also a
/// line per partition. Suppressed numbers show as "-".
std::string FreshnessTable(std::span<const freshness::PipelineReport> reports, bool with_partitions,
                           const Terminal& terminal);

}  // namespace tidemark::cli
