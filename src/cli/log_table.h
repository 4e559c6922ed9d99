/// A log file for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "lake/hudi/log_listing.h"

namespace tidemark::cli {

/// A line per block and per damaged stretch, by offset, with the deletes of a block below it.
std::string LogTable(std::string_view file, uint64_t size, const lake::hudi::LogListing& listing,
                     const Terminal& terminal);

}  // namespace tidemark::cli
