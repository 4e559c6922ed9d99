// The rule set of each profile, point by point. What each line rests on: docs/merge-rules.md.
#include <fmt/format.h>

#include <array>

#include "merge/profile.h"

namespace tidemark::merge {
namespace {

constexpr std::array<std::string_view, 9> kNames = {
    "event-time", "commit-time", "hudi-0.10", "hudi-0.14", "hudi-0.15",
    "hudi-1.0.0", "hudi-1.0.2",  "hudi-1.1",  "table",
};

/// The last arrival wins, as a release does it.
Rules LastArrival(Release release) {
  Rules rules;
  rules.release = release;
  rules.log_data = DataRule::kLater;
  rules.log_delete = DeleteRule::kWins;
  rules.base_data = DataRule::kLater;
  rules.base_delete = DeleteRule::kWins;
  rules.base_deleted_row = DeleteRule::kWins;
  return rules;
}

/// R7.
Rules CommitTime() {
  Rules rules = LastArrival(Release::k1_1);
  rules.deletes_cut_base = true;
  return rules;
}

/// R1-R6, and R7 where the table itself asks for it.
Rules EventTime(const TableSettings& settings) {
  if (settings.mode == MergeMode::kCommitTime) return CommitTime();
  Rules rules;
  rules.is_event_time = true;
  rules.sentinel = SentinelRule::kResets;
  // The text of a binlog position does not sort as the position does.
  if (settings.payload == Payload::kMySqlDebezium && settings.ordering_fields.size() == 1 &&
      settings.ordering_fields[0] == "_event_seq") {
    rules.log_data = DataRule::kEventSeq;
    rules.base_data = DataRule::kEventSeq;
  }
  return rules;
}

DataRule BaseRuleOf0x(Payload payload) {
  switch (payload) {
    case Payload::kOverwriteWithLatest:
    case Payload::kOverwriteNonDefaults:
    case Payload::kAwsDms: return DataRule::kLater;
    case Payload::kMySqlDebezium: return DataRule::kEventSeqFirst;
    case Payload::kPartialUpdate: return DataRule::kWithinClass;
    default: return DataRule::kGreater;
  }
}

/// A flagged row in the logs against the base row: these two compare it first.
bool ComparesDeletedRows(Release release, Payload payload) {
  switch (payload) {
    case Payload::kDefault:
    case Payload::kFirstValue:
    case Payload::kPostgresDebezium:
    case Payload::kMySqlDebezium: return true;
    case Payload::kEventTime: return release == Release::k0_10;
    default: return false;
  }
}

/// Readers take base rows as they lie. Of operations only Spark's were seen.
void ShowMarkedBase(Rules& rules, Engine engine) {
  rules.flagged_base = MarkedBase::kIsRow;
  if (engine == Engine::kSpark) rules.operation_base = MarkedBase::kIsRow;
}

/// How a payload class puts rows together.
void MergeByPayload(Rules& rules, Payload payload) {
  rules.earlier_is_not_filled = payload != Payload::kPartialUpdate;
  rules.later_gives_meta = payload == Payload::kPartialUpdate;
}

/// Up to 0.15: every payload class compares in the logs (preCombine of OverwriteWithLatest, which
/// all inherit) and each has its own mind about the base row.
Rules Of0x(Release release, const Merging& merging, Engine engine) {
  Rules rules;
  rules.release = release;
  rules.log_comparison = Comparison::kInJava;
  rules.log_delete = release == Release::k0_10 ? DeleteRule::kWins : DeleteRule::kWithinClass;
  rules.data_beats_delete = true;
  rules.null_fails = true;
  rules.base_data = BaseRuleOf0x(merging.payload);
  rules.base_delete = DeleteRule::kWins;
  rules.base_deleted_row =
      ComparesDeletedRows(release, merging.payload) ? DeleteRule::kCompares : DeleteRule::kWins;
  rules.operation =
      engine == Engine::kFlink ? OperationRule::kDeleteWhenRead : OperationRule::kIgnored;
  ShowMarkedBase(rules, engine);
  rules.base_alone_fills = merging.payload != Payload::kPartialUpdate;
  MergeByPayload(rules, merging.payload);
  rules.delete_without_base_fails = merging.payload == Payload::kAwsDms;
  return rules;
}

DataRule PayloadRuleOf1x(Release release, Payload payload) {
  switch (payload) {
    case Payload::kOverwriteWithLatest:
    case Payload::kOverwriteNonDefaults:
    case Payload::kAwsDms: return DataRule::kLater;
    case Payload::kFirstValue: return DataRule::kFirst;
    case Payload::kMySqlDebezium:
      return release == Release::k1_1 ? DataRule::kEventSeq : DataRule::kEventSeqFirst;
    case Payload::kPartialUpdate: return DataRule::kWithinClass;
    default: return DataRule::kGreater;
  }
}

OperationRule OperationsOf1x(Release release, Engine engine) {
  if (release == Release::k1_1) return OperationRule::kDeletes;
  if (release == Release::k1_0_0 || engine == Engine::kFlink) return OperationRule::kDeleteWhenRead;
  return OperationRule::kIgnored;
}

Rules Of1x(Release release, const Merging& merging, Engine engine) {
  const bool is_newest_first = release == Release::k1_0_0;
  if (merging.mode == MergeMode::kCommitTime) {
    Rules rules = LastArrival(release);
    ShowMarkedBase(rules, engine);
    rules.scan = is_newest_first ? ScanOrder::kNewestFileFirst : ScanOrder::kOldestFirst;
    rules.operation = OperationsOf1x(release, engine);
    return rules;
  }
  Rules rules;
  rules.release = release;
  rules.scan = is_newest_first ? ScanOrder::kNewestFileFirst : ScanOrder::kOldestFirst;
  rules.log_comparison = Comparison::kInJava;
  rules.base_comparison = Comparison::kInJava;
  rules.log_delete = DeleteRule::kWithinClass;
  rules.sentinel_stays = true;
  rules.sentinel = release == Release::k1_1 ? SentinelRule::kEither : SentinelRule::kIncoming;
  rules.partial_mode_forgets_deletes = release == Release::k1_0_2;
  rules.operation = OperationsOf1x(release, engine);
  ShowMarkedBase(rules, engine);
  if (merging.mode != MergeMode::kCustom) return rules;

  rules.log_comparison = Comparison::kByValue;  // payloads read both values from Avro records
  rules.base_comparison = Comparison::kByValue;
  MergeByPayload(rules, merging.payload);
  rules.log_data = PayloadRuleOf1x(release, merging.payload);
  rules.base_data = rules.log_data;
  if (release == Release::k1_1) {
    rules.log_delete = DeleteRule::kWins;
    rules.base_delete = DeleteRule::kWins;
    rules.data_beats_delete = true;
    rules.base_deleted_row =
        ComparesDeletedRows(release, merging.payload) ? DeleteRule::kCompares : DeleteRule::kWins;
    rules.sentinel_stays = false;
  } else {
    rules.payload_deletes_compare = true;
    rules.flagged_base = MarkedBase::kSwallows;
  }
  if (release == Release::k1_0_0) {
    rules.base_delete = DeleteRule::kWins;
    rules.base_deleted_row = DeleteRule::kWins;
  }
  return rules;
}

/// A writer merges a batch before its values become Avro bytes and delete records, so they all have
/// one class there and compare as they should.
Rules DedupOf(Release release, const Merging& merging, const Rules& read, Engine engine) {
  Rules rules = read;
  rules.scan = ScanOrder::kOldestFirst;
  rules.log_comparison = Comparison::kByValue;
  rules.fill = Fill::kNone;
  if (release <= Release::k0_14) {
    rules.log_delete = DeleteRule::kCompares;
    return rules;
  }
  if (merging.payload == Payload::kOverwriteWithLatest) rules.log_data = DataRule::kLater;
  if (rules.log_delete == DeleteRule::kWithinClass) rules.log_delete = DeleteRule::kCompares;
  rules.sentinel = SentinelRule::kEither;
  rules.merged_delete_forgets = release == Release::k1_1 && engine == Engine::kFlink;
  return rules;
}

Release ReleaseOf(std::string_view name) {
  if (name == "hudi-0.10") return Release::k0_10;
  if (name == "hudi-0.14" || name == "hudi-0.15") return Release::k0_14;
  if (name == "hudi-1.0.0") return Release::k1_0_0;
  if (name == "hudi-1.0.2") return Release::k1_0_2;
  return Release::k1_1;  // hudi-1.1 and table
}

}  // namespace

std::span<const std::string_view> ProfileNames() {
  return kNames;
}

Result<Profile> MakeProfile(std::string_view name, const TableSettings& settings, Engine engine) {
  Profile profile;
  profile.name = name;
  if (name == "event-time") {
    profile.read = EventTime(settings);
    profile.read.fill = RightFill(settings);
    profile.dedup = profile.read;
    profile.merging.mode =
        profile.read.is_event_time ? MergeMode::kEventTime : MergeMode::kCommitTime;
    profile.merging.fill = profile.read.fill;
    return profile;
  }
  if (name == "commit-time") {
    profile.read = CommitTime();
    profile.dedup = profile.read;
    profile.merging.mode = MergeMode::kCommitTime;
    return profile;
  }
  bool is_known = false;
  for (const std::string_view known : kNames) is_known = is_known || known == name;
  if (!is_known) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("no such profile profile={} known={}", name, fmt::join(kNames, ",")));
  }
  const Release release = ReleaseOf(name);
  auto merging = InferMerging(release, settings);
  if (!merging) {
    return std::unexpected(std::move(merging).error().With(fmt::format("profile={}", name)));
  }
  profile.merging = *merging;
  profile.read =
      release <= Release::k0_14 ? Of0x(release, *merging, engine) : Of1x(release, *merging, engine);
  profile.read.fill = merging->fill;
  profile.dedup = DedupOf(release, *merging, profile.read, engine);
  return profile;
}

}  // namespace tidemark::merge
