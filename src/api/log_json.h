/// A log file as JSON, schema "tidemark.log/1".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lake/hudi/log_listing.h"

namespace tidemark::api {

/// One object on one line, without a line feed: the file, its name taken apart (null when it is not
/// that of a log file), every entry by offset with all its headers and deletes, and a summary.
std::string LogJson(std::string_view file, uint64_t size, const lake::hudi::LogListing& listing);

}  // namespace tidemark::api
