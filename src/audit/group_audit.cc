#include "audit/group_audit.h"

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "audit/group_judge.h"
#include "scan/key_table.h"
#include "scan/slice_scan.h"

namespace tidemark::audit {
namespace {

using merge::FindingKind;
using merge::KeyVersions;
using merge::MergeFinding;
using merge::Severity;

bool HasTwoResults(FindingKind kind) {
  return IsDifference(kind) || kind == FindingKind::kPastCompaction;
}

/// A lone base row: nothing to compare.
bool NeedsNoJudging(const KeyVersions& key) {
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
      : question_(question), group_(table, files, 0, pass, *question.judge), audit_(audit) {}

  Status Run() {
    TRY(group_.Read());
    const auto& keys = group_.versions().keys();
    audit_.counts.keys += keys.size();
    audit_.counts.versions += group_.versions().version_count();
    if (question_.census != nullptr) entries_.reserve(keys.size());
    for (uint32_t key = 0; key < keys.size(); ++key) TRY(JudgeKey(key));
    if (question_.census != nullptr) question_.census->Add(question_.number, std::move(entries_));
    return {};
  }

 private:
  Status JudgeKey(uint32_t number) {
    if (auto duplicates = group_.DuplicateRows(number)) {
      audit_.findings.Add(*std::move(duplicates));
    }
    const KeyVersions key = group_.versions().Of(number);
    const bool is_plain = group_.is_read() && NeedsNoJudging(key);
    if (question_.census != nullptr || question_.leave_out != nullptr) {
      const uint64_t hash = scan::KeyTable::Hash(group_.versions().keys().key(number));
      if (question_.leave_out != nullptr && question_.leave_out->Has(hash)) return {};
      if (question_.census != nullptr) {
        entries_.push_back(KeyCensus::EntryOf(hash, is_plain || group_.IsShown(key)));
      }
    }
    if (is_plain) return {};
    found_.clear();
    TRY(group_.Judge(key, found_));
    for (const MergeFinding& finding : found_) TRY(Tell(number, key, finding));
    return {};
  }

  Status Tell(uint32_t number, const KeyVersions& key, const MergeFinding& found) {
    Finding finding = group_.Made(number, key, found);
    if (HasTwoResults(found.kind)) {
      TRY_ASSIGN(finding.expected, group_.SideOf(found.right, finding));
      TRY_ASSIGN(finding.actual, group_.SideOf(found.shown, finding));
      if (IsSameAfterAll(found, finding)) return {};
    }
    TRY(GiveRepair(found, finding));
    audit_.findings.Add(std::move(finding));
    return {};
  }

  /// Rows put together from other versions may still have the same values.
  static bool IsSameAfterAll(const MergeFinding& found, const Finding& finding) {
    return found.kind == merge::FindingKind::kStaleRow &&
           IsSameRecord(found.right.winner, found.shown.winner) && finding.expected &&
           finding.actual && finding.expected->row_json &&
           finding.expected->row_json == finding.actual->row_json;
  }

  Status GiveRepair(const MergeFinding& found, Finding& finding) {
    if (question_.repair == nullptr || !IsDifference(found.kind)) return {};
    if (found.profile != question_.judge->readers().front().name) return {};
    const bool is_right_live = found.right.is_live();
    if (!is_right_live && !found.shown.is_live()) return {};
    TRY_ASSIGN(const auto row, group_.RowOf(is_right_live ? found.right : found.shown, finding));
    if (!row) return {};
    return question_.repair->Take(question_.unit, is_right_live ? Repair::kWrite : Repair::kDelete,
                                  finding.record_key, finding.partition, *row);
  }

  const GroupQuestion& question_;
  GroupJudge group_;
  GroupAudit& audit_;
  std::vector<MergeFinding> found_;
  std::vector<uint64_t> entries_;  // for the census
};

/// Opens a group's files and does each pass.
Status ForEachPass(const scan::ScanTable& table, const scan::BaseWriters& writers,
                   scan::GroupSlices slices,
                   const std::function<Status(const scan::GroupFiles&, scan::KeyPass)>& run) {
  const std::array groups = {slices};
  TRY_ASSIGN(const uint32_t passes,
             scan::PassesFor(table, slices.back(), scan::MemoryForVersions(slices)));
  const uint64_t held = passes == 1 ? UINT64_MAX : table.memory_max / scan::kHeldPart;
  TRY_ASSIGN(const auto files, scan::GroupFiles::Open(table, writers, groups, held));
  for (uint32_t pass = 0; pass < passes; ++pass) TRY(run(files, {pass, passes}));
  return {};
}

Severity SeverityOfLake(std::string_view kind) {
  if (kind == "torn_tail" || kind == "unreadable_plan") return Severity::kWarning;
  if (lake::IsDamage(kind) || kind == "orphan_log_file") return Severity::kError;
  if (kind == "duplicate_base_file" || kind == "doubtful_commit" || kind == "unfinished_write")
    return Severity::kWarning;
  return Severity::kInfo;
}

}  // namespace

bool IsOfOneGroup(ErrorKind kind) {
  return kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported ||
         kind == ErrorKind::kExhausted;
}

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
  const Status done = ForEachPass(own, writers, slices,
                                  [&](const scan::GroupFiles& files, scan::KeyPass pass) -> Status {
                                    return PassJudge(own, files, question, pass, audit).Run();
                                  });
  if (!done && !IsOfOneGroup(done.error().kind)) {
    return std::unexpected(Error(done.error()).With(scan::PlaceOf(slices.back())));
  }
  if (!done) audit.unjudged = {group.partition, group.file_id, done.error().message};
  audit.counts.file_groups = 1;
  audit.counts.file_slices = slices.size();
  return audit;
}

Result<scan::ScanTable> NarrowTable(const scan::ScanTable& table) {
  scan::ScanTable narrow = table;
  const auto& schema = table.type.schema();
  auto wanted = table.columns.HiddenColumns(schema, scan::TableColumns::Need::kMerging);
  wanted.push_back({std::string(scan::kCommitTimeColumn), false});
  TRY_ASSIGN(narrow.type, columnar::RowType::Make(schema, wanted));
  narrow.places = table.columns.PlacesIn(narrow.type);
  narrow.findings = [](const lake::Finding&) {};
  return narrow;
}

Status CountKeys(const scan::ScanTable& table, const scan::BaseWriters& writers,
                 scan::GroupSlices slices, const merge::KeyJudge& judge, KeyCensus& census,
                 size_t number) {
  TRY_ASSIGN(const auto narrow, NarrowTable(table));
  const Status done = ForEachPass(
      narrow, writers, slices, [&](const scan::GroupFiles& files, scan::KeyPass pass) -> Status {
        GroupJudge group(narrow, files, 0, pass, judge);
        TRY(group.Read());
        std::vector<uint64_t> entries;
        const auto& keys = group.versions().keys();
        for (uint32_t key = 0; key < keys.size(); ++key) {
          const bool is_shown = group.IsShown(group.versions().Of(key));
          entries.push_back(KeyCensus::EntryOf(scan::KeyTable::Hash(keys.key(key)), is_shown));
        }
        census.Add(number, std::move(entries));
        return {};
      });
  if (done || IsOfOneGroup(done.error().kind)) return {};
  return std::unexpected(Error(done.error()).With(scan::PlaceOf(slices.back())));
}

}  // namespace tidemark::audit
