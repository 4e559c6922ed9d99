#include "merge/finding.h"

#include <fmt/format.h>

#include <algorithm>

#include "merge/explain_internal.h"

namespace tidemark::merge {
namespace {

bool AreSameLayers(const Merged& a, const Merged& b) {
  return std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(),
                    IsSameRecord);
}

bool IsOperation(Op op) {
  return op == Op::kOperationDelete || op == Op::kOperationBefore;
}

std::string_view Noun(Op op) {
  switch (op) {
    case Op::kUpsert: return "row";
    case Op::kOperationDelete: return "-D record";
    case Op::kOperationBefore: return "-U record";
    default: return "delete";
  }
}

}  // namespace

Severity SeverityOf(FindingKind kind) {
  switch (kind) {
    case FindingKind::kLostRow:
    case FindingKind::kResurrectedRow:
    case FindingKind::kStaleRow:
    case FindingKind::kReaderFails:
    case FindingKind::kLeakedOperation: return Severity::kError;
    case FindingKind::kStaleDelete:
    case FindingKind::kResurrectCandidate:
    case FindingKind::kPastCompaction: return Severity::kInfo;
    default: return Severity::kWarning;
  }
}

std::string_view FindingKindName(FindingKind kind) {
  switch (kind) {
    case FindingKind::kLostRow: return "lost_row";
    case FindingKind::kResurrectedRow: return "resurrected_row";
    case FindingKind::kStaleRow: return "stale_row";
    case FindingKind::kReaderFails: return "reader_fails";
    case FindingKind::kLeakedOperation: return "leaked_operation";
    case FindingKind::kPastCompaction: return "past_compaction";
    case FindingKind::kAmbiguousTie: return "ambiguous_tie";
    case FindingKind::kStaleDelete: return "stale_delete";
    case FindingKind::kResurrectCandidate: return "resurrect_candidate";
    case FindingKind::kSentinelDelete: return "sentinel_delete";
    case FindingKind::kUnitMismatch: return "unit_mismatch";
    case FindingKind::kUnavailableValue: return "unavailable_value";
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
  return fmt::format("{} at {} ({})", Noun(version.op), OrderingText(version.ordering),
                     OrderingTypeText(version.ordering));
}

std::optional<FindingKind> CompareResults(const Merged& right, const Merged& shown) {
  if (shown.outcome == Merged::Outcome::kReaderFails) return FindingKind::kReaderFails;
  if (shown.is_live() && IsOperation(shown.winner.op) &&
      !(right.is_live() && IsSameRecord(right.winner, shown.winner))) {
    return FindingKind::kLeakedOperation;
  }
  if (right.is_live() != shown.is_live()) {
    return right.is_live() ? FindingKind::kLostRow : FindingKind::kResurrectedRow;
  }
  if (!right.is_live()) return std::nullopt;
  if (!IsSameRecord(right.winner, shown.winner) || !AreSameLayers(right, shown)) {
    return FindingKind::kStaleRow;
  }
  return std::nullopt;
}

}  // namespace tidemark::merge
