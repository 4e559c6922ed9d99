/// What a reader's result for one key is against the right one: the kinds of difference, which rule
/// of which reader made it, and whether it can still be repaired.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merge/fold.h"
#include "merge/profile.h"

namespace tidemark::merge {

enum class FindingKind : uint8_t {
  kLostRow,         ///< there by event time, not shown by the reader
  kResurrectedRow,  ///< gone by event time, shown
  kStaleRow,        ///< another version, or another mixture of partial rows, is shown
  kReaderFails,     ///< the reader throws on this key, and so on its whole slice
  kAmbiguousTie,    ///< data and delete tie inside one append flush: nobody can know
  kStaleDelete,     ///< a delete older than data of its key
  kSentinelDelete,  ///< a delete without ordering value on a table that orders by one
  kUnitMismatch,    ///< a delete's time is a thousandth, or a thousandfold, of the data's
  kClassMismatch,   ///< a delete that a reader cannot compare with the column
  kIncomparable,    ///< ordering values of types that have no order with each other
};

enum class Severity : uint8_t { kInfo, kWarning, kError };

struct MergeFinding {
  FindingKind kind = FindingKind::kLostRow;
  Severity severity = Severity::kError;
  std::vector<Version> evidence;  ///< the versions it rests on, the right one first
  std::string explanation;        ///< one sentence, without a full stop
  /// The files of the current slice still hold the right version: an event-time compaction or a new
  /// write repairs it; the next compaction by the reader's release ends that.
  bool is_repairable = false;
  /// Only an older, retained slice proves it.
  bool rests_on_history = false;
};

/// "lost_row", "resurrected_row", …
std::string_view FindingKindName(FindingKind kind);
std::string_view SeverityName(Severity severity);

/// All that is known of one key.
struct KeyVersions {
  std::optional<Version> base;       ///< of the slice
  std::span<const Version> log;      ///< of the slice, oldest first
  std::span<const Version> history;  ///< what only older slices hold; any order
};

/// The right result, history included. `event_time` is the profile of that name.
Merged MergeKey(const Profile& event_time, const KeyVersions& key);

/// The cheap test for every key: what kind of difference, if any, is between the two results.
std::optional<FindingKind> CompareResults(const Merged& right, const Merged& shown);

/// The same with its evidence and its explanation; nullopt when the reader is right.
std::optional<MergeFinding> ExplainDifference(const Profile& event_time, const Profile& reader,
                                              const KeyVersions& key);

/// What the versions of a key show by themselves. Class mismatches are those of `reader`'s release.
std::vector<MergeFinding> InspectKey(const Profile& event_time, const Profile& reader,
                                     const KeyVersions& key);

/// Whether two versions are the same record, of which one may be the copy that compactions carry
/// along in base files.
bool IsSameRecord(const Version& a, const Version& b);

/// Names one version in a sentence: "delete at 2 (LongWrapper)".
std::string VersionText(const Version& version);

}  // namespace tidemark::merge
