/// What a reader's result for one key is against the right one: the kinds of difference, which rule
/// of which reader made it, and whether it can still be repaired; and what the versions of a key
/// show by themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merge/key_versions.h"
#include "merge/profile.h"

namespace tidemark::merge {

enum class FindingKind : uint8_t {
  kLostRow,          ///< there by event time, not shown by the reader
  kResurrectedRow,   ///< gone by event time, shown
  kStaleRow,         ///< another version, or another mixture of partial rows, is shown
  kReaderFails,      ///< the reader throws on this key, and so on its whole slice
  kLeakedOperation,  ///< a record of operation -D or -U is shown as a row
  /// @{ What the versions show, whatever a reader makes of them.
  kPastCompaction,      ///< a compaction wrote a wrong base row that no longer shows
  kAmbiguousTie,        ///< data and delete tie inside one append flush: nobody can know
  kStaleDelete,         ///< a delete older than data of its key
  kResurrectCandidate,  ///< data that came after a newer delete of its key
  kSentinelDelete,      ///< a delete without ordering value on a table that orders by one
  kUnitMismatch,        ///< a delete's time is a thousandth, or a thousandfold, of the data's
  kIncomparable,        ///< ordering values of types that have no order with each other
  kUnavailableValue,    ///< Debezium's placeholder is shown as data
  /// @}
  kClassMismatch,  ///< a stale delete that a reader cannot compare with the column
};
inline constexpr int kFindingKindCount = static_cast<int>(FindingKind::kClassMismatch) + 1;

enum class Severity : uint8_t { kInfo, kWarning, kError };

/// Versions of one finding; more of the same kind are only counted.
inline constexpr size_t kEvidenceMax = 8;

struct MergeFinding {
  FindingKind kind = FindingKind::kLostRow;
  Severity severity = Severity::kError;
  std::string profile;            ///< of the reader; "" when it is a fact of the files
  std::vector<Version> evidence;  ///< the versions it rests on, the right one first
  std::string explanation;        ///< one sentence, without a full stop
  std::string cause{};  ///< of a difference: the part of it that names the rule at fault
  Merged right;                   ///< the key's result by event time; unset of facts of the files
  Merged shown;                   ///< the reader's
  /// The files of the current slice still hold the right version: an event-time compaction or a new
  /// write repairs it; the next compaction by the reader's release ends that.
  bool is_repairable = false;
  /// Only an older, retained slice proves it.
  bool rests_on_history = false;
  /// Rank of the commit that wrote the base file at fault (SliceVersions::base_commit), if a past
  /// one was.
  std::optional<uint32_t> past_commit;
};

/// "lost_row", "resurrected_row", …
std::string_view FindingKindName(FindingKind kind);
std::string_view SeverityName(Severity severity);

/// The cheap test for every key: what kind of difference, if any, is between the two results.
std::optional<FindingKind> CompareResults(const Merged& right, const Merged& shown);

/// The same over all that is known of a key, with evidence and explanation; nullopt when the reader
/// is right.
std::optional<MergeFinding> ExplainDifference(const Profile& event_time, const Profile& reader,
                                              const KeyVersions& key);

/// Replays each past compaction, and tells those whose base row was not what the slices before it
/// came to, though the key is right again. Which of `readers` does so is named.
std::vector<MergeFinding> ReplayCompactions(const Profile& event_time,
                                            std::span<const Profile> readers,
                                            const KeyVersions& key);

/// What the versions of a key show by themselves; at most one finding of a kind (kClassMismatch:
/// one a reader). `right` is MergeKey's.
std::vector<MergeFinding> InspectKey(const Profile& event_time, std::span<const Profile> readers,
                                     const KeyVersions& key, const Merged& right);

/// For a row that whoever put it together from several layers still found the placeholder in.
/// `reader` null: the right row has it too.
MergeFinding UnavailableValueFinding(const Profile* reader, const Version& row);

/// Whether two versions are the same record, of which one may be the copy that compactions carry
/// along in base files.
bool IsSameRecord(const Version& a, const Version& b);

/// Names one version in a sentence: "delete at 2 (LongWrapper)".
std::string VersionText(const Version& version);

}  // namespace tidemark::merge
