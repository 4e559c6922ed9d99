/// An audit's report for people.
#pragma once

#include <string>

#include "audit/report.h"
#include "cli/command.h"

namespace tidemark::cli {

/// What was looked at, how many findings of each kind, and the findings listed, each with its
/// evidence and explanation.
std::string AuditTable(const audit::Report& report, const Terminal& terminal);

}  // namespace tidemark::cli
