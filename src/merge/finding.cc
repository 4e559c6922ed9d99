#include "merge/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "merge/explain_internal.h"

namespace tidemark::merge {
namespace {

bool AreSameLayers(const Merged& a, const Merged& b) {
  return std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(),
                    IsSameRecord);
}

Severity SeverityOf(FindingKind kind) {
  switch (kind) {
    case FindingKind::kLostRow:
    case FindingKind::kResurrectedRow:
    case FindingKind::kStaleRow:
    case FindingKind::kReaderFails: return Severity::kError;
    case FindingKind::kStaleDelete: return Severity::kInfo;
    default: return Severity::kWarning;
  }
}

MergeFinding Finding(FindingKind kind, std::vector<Version> evidence, std::string explanation) {
  MergeFinding finding;
  finding.kind = kind;
  finding.severity = SeverityOf(kind);
  finding.evidence = std::move(evidence);
  finding.explanation = std::move(explanation);
  return finding;
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

void InspectDelete(const Rules& rules, Release release, const Version& version,
                   const Version* highest, std::vector<MergeFinding>& findings) {
  if (IsSentinelDelete(rules, version)) {
    const bool has_column = highest != nullptr && !highest->ordering.is_null();
    if (!has_column) return;
    findings.push_back(Finding(FindingKind::kSentinelDelete, {version}, SentinelText(version)));
    if (version.writer == WriterOperation::kDelete) findings.back().severity = Severity::kInfo;
    return;
  }
  if (highest == nullptr) return;
  if (IsThousandfold(version.ordering, highest->ordering)) {
    findings.push_back(Finding(
        FindingKind::kUnitMismatch, {version, *highest},
        fmt::format("the {} and the {} are a thousandfold apart: one counts milliseconds where the "
                    "other counts microseconds",
                    VersionText(version), VersionText(*highest))));
  }
  if (CompareByValue(version.ordering, highest->ordering) < 0) {
    findings.push_back(Finding(
        FindingKind::kStaleDelete, {version, *highest},
        fmt::format("the {} is older than the {}", VersionText(version), VersionText(*highest))));
  }
  if (version.op != Op::kDelete) return;
  const auto data = BufferedJava(release, highest->ordering);
  const auto raw = release == Release::k1_1 ? BufferedJava(release, version.ordering)
                                            : std::optional(RawJava(release, version.ordering));
  if (!data || (raw && IsSameClass(*data, *raw))) return;
  findings.push_back(
      Finding(FindingKind::kClassMismatch, {version, *highest}, ClassMismatchText(*data, raw)));
}

}  // namespace

std::string_view FindingKindName(FindingKind kind) {
  switch (kind) {
    case FindingKind::kLostRow: return "lost_row";
    case FindingKind::kResurrectedRow: return "resurrected_row";
    case FindingKind::kStaleRow: return "stale_row";
    case FindingKind::kReaderFails: return "reader_fails";
    case FindingKind::kAmbiguousTie: return "ambiguous_tie";
    case FindingKind::kStaleDelete: return "stale_delete";
    case FindingKind::kSentinelDelete: return "sentinel_delete";
    case FindingKind::kUnitMismatch: return "unit_mismatch";
    case FindingKind::kClassMismatch: return "class_mismatch";
    case FindingKind::kIncomparable: return "incomparable_ordering";
  }
  return "";
}

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kInfo: return "info";
    case Severity::kWarning: return "warning";
    case Severity::kError: return "error";
  }
  return "";
}

bool IsSameRecord(const Version& a, const Version& b) {
  if (a.row != kNoRow && a.row == b.row) return true;
  if (a.place == b.place) return true;
  const bool has_copy = a.place.file == 0 || b.place.file == 0;
  return has_copy && a.place.commit == b.place.commit && a.op == b.op &&
         CompareByValue(a.ordering, b.ordering) == 0;
}

std::string VersionText(const Version& version) {
  const bool is_row = version.op == Op::kUpsert;
  return fmt::format("{} at {} ({})", is_row ? "row" : "delete", OrderingText(version.ordering),
                     OrderingTypeText(version.ordering));
}

Merged MergeKey(const Profile& event_time, const KeyVersions& key) {
  const Version* base = key.base ? &*key.base : nullptr;
  if (key.history.empty()) return MergeSlice(event_time.read, base, key.log);
  std::vector<Version> all(key.history.begin(), key.history.end());
  if (base != nullptr) all.push_back(*base);
  all.insert(all.end(), key.log.begin(), key.log.end());
  return MergeHistory(event_time.read, all);
}

std::optional<FindingKind> CompareResults(const Merged& right, const Merged& shown) {
  if (shown.outcome == Merged::Outcome::kReaderFails) return FindingKind::kReaderFails;
  if (right.is_live() != shown.is_live()) {
    return right.is_live() ? FindingKind::kLostRow : FindingKind::kResurrectedRow;
  }
  if (!right.is_live()) return std::nullopt;
  if (!IsSameRecord(right.winner, shown.winner) || !AreSameLayers(right, shown)) {
    return FindingKind::kStaleRow;
  }
  return std::nullopt;
}

std::vector<MergeFinding> InspectKey(const Profile& event_time, const Profile& reader,
                                     const KeyVersions& key) {
  const Rules& rules = event_time.read;
  std::vector<Version> all(key.history.begin(), key.history.end());
  if (key.base) all.push_back(*key.base);
  all.insert(all.end(), key.log.begin(), key.log.end());
  std::vector<MergeFinding> findings;
  const Version* highest = HighestData(rules, all);
  for (const Version& version : all) {
    if (IsDelete(rules, version.op)) {
      InspectDelete(rules, reader.read.release, version, highest, findings);
    }
  }
  const Merged right = MergeKey(event_time, key);
  if (right.is_ambiguous) {
    findings.push_back(Finding(
        FindingKind::kAmbiguousTie, {right.winner},
        fmt::format("a data record and the {} came in one append flush with nothing to tell which "
                    "was first: a flush writes its deletes last, so they count as later",
                    VersionText(right.winner))));
  }
  if (right.is_incomparable) {
    findings.push_back(Finding(FindingKind::kIncomparable, {right.winner},
                               "the key has ordering values of types that have no order with each "
                               "other; the later arrival counts"));
  }
  return findings;
}

}  // namespace tidemark::merge
