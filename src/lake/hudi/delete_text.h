/// Ordering values of deletes, for people and for evidence.
#pragma once

#include <string>

#include "lake/hudi/delete_block.h"

namespace tidemark::lake::hudi {

/// Numbers as stored, decimals and dates written out ("2.250000000000000", "2026-01-31"), text as
/// it is, bytes in hex ("0x80"), several fields as "[1, z]", nothing as "null".
std::string OrderingText(const DeleteOrdering& ordering);

/// "LongWrapper", "ArrayWrapper[LongWrapper, StringWrapper]"; the class in a version 2 block
/// ("java.lang.Long"); "none" in a version 1 block.
std::string OrderingTypeText(const DeleteOrdering& ordering);

}  // namespace tidemark::lake::hudi
