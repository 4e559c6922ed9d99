/// The ordering value of a delete block's record, as merging knows it.
#pragma once

#include "base/error.h"
#include "lake/hudi/delete_block.h"
#include "merge/ordering_value.h"
#include "scan/ordering_fields.h"

namespace tidemark::scan {

/// What it views is what `ordering` views, or lies in `arena` (several fields). kCorrupt and
/// kExhausted as merge::OrderingValue.
Result<merge::OrderingValue> DeletedOrdering(const lake::hudi::DeleteOrdering& ordering,
                                             const OrderingFields& fields,
                                             merge::OrderingArena& arena);

}  // namespace tidemark::scan
