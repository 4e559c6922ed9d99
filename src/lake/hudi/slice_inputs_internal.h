/// What of a timeline's bodies the slices of a table depend on.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "lake/column_reader.h"
#include "lake/finding.h"
#include "lake/hudi/clean_metadata.h"
#include "lake/hudi/committed_instants.h"
#include "lake/hudi/compaction_plan.h"
#include "lake/hudi/file_slices.h"
#include "lake/hudi/properties.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

/// Keeps the first kSliceFindingsMax findings of each kind, and counts.
class FindingList {
 public:
  void Add(std::string kind, std::string place, std::string message);
  /// Appends, with a last one for every kind that had more.
  std::vector<Finding> Take() &&;

 private:
  std::vector<Finding> findings_;
  std::map<std::string, size_t> counts_;
};

struct SliceInputs {
  CommittedInstants instants;
  /// Requested time of the newest replacecommit at or before as_of that replaced the group.
  std::map<FileGroupId, std::string> replaced;
  /// Plans of compactions, by requested time: of the pending ones; with the orphan check of the
  /// completed ones too.
  std::map<std::string, std::vector<CompactionOperation>> plans;
  /// With the clean check: of the oldest replacecommit after as_of that replaced the group.
  std::map<FileGroupId, std::string> replaced_later;
  /// What cleans removed, by requested time; with the clean check of those after as_of.
  std::map<std::string, CleanMetadata> cleans;
};

/// Reads the bodies of replacecommits and plans. Errors as ReadFileSlices.
Result<SliceInputs> ReadSliceInputs(const storage::ObjectStore& store, const Timeline& timeline,
                                    const SliceOptions& options, const Budget& budget,
                                    FindingList& findings);

/// Adds what the archive says to `inputs`.
Status AddArchiveToInputs(const storage::ObjectStore& store, const TableProperties& properties,
                          const ColumnReaderSource& columns, const SliceOptions& options,
                          const Budget& budget, SliceInputs& inputs, FindingList& findings);

}  // namespace tidemark::lake::hudi
