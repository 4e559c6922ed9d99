// What the versions of a key show by themselves.
#include <fmt/format.h>

#include <algorithm>

#include "merge/explain_internal.h"

namespace tidemark::merge {
namespace {

/// Without the copies that compactions carried along.
std::vector<Version> AllVersions(const KeyVersions& key) {
  std::vector<Version> all;
  const auto is_copy = [&](const Version& base) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Version& version) { return IsSameRecord(version, base); });
  };
  const auto append = [&](const SliceVersions& slice) {
    if (slice.base && !is_copy(*slice.base)) all.push_back(*slice.base);
    all.insert(all.end(), slice.log.begin(), slice.log.end());
  };
  for (const SliceVersions& slice : key.older) append(slice);
  append(key.slice);
  return all;
}

/// The data record with the highest value.
const Version* HighestData(const Rules& rules, std::span<const Version> versions) {
  const Version* highest = nullptr;
  for (const Version& version : versions) {
    if (IsDelete(rules, version.op)) continue;
    if (highest == nullptr || CompareByValue(highest->ordering, version.ordering) <= 0) {
      highest = &version;
    }
  }
  return highest;
}

/// #13997: one side counted milliseconds where the other counts microseconds. Times of the last
/// decades differ by far less than a factor of two.
bool IsThousandfold(const OrderingValue& deleted, const OrderingValue& data) {
  using Kind = OrderingValue::Kind;
  if (deleted.kind() != data.kind() || deleted.unit() != data.unit()) return false;
  if (data.kind() != Kind::kTimestamp && data.kind() != Kind::kInteger) return false;
  constexpr double kTimesBegin = 1e9;  // below this it is no time in seconds or finer
  const auto a = static_cast<double>(deleted.integer());
  const auto b = static_cast<double>(data.integer());
  if (a < kTimesBegin || b < kTimesBegin) return false;
  const double ratio = a < b ? b / a : a / b;
  return ratio > 500 && ratio < 2000;
}

std::string SentinelText(const Version& version) {
  if (version.writer == WriterOperation::kDelete) {
    return fmt::format(
        "the {} has no ordering value, as deletes of SQL and of the delete operation "
        "have: it removes what was there and any later record brings the key back",
        VersionText(version));
  }
  return fmt::format(
      "the {} of a writer that orders by event time has lost its ordering value, so it "
      "removes newer rows too (upserts with hoodie.combine.before.upsert=false do this)",
      VersionText(version));
}

std::string AndMore(size_t count) {
  return count == 0 ? "" : fmt::format(", and {} more of the key", count);
}

/// Versions of which one finding is made.
struct Cases {
  FindingKind kind;
  std::vector<Version> versions{};
  size_t count = 0;

  void Add(const Version& version) {
    if (++count <= kEvidenceMax) versions.push_back(version);
  }
};

MergeFinding FindingOf(const Cases& cases, std::string explanation,
                       const Version* against = nullptr) {
  MergeFinding finding;
  finding.kind = cases.kind;
  finding.severity = SeverityOf(cases.kind);
  finding.evidence = cases.versions;
  if (against != nullptr) {
    finding.evidence.insert(finding.evidence.begin(), *against);
  }
  finding.explanation = std::move(explanation) + AndMore(cases.count - 1);
  return finding;
}

bool HasOtherClass(Release release, const Version& deleted, const Version& data) {
  const auto kept = BufferedJava(release, data.ordering);
  const auto raw = release == Release::k1_1 ? BufferedJava(release, deleted.ordering)
                                            : std::optional(RawJava(release, deleted.ordering));
  return kept && !(raw && IsSameClass(*kept, *raw));
}

void InspectClasses(std::span<const Profile> readers, const Cases& stale, const Version& highest,
                    std::vector<MergeFinding>& findings) {
  for (const Profile& reader : readers) {
    const Release release = reader.read.release;
    Cases cases{FindingKind::kClassMismatch};
    for (const Version& version : stale.versions) {
      if (version.op == Op::kDelete && HasOtherClass(release, version, highest)) cases.Add(version);
    }
    if (cases.count == 0) continue;
    const OrderingValue& deleted = cases.versions[0].ordering;
    const auto raw = release == Release::k1_1 ? BufferedJava(release, deleted)
                                              : std::optional(RawJava(release, deleted));
    findings.push_back(FindingOf(
        cases, ClassMismatchText(*BufferedJava(release, highest.ordering), raw), &highest));
    findings.back().profile = reader.name;
  }
}

void InspectDeletes(const Rules& rules, std::span<const Profile> readers,
                    std::span<const Version> all, std::vector<MergeFinding>& findings) {
  const Version* highest = HighestData(rules, all);
  if (highest == nullptr) return;
  Cases sentinels{FindingKind::kSentinelDelete};
  Cases units{FindingKind::kUnitMismatch};
  Cases stale{FindingKind::kStaleDelete};
  for (const Version& version : all) {
    if (!IsDelete(rules, version.op)) continue;
    if (IsSentinelDelete(rules, version)) {
      if (!highest->ordering.is_null()) sentinels.Add(version);
      continue;
    }
    if (IsThousandfold(version.ordering, highest->ordering)) units.Add(version);
    if (CompareByValue(version.ordering, highest->ordering) < 0) stale.Add(version);
  }
  if (sentinels.count > 0) {
    // One of an upsert is a defect; those of deletes are what was asked for.
    const auto by_upsert =
        std::find_if(sentinels.versions.begin(), sentinels.versions.end(),
                     [](const Version& v) { return v.writer != WriterOperation::kDelete; });
    const bool is_asked_for = by_upsert == sentinels.versions.end();
    if (!is_asked_for) std::iter_swap(sentinels.versions.begin(), by_upsert);
    findings.push_back(FindingOf(sentinels, SentinelText(sentinels.versions[0])));
    if (is_asked_for) findings.back().severity = Severity::kInfo;
  }
  if (units.count > 0) {
    findings.push_back(FindingOf(
        units,
        fmt::format("the {} and the {} are a thousandfold apart: one counts milliseconds where the "
                    "other counts microseconds",
                    VersionText(units.versions[0]), VersionText(*highest)),
        highest));
  }
  if (stale.count == 0) return;
  findings.push_back(FindingOf(stale,
                               fmt::format("the {} is older than the {}",
                                           VersionText(stale.versions[0]), VersionText(*highest)),
                               highest));
  InspectClasses(readers, stale, *highest, findings);
}

/// Data that came after the delete that holds it down.
void InspectLateData(const Rules& rules, std::span<const Version> all, const Merged& right,
                     std::vector<MergeFinding>& findings) {
  const Version& tombstone = right.winner;
  if (right.outcome != Merged::Outcome::kGone || IsSentinelDelete(rules, tombstone)) return;
  Cases late{FindingKind::kResurrectCandidate};
  for (const Version& version : all) {
    if (!IsDelete(rules, version.op) && version.place > tombstone.place) late.Add(version);
  }
  if (late.count == 0) return;
  findings.push_back(FindingOf(
      late,
      fmt::format("the {} came after the {}: it is shown once a compaction has dropped the delete "
                  "before it, and by readers that do not compare the two",
                  VersionText(late.versions[0]), VersionText(tombstone)),
      &tombstone));
}

bool ShowsUnavailable(const Merged& merged) {
  return merged.is_live() && merged.layers.empty() && merged.winner.has_unavailable;
}

void InspectUnavailable(std::span<const Profile> readers, const KeyVersions& key,
                        std::span<const Version> all, const Merged& right,
                        std::vector<MergeFinding>& findings) {
  const bool has_any = std::any_of(all.begin(), all.end(),
                                   [](const Version& version) { return version.has_unavailable; });
  if (!has_any) return;
  if (ShowsUnavailable(right)) {
    findings.push_back(UnavailableValueFinding(nullptr, right.winner));
    return;
  }
  for (const Profile& reader : readers) {
    const Merged shown = MergeSlice(reader, key.slice);
    if (ShowsUnavailable(shown)) findings.push_back(UnavailableValueFinding(&reader, shown.winner));
  }
}

}  // namespace

MergeFinding UnavailableValueFinding(const Profile* reader, const Version& row) {
  MergeFinding finding;
  finding.kind = FindingKind::kUnavailableValue;
  finding.severity = SeverityOf(finding.kind);
  finding.profile = reader == nullptr ? "" : reader->name;
  finding.evidence = {row};
  finding.explanation = fmt::format(
      "the {} holds Debezium's placeholder for a value it was not sent, and {}", VersionText(row),
      reader == nullptr ? "no older version of the key has the value"
                        : fmt::format("{} shows it as data", reader->name));
  return finding;
}

std::vector<MergeFinding> InspectKey(const Profile& event_time, std::span<const Profile> readers,
                                     const KeyVersions& key, const Merged& right) {
  const Rules& rules = event_time.read;
  const std::vector<Version> all = AllVersions(key);
  std::vector<MergeFinding> findings;
  const bool has_delete = std::any_of(
      all.begin(), all.end(), [&](const Version& version) { return IsDelete(rules, version.op); });
  if (rules.is_event_time && has_delete) {
    InspectDeletes(rules, readers, all, findings);
    InspectLateData(rules, all, right, findings);
  }
  if (right.is_ambiguous) {
    findings.push_back(FindingOf(
        {FindingKind::kAmbiguousTie, {right.winner}, 1},
        fmt::format("a data record and the {} came in one append flush with nothing to tell which "
                    "was first: a flush writes its deletes last, so they count as later",
                    VersionText(right.winner))));
  }
  if (right.is_incomparable) {
    findings.push_back(FindingOf({FindingKind::kIncomparable, {right.winner}, 1},
                                 "the key has ordering values of types that have no order with "
                                 "each other; the later arrival counts"));
  }
  InspectUnavailable(readers, key, all, right, findings);
  return findings;
}

}  // namespace tidemark::merge
