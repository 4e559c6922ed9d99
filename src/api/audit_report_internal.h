/// The body that both forms of an audit's report share.
#pragma once

#include <string>
#include <string_view>

#include "audit/report.h"

namespace tidemark::api {

inline constexpr std::string_view kAuditSchema = "tidemark.audit/1";
inline constexpr std::string_view kAuditPartSchema = "tidemark.audit_part/1";

/// With `has_text_rows` a row is a string that holds its JSON, else the JSON itself.
std::string ReportJson(std::string_view schema, const audit::Report& report, bool has_text_rows);

}  // namespace tidemark::api
