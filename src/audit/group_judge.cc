#include "audit/group_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "audit/evidence.h"
#include "columnar/batch_writer.h"
#include "scan/unavailable_value.h"

namespace tidemark::audit {

using merge::FindingKind;
using merge::KeyVersions;
using merge::Merged;
using merge::MergeFinding;
using merge::Severity;

bool IsDifference(FindingKind kind) {
  switch (kind) {
    case FindingKind::kLostRow:
    case FindingKind::kResurrectedRow:
    case FindingKind::kStaleRow:
    case FindingKind::kReaderFails:
    case FindingKind::kLeakedOperation: return true;
    default: return false;
  }
}

GroupJudge::GroupJudge(const scan::ScanTable& table, const scan::GroupFiles& files, size_t group,
                       scan::KeyPass pass, const merge::KeyJudge& judge)
    : table_(table),
      files_(files),
      group_(group),
      slices_(files.groups()[group]),
      judge_(judge),
      versions_(table, files, group, pass),
      builder_(table.type) {
  const auto& blocks = files.blocks(group, slices_.size() - 1);
  for (const auto& reader : judge.readers()) hidden_.push_back(blocks.HiddenFrom(reader));
}

Result<Merged> GroupJudge::Judge(const KeyVersions& key, std::vector<MergeFinding>& found) {
  Merged right = judge_.Judge(key, found);
  for (size_t i = 0; i < hidden_.size(); ++i) {
    if (!hidden_[i].empty()) JudgeWithoutHidden(i, key, right, found);
  }
  if (!is_read()) JudgeReplaced(right, found);
  TRY(InspectLayers(key, right, found));
  return right;
}

/// Of a row that is put together only the whole tells whether the placeholder is still in it.
Status GroupJudge::InspectLayers(const KeyVersions& key, const Merged& right,
                                 std::vector<MergeFinding>& found) {
  const auto has_unavailable = [](const merge::SliceVersions& slice) {
    return (slice.base && slice.base->has_unavailable) ||
           std::ranges::any_of(slice.log, &merge::Version::has_unavailable);
  };
  if (!has_unavailable(key.slice) && std::ranges::none_of(key.older, has_unavailable)) return {};
  TRY_ASSIGN(const bool is_right_at_fault, HoldsUnavailable(right));
  if (is_right_at_fault) {
    // Then it is no reader's doing.
    std::erase_if(found, [](const MergeFinding& finding) {
      return finding.kind == FindingKind::kUnavailableValue;
    });
    found.push_back(merge::UnavailableValueFinding(nullptr, right.winner));
    return {};
  }
  for (size_t reader = 0; reader < judge_.readers().size(); ++reader) {
    const Merged shown = Shown(reader, key);
    TRY_ASSIGN(const bool is_at_fault, HoldsUnavailable(shown));
    if (!is_at_fault) continue;
    found.push_back(merge::UnavailableValueFinding(&judge_.readers()[reader], shown.winner));
  }
  return {};
}

Result<bool> GroupJudge::HoldsUnavailable(const Merged& merged) {
  if (!merged.is_live() || merged.layers.empty()) return false;
  Finding unused;
  TRY_ASSIGN(const auto row, RowOf(merged, unused));
  return row && !scan::RowsWithValue(*row, table_.columns.settings().unavailable_value).empty();
}

std::vector<merge::Version> GroupJudge::SeenBy(size_t reader, const KeyVersions& key,
                                               std::optional<merge::Version>& passed_over) const {
  std::vector<merge::Version> seen;
  for (const auto& version : key.slice.log) {
    if (hidden_[reader].contains({version.place.file, version.place.block})) {
      passed_over = version;
    } else {
      seen.push_back(version);
    }
  }
  return seen;
}

Merged GroupJudge::Shown(size_t reader, const KeyVersions& key) const {
  if (!is_read()) return {};
  const auto& profile = judge_.readers()[reader];
  if (hidden_[reader].empty()) return MergeSlice(profile, key.slice);
  std::optional<merge::Version> passed_over;
  const auto seen = SeenBy(reader, key, passed_over);
  merge::SliceVersions slice = key.slice;
  slice.log = seen;
  return MergeSlice(profile, slice);
}

bool GroupJudge::IsShown(const KeyVersions& key) const {
  return is_read() && MergeSlice(judge_.event_time(), key.slice).is_live();
}

/// A reader that passes over blocks sees less of the slice than its rules were asked about.
void GroupJudge::JudgeWithoutHidden(size_t reader, const KeyVersions& key, const Merged& right,
                                    std::vector<MergeFinding>& found) const {
  std::optional<merge::Version> passed_over;
  const auto seen = SeenBy(reader, key, passed_over);
  if (!passed_over) return;
  const auto& profile = judge_.readers()[reader];
  std::erase_if(found, [&](const MergeFinding& finding) {
    return IsDifference(finding.kind) && finding.profile == profile.name;
  });
  merge::SliceVersions slice = key.slice;
  slice.log = seen;
  const Merged shown = MergeSlice(profile, slice);
  const auto kind = CompareResults(right, shown);
  if (!kind) return;
  MergeFinding finding;
  finding.kind = *kind;
  finding.severity = Severity::kError;
  finding.profile = profile.name;
  finding.evidence = {right.winner, *passed_over};
  finding.right = right;
  finding.shown = shown;
  finding.is_repairable = true;
  finding.cause = fmt::format(
      "{} stops at a rollback block that is newer than any completed commit and passes over "
      "committed blocks behind it, so that it does not see the {}",
      profile.name, merge::VersionText(*passed_over));
  finding.explanation = finding.cause + "; the next commit to the table repairs it";
  found.push_back(std::move(finding));
}

/// Nobody reads the group any more: what is right of it must be in the groups that took its rows.
void GroupJudge::JudgeReplaced(const Merged& right, std::vector<MergeFinding>& found) const {
  std::vector<MergeFinding> lost;
  for (const auto& reader : judge_.readers()) {
    const auto is_difference = [&](const MergeFinding& finding) {
      return IsDifference(finding.kind) && finding.profile == reader.name;
    };
    const auto known = std::ranges::find_if(found, is_difference);
    if (right.is_live()) {
      MergeFinding& finding = lost.emplace_back();
      finding.profile = reader.name;
      finding.evidence = {right.winner};
      if (known != found.end()) finding.evidence = known->evidence;
      finding.right = right;
      finding.rests_on_history = true;
      finding.cause = fmt::format("the clustering {} left the {} behind", replaced_by(),
                                  merge::VersionText(right.winner));
      if (known != found.end() && !known->cause.empty()) finding.cause += ": " + known->cause;
      finding.explanation = finding.cause +
                            "; none of the file groups that are read holds it and no compaction "
                            "brings it back, the group it replaced proves it until the cleaner "
                            "removes that: write the right row again";
    }
    std::erase_if(found, is_difference);
  }
  std::ranges::move(lost, std::back_inserter(found));
}

Finding GroupJudge::Named(uint32_t key) const {
  Finding finding;
  finding.partition = id().partition;
  finding.file_group = id().file_id;
  finding.record_key = std::string(versions_.keys().key(key));
  return finding;
}

Finding GroupJudge::Made(uint32_t number, const KeyVersions& key, const MergeFinding& found) const {
  Finding finding = Named(number);
  finding.kind = FindingKindName(found.kind);
  finding.severity = found.severity;
  finding.profile = found.profile;
  finding.explanation = found.explanation;
  finding.is_repairable = found.is_repairable;
  finding.rests_on_history = found.rests_on_history;
  if (found.past_commit) finding.made_permanent_by = files_.ranks().NameOf(*found.past_commit);
  if (!is_read() && IsDifference(found.kind)) finding.made_permanent_by = replaced_by();
  for (const auto& version : found.evidence) finding.evidence.push_back(EvidenceOf(version, key));
  return finding;
}

Evidence GroupJudge::EvidenceOf(const merge::Version& version, const KeyVersions& key) const {
  return audit::EvidenceOf(version, key, files_, group_);
}

Result<Side> GroupJudge::SideOf(const Merged& merged, Finding& finding) {
  Side side;
  if (merged.outcome == Merged::Outcome::kAbsent ||
      merged.outcome == Merged::Outcome::kReaderFails) {
    return side;
  }
  side.ordering = OrderingOrNull(merged.winner.ordering);
  if (!merged.is_live()) return side;
  TRY_ASSIGN(const auto row, RowOf(merged, finding));
  if (row) side.row_json = columnar::RowJson(*row, 0);
  return side;
}

Result<std::optional<columnar::Batch>> GroupJudge::RowOf(const Merged& merged, Finding& finding) {
  const Status done = versions_.Append(merged, builder_);
  if (done) return builder_.Finish();
  if (done.error().kind != ErrorKind::kCorrupt) return std::unexpected(done.error());
  finding.explanation += fmt::format("; its row cannot be decoded: {}", done.error().message);
  return std::optional<columnar::Batch>();
}

std::optional<Finding> GroupJudge::DuplicateRows(uint32_t number) {
  const auto count = versions_.duplicates().count(number);
  if (count == 0 || !is_read()) return std::nullopt;
  Finding finding = Named(number);
  finding.kind = "duplicate_key";
  finding.severity = Severity::kError;
  finding.explanation = fmt::format(
      "the newest base file of the group has {} rows of this key, and readers show all of them "
      "unless the key is written again",
      count + 1);
  const auto key = versions_.Of(number);
  if (key.slice.base) finding.evidence.push_back(EvidenceOf(*key.slice.base, key));
  return finding;
}

}  // namespace tidemark::audit
