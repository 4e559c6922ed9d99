/// Two base files of one write in one file group: a task was tried again, and what its first try
/// left was not removed.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>

#include "base/budget.h"
#include "base/error.h"
#include "lake/hudi/file_slices.h"
#include "lake/hudi/slice_inputs_internal.h"
#include "lake/hudi/timeline.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

/// Says which of them counts: the one that the write's commit names. Borrows what it is made of.
class BaseTwins {
 public:
  BaseTwins(const storage::ObjectStore& store, const Timeline& timeline, const Budget& budget,
            FindingList& findings)
      : store_(store), timeline_(timeline), budget_(budget), findings_(findings) {}

  /// The place in `twins`, at least two by key, and a finding for it: "duplicate_base_file"; where
  /// the commit is archived, cannot be read, or names none or several of them,
  /// "ambiguous_base_file" if they are of the latest slice of their group. Then the last counts, as
  /// for readers that list folders. Cost: one read per write that has twins.
  Result<size_t> Choose(std::span<const BaseFile> twins, bool is_latest);

 private:
  struct Commit {
    std::set<std::string, std::less<>> paths;
    std::string unknown;  ///< why there are none
  };
  Result<const Commit*> CommitOf(const std::string& instant);
  Result<Commit> ReadCommit(const std::string& instant) const;

  const storage::ObjectStore& store_;
  const Timeline& timeline_;
  const Budget& budget_;
  FindingList& findings_;
  std::unordered_map<std::string, Commit> commits_;  // by requested time
};

}  // namespace tidemark::lake::hudi
