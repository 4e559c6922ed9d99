#include "merge/across.h"

#include <algorithm>
#include <tuple>

namespace tidemark::merge {

GroupResult ResultOfGroup(const Profile& event_time, const KeyVersions& key) {
  GroupResult result;
  result.merged = MergeKey(event_time, key);
  const auto add = [&](const SliceVersions& slice) {
    for (const Version& version : slice.log) {
      if (IsSentinelDelete(event_time.read, version)) result.cuts.push_back(version);
    }
  };
  for (const SliceVersions& slice : key.older) add(slice);
  add(key.slice);
  return result;
}

std::optional<AcrossGroups> MergeGroups(const Profile& event_time,
                                        std::span<const GroupResult> groups) {
  std::vector<Version> versions;
  std::vector<const Version*> sources;  // named by the handles of `versions`
  std::vector<size_t> homes;            // likewise
  const auto add = [&](const Version& version, size_t group) {
    Version& added = versions.emplace_back(version);
    added.row = sources.size();
    added.columns = 0;  // each group has put its own row together
    sources.push_back(&version);
    homes.push_back(group);
  };
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const Version& cut : groups[i].cuts) add(cut, i);
    if (groups[i].merged.outcome != Merged::Outcome::kAbsent) add(groups[i].merged.winner, i);
  }
  if (versions.empty()) return std::nullopt;
  const auto order = [&](const Version& version) {
    const bool is_data = !IsDelete(event_time.read, version.op);
    return std::make_tuple(version.place.commit, is_data, version.place);
  };
  std::ranges::stable_sort(versions,
                           [&](const Version& a, const Version& b) { return order(a) < order(b); });
  Rules rules = event_time.read;
  rules.fill = Fill::kNone;
  const Merged merged = MergeSlice(rules, nullptr, versions);
  const auto source = static_cast<size_t>(merged.winner.row);
  return AcrossGroups{homes[source], merged.is_live(), *sources[source]};
}

}  // namespace tidemark::merge
