/// Slices that were part of the table at an earlier moment and that the cleaner has removed since.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/budget.h"
#include "base/error.h"
#include "lake/hudi/clean_metadata.h"
#include "lake/hudi/file_slices.h"
#include "lake/hudi/properties.h"
#include "lake/hudi/slice_inputs_internal.h"
#include "lake/hudi/timeline.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

/// What the cleans of the active timeline removed that were requested after `after` (nullopt: all),
/// by requested time: the metadata of completed ones, the plan of those under way. What an earlier
/// clean removed was no part of the table at `after`. kCorrupt, kUnsupported: one cannot be read,
/// so that nobody knows what it removed. kConflict: one is gone meanwhile. Cost: one read per
/// clean.
Result<std::map<std::string, CleanMetadata>> ReadCleans(const storage::ObjectStore& store,
                                                        const Timeline& timeline,
                                                        const std::optional<std::string>& after,
                                                        const Budget& budget);

/// Looks through `inputs.cleans` for a file that a slice of the table at `options.as_of` consisted
/// of and that is on storage no more. REQUIRES: options.as_of.
std::optional<CleanedSlice> FindCleanedSlice(const TableProperties& properties,
                                             const SliceInputs& inputs, const SliceOptions& options,
                                             const TableSlices& table);

}  // namespace tidemark::lake::hudi
