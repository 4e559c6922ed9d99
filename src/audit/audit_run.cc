#include "audit/audit_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "audit/cross_group.h"
#include "base/parallel.h"
#include "scan/key_table.h"
#include "scan/slice_scan.h"

namespace tidemark::audit {
namespace {

/// File groups named in one finding.
constexpr size_t kNamedMax = 8;
constexpr size_t kBucketDigits = 8;

std::optional<std::string_view> BucketOf(std::string_view file_id) {
  const std::string_view bucket = file_id.substr(0, kBucketDigits);
  const bool is_number = std::ranges::all_of(bucket, [](char c) { return c >= '0' && c <= '9'; });
  if (file_id.size() <= kBucketDigits || file_id[kBucketDigits] != '-' || !is_number) {
    return std::nullopt;
  }
  return bucket;
}

/// A slice as a whole.
Evidence EvidenceOf(const lake::hudi::FileSlice& slice) {
  std::string file = scan::PlaceOf(slice);
  if (!slice.logs.empty()) file = slice.logs.front().key;
  if (slice.base) file = slice.base->key;
  return {std::move(file), {}, {}, slice.base_instant, "", "", ""};
}

}  // namespace

AuditRun::AuditRun(const scan::TableScan& scan, const merge::KeyJudge& judge,
                   const RunOptions& options)
    : scan_(scan),
      judge_(judge),
      options_(options),
      groups_(scan.groups()),
      wanted_(groups_.size()),
      is_shared_(groups_.size()),
      audits_(groups_.size()),
      findings_(options.limit) {
  std::map<std::string, uint32_t> numbers;
  for (const auto& group : groups_) {
    const auto number = static_cast<uint32_t>(numbers.size());
    partitions_.push_back(numbers.try_emplace(group.back().group.partition, number).first->second);
    has_replaced_.resize(numbers.size());
    if (!group.back().is_latest) has_replaced_[partitions_.back()] = true;
  }
}

Status AuditRun::Want(const lake::hudi::FileGroupId& wanted) {
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].back().group != wanted || !groups_[i].back().is_latest) continue;
    wanted_[i] = true;
    return {};
  }
  return Fail(ErrorKind::kInvalidArgument,
              fmt::format("the table has no such file group at this instant, partition={} "
                          "file_group={}",
                          wanted.partition, wanted.file_id));
}

Status AuditRun::AuditOne(size_t group, GroupQuestion question) {
  question.judge = &judge_;
  question.limit = options_.limit;
  question.number = group;
  question.unit = group;
  auto audit = AuditGroup(scan_.table(), scan_.writers(), groups_[group], question);
  if (question.repair != nullptr) TRY(question.repair->Finish(group));
  if (!audit) return std::unexpected(audit.error());
  audits_[group] = *std::move(audit);
  if (options_.group_done) options_.group_done(groups_[group].back().group);
  return {};
}

/// What is known beforehand to need the other groups is not judged alone first. Repairs cannot be
/// taken back.
bool AuditRun::MustWait(size_t group) const {
  return !wanted_[group] || has_replaced_[partitions_[group]] || options_.repair != nullptr;
}

Status AuditRun::CountAndAudit(KeyCensus& census) {
  TRY(InParallel(groups_.size(), options_.threads, [&](size_t i) -> Status {
    if (!MustWait(i)) return AuditOne(i, {.census = &census});
    return CountKeys(scan_.table(), scan_.writers(), groups_[i], judge_, census, i);
  }));
  while (true) {
    TRY_ASSIGN(const bool is_done, census.EndRound());
    if (is_done) return {};
    TRY(InParallel(groups_.size(), options_.threads, [&](size_t i) {
      return CountKeys(scan_.table(), scan_.writers(), groups_[i], judge_, census, i);
    }));
  }
}

Status AuditRun::Run() {
  if (!wants_table_) {
    return InParallel(groups_.size(), options_.threads,
                      [&](size_t i) { return wanted_[i] ? AuditOne(i, {}) : Status(); });
  }
  KeyCensus census(partitions_, options_.keys_are_global,
                   std::max<uint64_t>(options_.memory_max / kCensusPart, 1));
  const bool has_several = groups_.size() > 1;
  if (has_several) {
    const Status counted = CountAndAudit(census);
    if (!counted && counted.error().kind != ErrorKind::kExhausted) return counted;
    if (!counted) {
      unjudged_.push_back({"", "", "keys in several file groups: " + counted.error().message});
    }
  }
  TellBuckets();
  TRY(JudgeAgain(census.shared()));
  return TellPartitions(census.shared());
}

Status AuditRun::JudgeAgain(const SharedKeys& shared) {
  const scan::KeySet set(shared.hashes);
  std::vector<size_t> again;
  for (size_t i = 0; i < groups_.size(); ++i) {
    is_shared_[i] = shared.shared_of[i] > 0 || !groups_[i].back().is_latest;
    if (is_shared_[i] || (wanted_[i] && !audits_[i])) again.push_back(i);
  }
  TRY(InParallel(again.size(), options_.threads, [&](size_t i) {
    return AuditOne(again[i], {.repair = options_.repair, .leave_out = &set});
  }));
  return JudgeTogether(shared, set);
}

/// Partitions, or where keys are unique in the whole table all of it.
Status AuditRun::JudgeTogether(const SharedKeys& shared, const scan::KeySet& set) {
  struct Unit {
    std::vector<scan::GroupSlices> groups;
    double bytes = 0;
    FindingList findings{0};
    std::optional<Unjudged> unjudged;
  };
  std::map<uint32_t, Unit> by_partition;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (shared.shared_of[i] == 0) continue;
    Unit& unit = by_partition[options_.keys_are_global ? 0 : partitions_[i]];
    unit.groups.push_back(groups_[i]);
    const double part =
        static_cast<double>(shared.shared_of[i]) / static_cast<double>(shared.keys_of[i]);
    unit.bytes += std::ceil(static_cast<double>(scan::MemoryForVersions(groups_[i])) * part);
  }
  std::vector<Unit*> units;
  for (auto& [partition, unit] : by_partition) units.push_back(&unit);
  TRY(InParallel(units.size(), options_.threads, [&](size_t i) -> Status {
    Unit& unit = *units[i];
    unit.findings = FindingList(options_.limit);
    GroupQuestion question{&judge_, options_.limit, options_.repair, groups_.size() + i};
    const Status done = JudgeSharedKeys(scan_.table(), scan_.writers(), unit.groups, set,
                                        static_cast<uint64_t>(unit.bytes), question, unit.findings);
    if (question.repair != nullptr) TRY(question.repair->Finish(question.unit));
    if (!done && !IsOfOneGroup(done.error().kind)) return done;
    if (!done) {
      const auto& partition = unit.groups.front().back().group.partition;
      unit.unjudged = {options_.keys_are_global ? "" : partition, "",
                       "keys in several file groups: " + done.error().message};
    }
    return {};
  }));
  for (Unit* unit : units) {
    findings_.Add(std::move(unit->findings));
    if (unit->unjudged) unjudged_.push_back(*unit->unjudged);
  }
  return {};
}

/// A bucket index names a file group by its bucket, in eight digits; two of one bucket are what a
/// failover left (#5330).
void AuditRun::TellBuckets() {
  std::map<uint32_t, std::map<std::string_view, std::vector<size_t>>> buckets;  // by partition
  std::set<uint32_t> others;  // partitions with groups that have no bucket
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (!groups_[i].back().is_latest) continue;
    if (const auto bucket = BucketOf(groups_[i].back().group.file_id)) {
      buckets[partitions_[i]][*bucket].push_back(i);
    } else {
      others.insert(partitions_[i]);
    }
  }
  for (const auto& [partition, by_bucket] : buckets) {
    if (others.contains(partition)) continue;
    for (const auto& [bucket, groups] : by_bucket) {
      if (groups.size() > 1) findings_.Add(BucketFinding(bucket, groups));
    }
  }
}

Finding AuditRun::BucketFinding(std::string_view bucket, const std::vector<size_t>& groups) const {
  const auto& first = groups_[groups[0]].back();
  Finding finding;
  finding.kind = "duplicate_bucket";
  finding.severity = merge::Severity::kWarning;
  finding.partition = first.group.partition;
  finding.file_group = first.group.file_id;
  for (size_t i = 0; i < groups.size() && i < kNamedMax; ++i) {
    finding.evidence.push_back(EvidenceOf(groups_[groups[i]].back()));
  }
  finding.explanation = fmt::format(
      "{} file groups of the partition are named as bucket {}: the bucket index writes to one of "
      "them, so that rows of the others are never updated or deleted again, or show twice",
      groups.size(), bucket);
  return finding;
}

/// Most tables have keys of their own in each partition; so this is one finding, not one a key.
Status AuditRun::TellPartitions(const SharedKeys& shared) {
  if (!shared.example) return {};
  Finding finding;
  finding.kind = "duplicate_key";
  finding.severity = merge::Severity::kInfo;
  TRY_ASSIGN(const std::string key, KeyOf(shared.example->group, shared.example->hash));
  for (const size_t group : {shared.example->group, shared.example->other}) {
    finding.evidence.push_back(EvidenceOf(groups_[group].back()));
  }
  finding.explanation = fmt::format(
      "{} keys have a row in more than one partition, as {} in {} and {}: that is right where a "
      "key "
      "is one of its partition; under a global index they are duplicates (--global-index finds "
      "them "
      "one by one)",
      shared.shown_in_partitions, key, groups_[shared.example->group].back().group.partition,
      groups_[shared.example->other].back().group.partition);
  findings_.Add(std::move(finding));
  return {};
}

Result<std::string> AuditRun::KeyOf(size_t group, uint64_t hash) const {
  TRY_ASSIGN(const auto table, NarrowTable(scan_.table()));
  const uint64_t hashes[] = {hash};
  const scan::KeySet set(hashes);
  TRY_ASSIGN(const auto files,
             scan::GroupFiles::Open(table, scan_.writers(), groups_.subspan(group, 1),
                                    table.memory_max / scan::kHeldPart));
  scan::GroupVersions versions(table, files, 0, {0, 1, &set});
  TRY(versions.Read());
  return versions.keys().size() == 0 ? std::string() : std::string(versions.keys().key(0));
}

void AuditRun::Fill(Report& report) {
  uint64_t task = 1;  // the table's
  for (size_t i = 0; i < groups_.size(); ++i) {
    const bool is_read = groups_[i].back().is_latest;
    if (is_read) ++task;
    if (is_read && is_shared_[i]) report.replaces.push_back(task);
    if (!audits_[i]) continue;
    report.summary += audits_[i]->counts;
    if (audits_[i]->unjudged) report.unjudged.push_back(*audits_[i]->unjudged);
    findings_.Add(std::move(audits_[i]->findings));
  }
  report.unjudged.insert(report.unjudged.end(), unjudged_.begin(), unjudged_.end());
  report.summary += findings_.counts();
  report.findings = findings_.Take();
}

}  // namespace tidemark::audit
