#include "change/instant_order.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "lake/hudi/commit_time.h"

namespace tidemark::change {

namespace {

using lake::hudi::Timeline;
using lake::hudi::TimelineZone;

struct Place {
  bool has_completion = false;
  std::string completion;
  WallTime file_time;

  friend auto operator<=>(const Place&, const Place&) = default;
};

/// Asked of the commits alone: other actions have no requested file to compare with. One file time
/// that cannot be believed speaks against all of them: mixing two clocks would give no order.
bool AreFileTimesBelieved(const std::vector<const InstantEffect*>& instants,
                          const Timeline& timeline, TimelineZone zone) {
  return std::ranges::all_of(instants, [&](const InstantEffect* facts) {
    if (facts->instant.completed || !IsCommitAction(facts->instant.action)) return true;
    return CommitTimeOf(facts->instant, timeline.instants, zone).source ==
           lake::CommitTimeSource::kFileTime;
  });
}

}  // namespace

void SortForTelling(std::vector<const InstantEffect*>& instants, const Timeline& timeline,
                    TimelineZone zone) {
  const bool by_file_time = AreFileTimesBelieved(instants, timeline, zone);
  std::map<const InstantEffect*, Place> places;
  for (const InstantEffect* facts : instants) {
    const auto& instant = facts->instant;
    places[facts] = {
        .has_completion = instant.completed.has_value(),
        .completion = instant.completed.value_or(""),
        .file_time = by_file_time ? instant.file_time.value_or(WallTime{}) : WallTime{}};
  }
  std::sort(instants.begin(), instants.end(), [&](const InstantEffect* a, const InstantEffect* b) {
    return std::tie(places.at(a), a->instant.requested, a->instant.action_name) <
           std::tie(places.at(b), b->instant.requested, b->instant.action_name);
  });
}

}  // namespace tidemark::change
