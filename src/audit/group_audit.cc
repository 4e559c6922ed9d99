#include "audit/group_audit.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <utility>
#include <vector>

#include "audit/evidence.h"
#include "columnar/batch_writer.h"
#include "columnar/row_builder.h"
#include "scan/slice_scan.h"

namespace tidemark::audit {
namespace {

using merge::FindingKind;
using merge::MergeFinding;
using merge::Severity;
using BlockPlaces = std::set<std::pair<uint32_t, uint32_t>>;

/// Differences between a reader's result and the right one, as opposed to facts of the files.
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

bool HasTwoResults(FindingKind kind) {
  return IsDifference(kind) || kind == FindingKind::kPastCompaction;
}

/// A lone base row: nothing to compare.
bool NeedsNoJudging(const merge::KeyVersions& key) {
  if (!key.slice.base || !key.slice.log.empty()) return false;
  if (key.slice.base->op != merge::Op::kUpsert || key.slice.base->has_unavailable) return false;
  for (const auto& slice : key.older) {
    if (slice.base || !slice.log.empty()) return false;
  }
  return true;
}

/// One pass over the keys of a group.
class PassJudge {
 public:
  PassJudge(const scan::ScanTable& table, const scan::GroupFiles& files,
            const GroupQuestion& question, scan::KeyPass pass, GroupAudit& audit)
      : question_(question),
        files_(files),
        slices_(files.groups()[0]),
        versions_(table, files, 0, pass),
        builder_(table.type),
        audit_(audit) {
    const auto& blocks = files.blocks(0, slices_.size() - 1);
    for (const auto& reader : question.judge->readers()) {
      hidden_.push_back(blocks.HiddenFrom(reader));
    }
  }

  Status Run() {
    TRY(versions_.Read());
    audit_.counts.keys += versions_.keys().size();
    audit_.counts.versions += versions_.version_count();
    for (uint32_t key = 0; key < versions_.keys().size(); ++key) TRY(JudgeKey(key));
    return {};
  }

 private:
  Status JudgeKey(uint32_t number) {
    TRY(TellDuplicates(number));
    const merge::KeyVersions key = versions_.Of(number);
    if (NeedsNoJudging(key)) return {};
    found_.clear();
    const merge::Merged right = question_.judge->Judge(key, found_);
    for (size_t i = 0; i < hidden_.size(); ++i) {
      if (!hidden_[i].empty()) JudgeWithoutHidden(i, key, right);
    }
    for (const MergeFinding& finding : found_) TRY(Tell(number, key, finding));
    return {};
  }

  /// A reader that passes over blocks sees less of the slice than its rules were asked about.
  void JudgeWithoutHidden(size_t reader, const merge::KeyVersions& key,
                          const merge::Merged& right) {
    std::vector<merge::Version> seen;
    std::optional<merge::Version> passed_over;
    for (const auto& version : key.slice.log) {
      if (hidden_[reader].contains({version.place.file, version.place.block})) {
        passed_over = version;
      } else {
        seen.push_back(version);
      }
    }
    if (!passed_over) return;
    const auto& profile = question_.judge->readers()[reader];
    std::erase_if(found_, [&](const MergeFinding& finding) {
      return IsDifference(finding.kind) && finding.profile == profile.name;
    });
    merge::SliceVersions slice = key.slice;
    slice.log = seen;
    const merge::Merged shown = MergeSlice(profile, slice);
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
    finding.explanation = fmt::format(
        "{} stops at a rollback block that is newer than any completed commit and passes over "
        "committed blocks behind it, so that it does not see the {}; the next commit to the table "
        "repairs it",
        profile.name, merge::VersionText(*passed_over));
    found_.push_back(std::move(finding));
  }

  Status TellDuplicates(uint32_t number) {
    const auto count = versions_.duplicates().count(number);
    if (count == 0) return {};
    Finding finding = Named(number);
    finding.kind = "duplicate_key";
    finding.severity = Severity::kError;
    finding.explanation = fmt::format(
        "the newest base file of the group has {} rows of this key, and readers show all of them "
        "unless the key is written again",
        count + 1);
    const auto key = versions_.Of(number);
    if (key.slice.base) finding.evidence.push_back(EvidenceOf(*key.slice.base, key, files_));
    audit_.findings.Add(std::move(finding));
    return {};
  }

  Finding Named(uint32_t number) const {
    Finding finding;
    finding.partition = slices_.back().group.partition;
    finding.file_group = slices_.back().group.file_id;
    finding.record_key = std::string(versions_.keys().key(number));
    return finding;
  }

  Status Tell(uint32_t number, const merge::KeyVersions& key, const MergeFinding& found) {
    Finding finding = Named(number);
    finding.kind = FindingKindName(found.kind);
    finding.severity = found.severity;
    finding.profile = found.profile;
    finding.explanation = found.explanation;
    finding.is_repairable = found.is_repairable;
    finding.rests_on_history = found.rests_on_history;
    if (found.past_commit) finding.made_permanent_by = files_.ranks().NameOf(*found.past_commit);
    for (const auto& version : found.evidence) {
      finding.evidence.push_back(EvidenceOf(version, key, files_));
    }
    if (HasTwoResults(found.kind)) {
      TRY_ASSIGN(finding.expected, SideOf(found.right, finding));
      TRY_ASSIGN(finding.actual, SideOf(found.shown, finding));
    }
    TRY(GiveRepair(found, finding));
    audit_.findings.Add(std::move(finding));
    return {};
  }

  Result<Side> SideOf(const merge::Merged& merged, Finding& finding) {
    Side side;
    if (merged.outcome == merge::Merged::Outcome::kAbsent ||
        merged.outcome == merge::Merged::Outcome::kReaderFails) {
      return side;
    }
    side.ordering = OrderingText(merged.winner.ordering);
    if (!merged.is_live()) return side;
    TRY_ASSIGN(const auto row, RowOf(merged, finding));
    if (row) side.row_json = columnar::RowJson(*row, 0);
    return side;
  }

  /// nullopt: it cannot be decoded, which `finding` then says.
  Result<std::optional<columnar::Batch>> RowOf(const merge::Merged& merged, Finding& finding) {
    const Status done = versions_.Append(merged, builder_);
    if (done) return builder_.Finish();
    if (done.error().kind != ErrorKind::kCorrupt) return std::unexpected(done.error());
    finding.explanation += fmt::format("; its row cannot be decoded: {}", done.error().message);
    return std::optional<columnar::Batch>();
  }

  Status GiveRepair(const MergeFinding& found, Finding& finding) {
    if (!question_.repair || !IsDifference(found.kind)) return {};
    if (found.profile != question_.judge->readers().front().name) return {};
    const bool is_right_live = found.right.is_live();
    if (!is_right_live && !found.shown.is_live()) return {};
    TRY_ASSIGN(const auto row, RowOf(is_right_live ? found.right : found.shown, finding));
    if (!row) return {};
    return question_.repair(is_right_live ? Repair::kWrite : Repair::kDelete, finding.record_key,
                            finding.partition, *row);
  }

  const GroupQuestion& question_;
  const scan::GroupFiles& files_;
  scan::GroupSlices slices_;
  scan::GroupVersions versions_;
  columnar::RowBuilder builder_;
  GroupAudit& audit_;
  std::vector<BlockPlaces> hidden_;  // from each reader
  std::vector<MergeFinding> found_;
};

Status JudgeAll(const scan::ScanTable& table, const scan::BaseWriters& writers,
                std::span<const scan::GroupSlices> group, const GroupQuestion& question,
                GroupAudit& audit) {
  const auto slices = group.front();
  TRY_ASSIGN(const uint32_t passes,
             scan::PassesFor(table, slices.back(), scan::MemoryForVersions(slices)));
  const uint64_t held = passes == 1 ? UINT64_MAX : table.memory_max / scan::kHeldPart;
  TRY_ASSIGN(const auto files, scan::GroupFiles::Open(table, writers, group, held));
  for (uint32_t pass = 0; pass < passes; ++pass) {
    TRY(PassJudge(table, files, question, {pass, passes}, audit).Run());
  }
  return {};
}

bool IsOfThisGroupAlone(ErrorKind kind) {
  return kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported ||
         kind == ErrorKind::kExhausted;
}

Severity SeverityOfLake(std::string_view kind) {
  if (kind == "torn_tail" || kind == "unreadable_plan") return Severity::kWarning;
  if (lake::IsDamage(kind) || kind == "orphan_log_file") return Severity::kError;
  if (kind == "duplicate_base_file" || kind == "unreadable_commit") return Severity::kWarning;
  return Severity::kInfo;
}

}  // namespace

Finding FromLake(const lake::Finding& finding) {
  Finding told;
  told.kind = finding.kind;
  told.severity = SeverityOfLake(finding.kind);
  told.explanation = finding.message;
  told.evidence.push_back({finding.place, {}, {}, "", "", "", ""});
  return told;
}

Result<GroupAudit> AuditGroup(const scan::ScanTable& table, const scan::BaseWriters& writers,
                              scan::GroupSlices slices, const GroupQuestion& question) {
  GroupAudit audit(question.limit);
  const auto& group = slices.back().group;
  scan::ScanTable own = table;
  own.findings = [&](const lake::Finding& finding) {
    Finding told = FromLake(finding);
    told.partition = group.partition;
    told.file_group = group.file_id;
    audit.findings.Add(std::move(told));
  };
  const std::array groups = {slices};
  const Status done = JudgeAll(own, writers, groups, question, audit);
  if (!done && !IsOfThisGroupAlone(done.error().kind)) {
    return std::unexpected(Error(done.error()).With(scan::PlaceOf(slices.back())));
  }
  if (!done) audit.unjudged = {group.partition, group.file_id, done.error().message};
  audit.counts.file_groups = 1;
  audit.counts.file_slices = slices.size();
  return audit;
}

}  // namespace tidemark::audit
