/// The inventory of a table as a listing of its files and its timeline show it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "change/instant_effect.h"
#include "change/inventory.h"
#include "lake/hudi/partitions.h"

namespace tidemark::change {

/// Which instants count.
struct CountedInstants {
  std::set<std::string, std::less<>> committed;  ///< requested times of commits
  /// Commits requested before it count though they are not named: they are archived. Empty: none.
  std::string start{};
  /// Do not count although they are older than `start`: pending, or archived and not published yet.
  std::set<std::string, std::less<>> excluded;

  bool Counts(std::string_view instant) const;
};

/// File groups with a file of an instant that counts, without those that a counted replacecommit
/// replaced. `bodies`: at least of all counted replacecommits that may have replaced a group whose
/// files are still there; Hudi archives none before its files are cleaned.
Inventory ReadInventory(const lake::hudi::PartitionListing& listing,
                        const std::map<InstantKey, InstantEffect>& bodies,
                        const CountedInstants& counted);

}  // namespace tidemark::change
