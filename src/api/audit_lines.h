/// The lines that carry an audit's work to other processes and back: tasks
/// ("tidemark.audit_task/1") and the reports of parts ("tidemark.audit_part/1").
#pragma once

#include <string>
#include <string_view>

#include "audit/report.h"
#include "audit/table_audit.h"
#include "base/error.h"

namespace tidemark::api {

/// One object on one line, without a line feed.
std::string AuditTaskJson(const audit::AuditTask& task);
/// kInvalidArgument: it is no such object.
Result<audit::AuditTask> ParseAuditTask(std::string_view line);

/// As AuditJson, but rows are text, so that reading it back loses nothing.
std::string AuditPartJson(const audit::Report& report);
/// kInvalidArgument: it is no such object, or cut short.
Result<audit::Report> ParseAuditPart(std::string_view line);

}  // namespace tidemark::api
