#include "audit/cross_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "audit/evidence.h"
#include "audit/group_judge.h"
#include "merge/across.h"
#include "scan/key_table.h"
#include "scan/slice_scan.h"

namespace tidemark::audit {
namespace {

using merge::FindingKind;
using merge::KeyVersions;
using merge::Merged;
using merge::MergeFinding;
using merge::Version;

/// Groups named in one sentence.
constexpr size_t kNamedMax = 8;

/// Whether a row of one group is that of another, which a clustering wrote anew. Handles and places
/// of different groups say nothing of each other.
bool IsSameRow(const Version& a, const Version& b) {
  return a.place.commit == b.place.commit && a.op == b.op &&
         (a.place.file == 0 || b.place.file == 0) && CompareByValue(a.ordering, b.ordering) == 0;
}

bool Holds(const merge::SliceVersions& slice, const Version& version) {
  if (slice.base && slice.base->row == version.row && version.row != merge::kNoRow) return true;
  return std::ranges::any_of(slice.log,
                             [&](const Version& logged) { return logged.place == version.place; });
}

/// A key in one of its groups.
struct Member {
  GroupJudge* group = nullptr;
  uint32_t number = 0;
  KeyVersions key;
  merge::GroupResult own;
  std::vector<MergeFinding> found;
  std::vector<Merged> shown;  // by reader

  const MergeFinding* Difference(const std::string& reader) const {
    for (const MergeFinding& finding : found) {
      if (IsDifference(finding.kind) && finding.profile == reader) return &finding;
    }
    return nullptr;
  }
};

/// One key, in all of its groups.
class SharedKey {
 public:
  SharedKey(const GroupQuestion& question, std::vector<Member>& members, FindingList& findings)
      : question_(question), judge_(*question.judge), members_(members), findings_(findings) {}

  Status Judge() {
    std::vector<merge::GroupResult> results;
    for (Member& member : members_) {
      TRY(member.group->Judge(member.key, member.found));
      member.own = ResultOfGroup(judge_.event_time(), member.key);
      for (size_t reader = 0; reader < judge_.readers().size(); ++reader) {
        member.shown.push_back(member.group->Shown(reader, member.key));
      }
      results.push_back(member.own);
    }
    right_ = MergeGroups(judge_.event_time(), results);
    for (Member& member : members_) {
      for (const MergeFinding& finding : member.found) {
        if (!IsDifference(finding.kind)) TRY(Tell(member, finding));
      }
    }
    if (!right_) return {};
    if (judge_.readers().empty()) {
      // No reader was asked about that can read the table; the rows are there all the same.
      TellDuplicates([&](const Member& member) {
        return member.group->is_read() ? MergeSlice(judge_.event_time(), member.key.slice)
                                       : Merged();
      });
    }
    for (size_t reader = 0; reader < judge_.readers().size(); ++reader) {
      const bool is_wrong = JudgeReader(reader);
      TRY(TellDifferences());
      if (is_wrong && reader == 0 && question_.repair != nullptr) TRY(GiveRepairs());
    }
    return {};
  }

 private:
  struct Difference {
    Member* member = nullptr;
    const MergeFinding* own = nullptr;  // null: it takes other groups to see it
    FindingKind kind = FindingKind::kStaleRow;
    std::string profile;
    Merged shown;
  };

  bool is_live() const { return right_->is_live; }
  Member& home() { return members_[right_->group]; }

  /// Whether the member's own result is the right row.
  bool HasRight(const Member& member) {
    if (!is_live() || !member.own.merged.is_live()) return false;
    return &member == &home() || IsSameRow(member.own.merged.winner, right_->version);
  }

  bool ShowsRight(const Member& member, size_t reader) {
    const Merged& shown = member.shown[reader];
    if (!is_live() || !shown.is_live()) return false;
    if (HasRight(member)) return member.Difference(judge_.readers()[reader].name) == nullptr;
    return &member != &home() && IsSameRow(shown.winner, right_->version);
  }

  /// Collects the differences of one reader. True: it does not show the right row alone.
  bool JudgeReader(size_t reader) {
    const std::string& name = judge_.readers()[reader].name;
    differences_.clear();
    bool is_right_shown = false;
    size_t shown = 0;
    for (const Member& member : members_) {
      is_right_shown = is_right_shown || ShowsRight(member, reader);
      shown += member.shown[reader].is_live() ? 1 : 0;
    }
    bool is_stale_told = is_right_shown;
    for (Member& member : members_) {
      const MergeFinding* own = member.Difference(name);
      const Merged& row = member.shown[reader];
      if (row.outcome == Merged::Outcome::kReaderFails) {
        if (own != nullptr) differences_.push_back({&member, own, own->kind, name, row});
        continue;
      }
      if (ShowsRight(member, reader)) continue;
      if (!row.is_live()) {
        // Missing, if it should be here and no other row of the key is shown.
        const bool is_lost = &member == &home() && is_live() && shown == 0;
        if (is_lost && own != nullptr) differences_.push_back({&member, own, own->kind, name, row});
        continue;
      }
      const bool agrees = member.own.merged.is_live() == HasRight(member);
      if (agrees && own != nullptr && (is_right_shown || !is_live() || HasRight(member))) {
        differences_.push_back({&member, own, own->kind, name, row});
        is_stale_told = true;
      } else if (!is_live()) {
        differences_.push_back({&member, nullptr, KindOfRow(row), name, row});
      } else if (!is_stale_told) {
        differences_.push_back({&member, nullptr, FindingKind::kStaleRow, name, row});
        is_stale_told = true;
      }
    }
    if (is_live() && shown > 1) {
      TellDuplicates([&](const Member& member) { return member.shown[reader]; });
    }
    return !differences_.empty() || (is_live() && shown > 1);
  }

  static FindingKind KindOfRow(const Merged& shown) {
    const bool is_operation = shown.winner.op == merge::Op::kOperationDelete ||
                              shown.winner.op == merge::Op::kOperationBefore;
    return is_operation ? FindingKind::kLeakedOperation : FindingKind::kResurrectedRow;
  }

  Status TellDifferences() {
    for (const Difference& difference : differences_) {
      if (difference.own != nullptr) {
        TRY(Tell(*difference.member, *difference.own));
      } else {
        TRY(TellAcross(difference));
      }
    }
    return {};
  }

  Status Tell(Member& member, const MergeFinding& found) {
    Finding finding = member.group->Made(member.number, member.key, found);
    if (IsDifference(found.kind) || found.kind == FindingKind::kPastCompaction) {
      TRY_ASSIGN(finding.expected, member.group->SideOf(found.right, finding));
      TRY_ASSIGN(finding.actual, member.group->SideOf(found.shown, finding));
    }
    findings_.Add(std::move(finding));
    return {};
  }

  Status TellAcross(const Difference& difference) {
    Member& member = *difference.member;
    GroupJudge& here = *member.group;
    GroupJudge& there = *home().group;
    Finding finding = here.Named(member.number);
    finding.kind = FindingKindName(difference.kind);
    finding.severity = merge::Severity::kError;
    finding.profile = difference.profile;
    finding.evidence.push_back(there.EvidenceOf(right_->version, home().key));
    finding.evidence.push_back(here.EvidenceOf(difference.shown.winner, member.key));
    finding.rests_on_history = !there.is_read() || !Holds(home().key.slice, right_->version);
    if (!there.is_read()) finding.made_permanent_by = there.replaced_by();
    finding.explanation = AcrossText(difference, here, there);
    finding.expected = Side();
    if (is_live()) {
      TRY_ASSIGN(finding.expected, there.SideOf(home().own.merged, finding));
    } else {
      finding.expected->ordering = OrderingOrNull(right_->version.ordering);
    }
    TRY_ASSIGN(finding.actual, here.SideOf(difference.shown, finding));
    findings_.Add(std::move(finding));
    return {};
  }

  std::string AcrossText(const Difference& difference, const GroupJudge& here,
                         const GroupJudge& there) const {
    const std::string right = merge::VersionText(right_->version);
    const std::string row = merge::VersionText(difference.shown.winner);
    const std::string repair = is_live() ? "write the right row again with a higher ordering value"
                                         : "delete the key again with a higher ordering value";
    const std::string place = PlaceOf(there.id(), here.id());
    if (!there.is_read()) {
      return fmt::format(
          "the {} is in {}, which the clustering {} replaced, and {} shows the {} of a group that "
          "has no trace of it; no compaction repairs it: {}",
          right, place, there.replaced_by(), difference.profile, row, repair);
    }
    return fmt::format(
        "the {} is in {}: readers and compactions merge one file group at a time, so that {} shows "
        "the {} that was written here when the index no longer knew where the key was; no "
        "compaction repairs it: {}",
        right, place, difference.profile, row, repair);
  }

  static std::string PlaceOf(const lake::hudi::FileGroupId& group,
                             const lake::hudi::FileGroupId& from) {
    return group.partition == from.partition
               ? fmt::format("file group {}", group.file_id)
               : fmt::format("file group {} of partition {}", group.file_id, group.partition);
  }

  /// Once for all readers.
  void TellDuplicates(const std::function<Merged(const Member&)>& shown_by) {
    if (are_duplicates_told_) return;
    are_duplicates_told_ = true;
    std::vector<const Member*> shown;
    for (const Member& member : members_) {
      if (shown_by(member).is_live()) shown.push_back(&member);
    }
    if (shown.size() < 2) return;
    Finding finding = shown[0]->group->Named(shown[0]->number);
    finding.kind = "duplicate_key";
    finding.severity = merge::Severity::kError;
    std::string others;
    for (size_t i = 0; i < shown.size() && i < kNamedMax; ++i) {
      finding.evidence.push_back(
          shown[i]->group->EvidenceOf(shown_by(*shown[i]).winner, shown[i]->key));
      if (i == 0) continue;
      if (i > 1) others += ", ";
      others += PlaceOf(shown[i]->group->id(), shown[0]->group->id());
    }
    finding.explanation = fmt::format(
        "{} file groups show a row of this key, and readers show all of them (the others: {}): the "
        "writer's index had forgotten where the key was; delete the key, then write the right row",
        shown.size(), others);
    findings_.Add(std::move(finding));
  }

  /// The right row, and the key wherever else it shows.
  Status GiveRepairs() {
    std::set<std::string> done;  // partitions
    Finding finding = home().group->Named(home().number);
    if (is_live()) {
      TRY_ASSIGN(const auto row, home().group->RowOf(home().own.merged, finding));
      if (!row) return {};
      done.insert(finding.partition);
      TRY(question_.repair->Take(question_.unit, Repair::kWrite, finding.record_key,
                                 finding.partition, *row));
    }
    for (Member& member : members_) {
      const auto& partition = member.group->id().partition;
      if (!member.shown[0].is_live() || done.contains(partition)) continue;
      TRY_ASSIGN(const auto row, member.group->RowOf(member.shown[0], finding));
      if (!row) continue;
      done.insert(partition);
      TRY(question_.repair->Take(question_.unit, Repair::kDelete, finding.record_key, partition,
                                 *row));
    }
    return {};
  }

  const GroupQuestion& question_;
  const merge::KeyJudge& judge_;
  std::vector<Member>& members_;
  FindingList& findings_;
  std::optional<merge::AcrossGroups> right_;
  std::vector<Difference> differences_;  // of the reader at hand
  bool are_duplicates_told_ = false;
};

/// One pass over the keys.
class SharedPass {
 public:
  SharedPass(const scan::ScanTable& table, const scan::GroupFiles& files, scan::KeyPass pass,
             const GroupQuestion& question, FindingList& findings)
      : table_(table), question_(question), findings_(findings) {
    for (size_t group = 0; group < files.groups().size(); ++group) {
      groups_.push_back(std::make_unique<GroupJudge>(table, files, group, pass, *question.judge));
    }
  }

  Status Run() {
    for (const auto& group : groups_) TRY(group->Read());
    scan::KeyTable all;
    std::vector<std::vector<std::pair<GroupJudge*, uint32_t>>> holders;
    for (const auto& group : groups_) {
      const auto& keys = group->versions().keys();
      for (uint32_t key = 0; key < keys.size(); ++key) {
        const uint32_t number = all.FindOrAdd(keys.key(key), scan::KeyTable::Hash(keys.key(key)));
        if (number == holders.size()) holders.emplace_back();
        holders[number].emplace_back(group.get(), key);
      }
    }
    for (const auto& of_key : holders) {
      TRY(table_.budget.Check());
      std::vector<Member> members;
      for (const auto& [group, number] : of_key) {
        members.push_back({group, number, group->versions().Of(number), {}, {}, {}});
      }
      TRY(SharedKey(question_, members, findings_).Judge());
    }
    return {};
  }

 private:
  const scan::ScanTable& table_;
  const GroupQuestion& question_;
  FindingList& findings_;
  std::vector<std::unique_ptr<GroupJudge>> groups_;
};

}  // namespace

Status JudgeSharedKeys(const scan::ScanTable& table, const scan::BaseWriters& writers,
                       std::span<const scan::GroupSlices> groups, const scan::KeySet& shared,
                       uint64_t bytes, const GroupQuestion& question, FindingList& findings) {
  scan::ScanTable own = table;
  own.findings = [](const lake::Finding&) {};
  TRY_ASSIGN(const uint32_t passes, scan::PassesFor(own, groups.front().back(), bytes));
  TRY_ASSIGN(const auto files,
             scan::GroupFiles::Open(own, writers, groups, own.memory_max / scan::kHeldPart));
  for (uint32_t pass = 0; pass < passes; ++pass) {
    TRY(SharedPass(own, files, {pass, passes, &shared}, question, findings).Run());
  }
  return {};
}

}  // namespace tidemark::audit
