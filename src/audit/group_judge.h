/// One file group at hand: its versions of one pass over the keys, what is found of them, and how
/// that becomes a finding of the audit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "audit/report.h"
#include "base/error.h"
#include "columnar/batch.h"
#include "columnar/row_builder.h"
#include "merge/judge.h"
#include "scan/group_versions.h"
#include "scan/scan_table.h"

namespace tidemark::audit {

/// Differences between a reader's result and the right one, as opposed to facts of the files.
bool IsDifference(merge::FindingKind kind);

/// Borrows all it is made of. Single-threaded.
class GroupJudge {
 public:
  GroupJudge(const scan::ScanTable& table, const scan::GroupFiles& files, size_t group,
             scan::KeyPass pass, const merge::KeyJudge& judge);

  Status Read() { return versions_.Read(); }
  scan::GroupVersions& versions() { return versions_; }
  const lake::hudi::FileGroupId& id() const { return slices_.back().group; }
  /// Readers read its newest slice; else a clustering replaced the group.
  bool is_read() const { return slices_.back().is_latest; }
  const std::string& replaced_by() const { return *slices_.back().replaced_by; }

  /// What the group alone says of a key: its result by event time, and everything that is found.
  Result<merge::Merged> Judge(const merge::KeyVersions& key,
                              std::vector<merge::MergeFinding>& found);
  /// What a reader (of the judge's) shows of the key.
  merge::Merged Shown(size_t reader, const merge::KeyVersions& key) const;
  /// Whether it, by event time, is a row of the newest slice.
  bool IsShown(const merge::KeyVersions& key) const;

  /// A finding that names group and key.
  Finding Named(uint32_t key) const;
  /// All of a finding but its sides; `found` rests on versions of this group.
  Finding Made(uint32_t number, const merge::KeyVersions& key,
               const merge::MergeFinding& found) const;
  Evidence EvidenceOf(const merge::Version& version, const merge::KeyVersions& key) const;
  /// Of a result that rests on versions of this group.
  Result<Side> SideOf(const merge::Merged& merged, Finding& finding);
  /// nullopt: it cannot be decoded, which `finding` then says.
  Result<std::optional<columnar::Batch>> RowOf(const merge::Merged& merged, Finding& finding);
  /// Rows of equal key in the newest base file.
  std::optional<Finding> DuplicateRows(uint32_t number);

 private:
  void JudgeWithoutHidden(size_t reader, const merge::KeyVersions& key, const merge::Merged& right,
                          std::vector<merge::MergeFinding>& found) const;
  Status InspectLayers(const merge::KeyVersions& key, const merge::Merged& right,
                       std::vector<merge::MergeFinding>& found);
  Result<bool> HoldsUnavailable(const merge::Merged& merged);
  void JudgeReplaced(const merge::Merged& right, std::vector<merge::MergeFinding>& found) const;
  std::vector<merge::Version> SeenBy(size_t reader, const merge::KeyVersions& key,
                                     std::optional<merge::Version>& passed_over) const;

  const scan::ScanTable& table_;
  const scan::GroupFiles& files_;
  size_t group_;
  scan::GroupSlices slices_;
  const merge::KeyJudge& judge_;
  scan::GroupVersions versions_;
  columnar::RowBuilder builder_;
  /// Places (file, block) that a reader passes over, by reader.
  std::vector<std::set<std::pair<uint32_t, uint32_t>>> hidden_;
};

}  // namespace tidemark::audit
