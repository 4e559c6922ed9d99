/// How findings are made; of this module alone.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "merge/finding.h"
#include "merge/java_order.h"

namespace tidemark::merge {

std::string ClassMismatchText(const JavaValue& data, const std::optional<JavaValue>& deleted);

Severity SeverityOf(FindingKind kind);

/// The step of a reader's merge that went another way than event time.
struct Culprit {
  Reason reason = Reason::kNone;
  std::optional<Version> version;  ///< that stayed instead of the right one
  bool is_at_base = false;
};

/// `right` over the slice as the reader folds it.
Culprit FindCulprit(const Rules& rules, const SliceVersions& slice, const Version& right);
/// "the log merge of hudi-0.14 lets the … win because …".
std::string RuleText(const Profile& reader, const Profile& event_time, const SliceVersions& slice,
                     const Culprit& culprit, const Version& right);

/// What went wrong when a base file was written.
struct PastFault {
  const SliceVersions* written = nullptr;  ///< the slice of that base file
  std::optional<Version> version;          ///< that took the right one's place, if it is known
  std::string text;
};

/// Why the base file of slice `index` (older ones first, the current one last) does not hold
/// `right`, which the slice before it does. `readers` are tried for the one that compacts so.
PastFault ExplainPast(const Profile& event_time, std::span<const Profile> readers,
                      const KeyVersions& key, size_t index, const Version& right);
/// The slice whose base file was written without `right` while older slices hold it.
std::optional<size_t> FindPast(const KeyVersions& key, const Version& right);

/// A version that only older slices hold, and the slice whose base file was written without it.
struct LostVersion {
  Version version;
  size_t index = 0;
};
/// What the current slice would need to come to `right`: that version, or the delete without value
/// that stood before it.
std::optional<LostVersion> FindLost(const Rules& event_time, const KeyVersions& key,
                                    const Version& right);

/// CompareResults for results of which one comes from all slices, the other from the current one.
std::optional<FindingKind> CompareKey(const Profile& event_time, const KeyVersions& key,
                                      const Merged& right, const Merged& shown);

/// ExplainDifference when the results are known.
MergeFinding ExplainKind(const Profile& event_time, const Profile& reader,
                         std::span<const Profile> readers, const KeyVersions& key, FindingKind kind,
                         const Merged& right, const Merged& shown);

}  // namespace tidemark::merge
