/// An audit's report as JSON, schema "tidemark.audit/1".
#pragma once

#include <string>
#include <string_view>

#include "audit/report.h"

namespace tidemark::api {

/// One object on one line, without a line feed. Added to the contract's keys: of a finding
/// repairable, rests_on_history and made_permanent_by; of the summary file_groups, severities,
/// listed, damages and complete; unjudged at the end.
std::string AuditJson(const audit::Report& report);

}  // namespace tidemark::api
