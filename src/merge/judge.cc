#include "merge/judge.h"

#include <utility>

#include "merge/explain_internal.h"

namespace tidemark::merge {

KeyJudge::KeyJudge(Profile event_time, std::vector<Profile> readers)
    : event_time_(std::move(event_time)), readers_(std::move(readers)) {}

Merged KeyJudge::Judge(const KeyVersions& key, std::vector<MergeFinding>& findings) const {
  const Merged right = MergeKey(event_time_, key);
  for (const Profile& reader : readers_) {
    const Merged shown = MergeSlice(reader, key.slice);
    if (const auto kind = CompareKey(event_time_, key, right, shown)) {
      findings.push_back(ExplainKind(event_time_, reader, readers_, key, *kind, right, shown));
    }
  }
  const auto append = [&](std::vector<MergeFinding> more) {
    for (MergeFinding& finding : more) findings.push_back(std::move(finding));
  };
  if (!key.older.empty()) append(ReplayCompactions(event_time_, readers_, key));
  append(InspectKey(event_time_, readers_, key, right));
  return right;
}

}  // namespace tidemark::merge
