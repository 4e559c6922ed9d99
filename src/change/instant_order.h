/// In which order instants that became visible together are told.
#pragma once

#include <vector>

#include "change/instant_effect.h"
#include "lake/hudi/properties.h"
#include "lake/hudi/timeline.h"

namespace tidemark::change {

/// Sorts completed instants: by completion time; those of a table without completion times by the
/// time of their file where the table's file times can be believed (a copied table's cannot, see
/// lake/hudi/commit_time.h), else by requested time. Then by requested time and action. After an
/// upgrade, instants without a completion time come first. An order of presentation only: whoever
/// applies the groups ends in the same state whatever it is (change-feed §2.3).
void SortForTelling(std::vector<const InstantEffect*>& instants,
                    const lake::hudi::Timeline& timeline, lake::hudi::TimelineZone zone);

}  // namespace tidemark::change
