/// Freshness reports as the file `sources.json` of dbt's artifact schema v3, which CI and catalogue
/// tools read (https://schemas.getdbt.com/dbt/sources/v3.json).
#pragma once

#include <span>
#include <string>

#include "base/clock.h"
#include "freshness/report.h"

namespace tidemark::api {

/// One object on one line, without a line feed. unique_id is "source.tidemark.<cluster>.<pipeline>"
/// ("default" for a cluster without a name). fresh, warning and breach are pass, warn and error;
/// max_loaded_at is how far the table has all records: the stamp of the oldest missing one, or the
/// time of the look when nothing waits. Without a lag (unknown, or a loss of unknown age) it is a
/// "runtime error" with the message. Disabled pipelines and those in maintenance are left out: the
/// schema has no word for them. Criteria are whole minutes, rounded up; the status is exact.
std::string SourcesJson(std::span<const freshness::PipelineReport> reports, WallTime generated_at,
                        Milliseconds duration);

}  // namespace tidemark::api
