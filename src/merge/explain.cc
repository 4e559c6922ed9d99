// Why a reader shows something else: its fold is run once more, step by step, and the step at which
// it leaves the right version is the rule at fault.
#include <fmt/format.h>

#include <algorithm>

#include "merge/explain_internal.h"

namespace tidemark::merge {
namespace {

std::vector<Version> InScanOrder(const Rules& rules, std::span<const Version> log) {
  std::vector<Version> order;
  if (rules.scan == ScanOrder::kOldestFirst) return {log.begin(), log.end()};
  size_t end = log.size();
  while (end > 0) {
    size_t begin = end - 1;
    while (begin > 0 && IsSameFlush(log[begin - 1].place, log[end - 1].place)) --begin;
    order.insert(order.end(), log.begin() + static_cast<ptrdiff_t>(begin),
                 log.begin() + static_cast<ptrdiff_t>(end));
    end = begin;
  }
  return order;
}

bool HasPartialMode(const SliceVersions& slice) {
  return std::any_of(slice.log.begin(), slice.log.end(),
                     [](const Version& version) { return version.is_partial_mode; });
}

bool HasSentinel(const Rules& rules, const SliceVersions& slice) {
  for (const Version& version : slice.log) {
    if (IsSentinelDelete(rules, version)) return true;
  }
  return false;
}

std::string ClassesOf(Release release, const Version& a, const Version& b) {
  const Version& deleted = a.op == Op::kDelete ? a : b;
  const Version& other = a.op == Op::kDelete ? b : a;
  const auto kept = BufferedJava(release, other.ordering);
  const JavaValue raw = RawJava(release, deleted.ordering);
  return fmt::format("a {} with a {}", JavaClassName(raw.java_class),
                     JavaClassName(kept ? kept->java_class : JavaClass::kNone));
}

/// What one rule did, for the reasons that say it all by themselves; "" for the others.
std::string ReasonText(const Profile& reader, const Culprit& culprit, const Version& right) {
  const std::string& name = reader.name;
  const std::string other =
      culprit.version ? VersionText(*culprit.version) : std::string("the other version");
  switch (culprit.reason) {
    case Reason::kDeleteClass:
      return fmt::format(
          "the log merge of {} lets the {} win because it cannot compare {}", name, other,
          culprit.version ? ClassesOf(reader.read.release, *culprit.version, right) : "its class");
    case Reason::kDeleteUnordered:
      return fmt::format("{} has no ordering value for a delete, so the {} wins over all before it",
                         name, other);
    case Reason::kDeleteSentinel:
      return fmt::format("{} lets the {}, which has no ordering value, win", name, other);
    case Reason::kSentinelStays:
      return fmt::format(
          "{} drops a delete that follows one without ordering value, and its value "
          "with it",
          name);
    case Reason::kDataAfterDelete:
      return fmt::format(
          "the log merge of {} lets the {} win because it arrived after a delete, "
          "without comparing",
          name, other);
    case Reason::kDeleteBeatsBase:
      return fmt::format(
          "the base merge of {} lets a delete in the log win over the base row "
          "without comparing",
          name);
    case Reason::kOlderDelete:
      return fmt::format("{} reads the newest log file first and then lets the older {} win", name,
                         other);
    case Reason::kComparedAsBytes:
      return fmt::format(
          "the log merge of {} compares the bytes of the ordering values, not the "
          "values, and takes the {}",
          name, other);
    case Reason::kTieEarlier:
      return fmt::format("{} keeps the earlier of equal ordering values", name);
    case Reason::kPartialMode:
      return fmt::format("{} does not compare deletes in a slice with partial updates", name);
    case Reason::kFailsOnClass:
      return fmt::format("{} throws ClassCastException on the ordering values of this key", name);
    case Reason::kFailsOnNull: return fmt::format("{} cannot read a null ordering value", name);
    case Reason::kFailsOnEventSeq:
      return fmt::format("{} cannot read the _event_seq of this key", name);
    case Reason::kFailsOnDelete:
      return fmt::format("{} cannot read a delete of a key that has no base row", name);
    case Reason::kLastArrival:
      return fmt::format(
          "{} takes the later arrival ({}) without comparing, as the table's {} asks", name, other,
          reader.merging.payload == Payload::kNone ? std::string_view("merge mode")
                                                   : PayloadName(reader.merging.payload));
    default: return {};
  }
}

std::string_view RepairText(const MergeFinding& finding) {
  if (finding.kind == FindingKind::kReaderFails) {
    return "read with another release or with the event-time profile";
  }
  return finding.right.is_live() ? "write the right row again with a higher ordering value"
                                 : "delete the key again with a higher ordering value";
}

std::string FateText(const Profile& reader, const MergeFinding& finding) {
  if (finding.kind == FindingKind::kReaderFails) {
    return fmt::format("{}", RepairText(finding));
  }
  if (finding.is_repairable) {
    return fmt::format(
        "the next compaction by {} makes it permanent, until then an event-time "
        "compaction repairs it, or {}",
        reader.name, RepairText(finding));
  }
  return fmt::format(
      "the files that readers read no longer hold the right version and no compaction repairs it, "
      "older slices prove it until the cleaner removes them: {}",
      RepairText(finding));
}

}  // namespace

Culprit FindCulprit(const Rules& rules, const SliceVersions& slice, const Version& right) {
  Culprit culprit;
  KeyState state;
  bool is_kept = false;
  bool was_met = false;
  for (const Version& version : InScanOrder(rules, slice.log)) {
    const KeyState* before = state.is_set ? &state : nullptr;
    const std::optional<Version> winner = before ? std::optional(before->winner) : std::nullopt;
    const Decision decision = FoldLog(rules, state, version);
    if (state.is_failed) {
      culprit = {state.reason, version, false};
      return culprit;
    }
    if (IsSameRecord(version, right)) {
      was_met = true;
      is_kept = decision.takes_later;
      if (!is_kept) culprit = {decision.reason, winner, false};
    } else if (is_kept && decision.takes_later) {
      is_kept = false;
      culprit = {decision.reason, version, false};
    }
  }
  if (was_met && !is_kept) return culprit;
  if (slice.base && state.is_set) {
    const Decision decision =
        DecideAgainstBase(rules, *slice.base, state.winner, HasPartialMode(slice));
    const bool is_base_right = IsSameRecord(*slice.base, right);
    if (is_base_right || was_met) {
      return {decision.reason, is_base_right ? state.winner : *slice.base, true};
    }
  }
  return culprit;
}

std::string RuleText(const Profile& reader, const Profile& event_time, const SliceVersions& slice,
                     const Culprit& culprit, const Version& right) {
  if (culprit.is_at_base && !IsFailure(culprit.reason) && HasSentinel(event_time.read, slice)) {
    return fmt::format(
        "{} has forgotten the delete without ordering value by the time it meets the "
        "base row, and compares what came after it with the deleted row",
        reader.name);
  }
  const std::string text = ReasonText(reader, culprit, right);
  if (!text.empty()) return text;
  return fmt::format("{} takes the {}", reader.name,
                     culprit.version ? VersionText(*culprit.version) : "other version");
}

std::string ClassMismatchText(const JavaValue& data, const std::optional<JavaValue>& deleted) {
  return fmt::format(
      "the delete's ordering value is a {} for the reader and the column's a {}: they "
      "are not compared",
      deleted ? JavaClassName(deleted->java_class) : "value it cannot convert",
      JavaClassName(data.java_class));
}

std::optional<FindingKind> CompareKey(const Profile& event_time, const KeyVersions& key,
                                      const Merged& right, const Merged& shown) {
  if (key.older.empty()) return CompareResults(right, shown);
  // A compacted row stands for the layers that older slices still hold, so layers are compared
  // within the slice.
  Merged whole = right;
  whole.layers = shown.layers;
  if (const auto kind = CompareResults(whole, shown)) return kind;
  if (right.layers.empty() && shown.layers.empty()) return std::nullopt;
  return CompareResults(MergeSlice(event_time, key.slice), shown);
}

MergeFinding ExplainKind(const Profile& event_time, const Profile& reader,
                         std::span<const Profile> readers, const KeyVersions& key, FindingKind kind,
                         const Merged& right, const Merged& shown) {
  MergeFinding finding;
  finding.kind = kind;
  finding.severity = SeverityOf(kind);
  finding.profile = reader.name;
  finding.right = right;
  finding.shown = shown;
  const Merged in_slice = MergeSlice(event_time, key.slice);
  finding.rests_on_history =
      !key.older.empty() && CompareKey(event_time, key, right, in_slice).has_value();
  finding.is_repairable = !finding.rests_on_history && kind != FindingKind::kReaderFails;
  // What the slice still knows is explained by the slice.
  const Version winner = finding.rests_on_history ? right.winner : in_slice.winner;
  const auto tell = [&](const std::optional<Version>& version) {
    if (version && std::none_of(finding.evidence.begin(), finding.evidence.end(),
                                [&](const Version& v) { return IsSameRecord(v, *version); })) {
      finding.evidence.push_back(*version);
    }
  };
  tell(winner);
  std::string text;
  const auto lost =
      finding.rests_on_history ? FindLost(event_time.read, key, winner) : std::nullopt;
  if (kind == FindingKind::kLeakedOperation) {
    text = fmt::format("{} does not take _hoodie_operation for a delete and shows the {} as a row",
                       reader.name, VersionText(shown.winner));
  } else if (lost) {
    const PastFault fault = ExplainPast(event_time, readers, key, lost->index, lost->version);
    finding.past_commit = fault.written->base_commit;
    text = fault.text;
    tell(lost->version);
    tell(fault.version);
  } else {
    const Culprit culprit = FindCulprit(reader.read, key.slice, winner);
    text = RuleText(reader, event_time, key.slice, culprit, winner);
    tell(culprit.version);
  }
  if (shown.is_live()) tell(shown.winner);
  finding.cause = std::move(text);
  finding.explanation = fmt::format("{}; {}", finding.cause, FateText(reader, finding));
  return finding;
}

std::optional<MergeFinding> ExplainDifference(const Profile& event_time, const Profile& reader,
                                              const KeyVersions& key) {
  const Merged right = MergeKey(event_time, key);
  const Merged shown = MergeSlice(reader, key.slice);
  const auto kind = CompareKey(event_time, key, right, shown);
  if (!kind) return std::nullopt;
  return ExplainKind(event_time, reader, {&reader, 1}, key, *kind, right, shown);
}

}  // namespace tidemark::merge
