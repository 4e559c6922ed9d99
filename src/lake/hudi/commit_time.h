/// When a commit happened on the wall, as far as a table can tell.
#pragma once

#include <optional>
#include <span>

#include "base/clock.h"
#include "lake/commit_point.h"
#include "lake/hudi/properties.h"
#include "lake/hudi/timeline.h"

namespace tidemark::lake::hudi {

struct CommitTime {
  std::optional<WallTime> at;  ///< nullopt exactly when source is kUnknown
  CommitTimeSource source = CommitTimeSource::kUnknown;

  friend bool operator==(const CommitTime&, const CommitTime&) = default;
};

/// The end of the completed commit `instant` of `timeline`.
///
/// A table whose instants are UTC: its completion time; in layout 1, which has none, the
/// modification time of its completed file, or the requested time (the start of the commit) when
/// that time is not plausible.
///
/// A table of local instants does not say which zone its writer is in, so only the file time can
/// tell, and a copied or restored table has misleading ones. It is believed when it differs from
/// the instant by a whole quarter of an hour between UTC-12 and UTC+14 (give or take two minutes),
/// and at least one other completed instant, too far away in time for a copy to pretend it, shows
/// the same difference. In layout 1 the difference is taken at the requested file, which is
/// written when the instant is taken. Otherwise unknown. This rule is ours.
CommitTime CommitTimeOf(const Instant& instant, std::span<const Instant> timeline,
                        TimelineZone zone);

}  // namespace tidemark::lake::hudi
