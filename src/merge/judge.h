/// One pass over the keys of a file slice for several readers at once.
#pragma once

#include <vector>

#include "merge/finding.h"

namespace tidemark::merge {

/// Holds nothing of the keys it has judged. Any thread.
class KeyJudge {
 public:
  /// `event_time` is the profile of that name; `readers` may be none.
  KeyJudge(Profile event_time, std::vector<Profile> readers);

  /// Appends every finding of the key and returns its right result, which with history may be a
  /// version that no reader can see any more. A key whose only version is a base row of
  /// Op::kUpsert without has_unavailable needs no judging.
  Merged Judge(const KeyVersions& key, std::vector<MergeFinding>& findings) const;

  const Profile& event_time() const { return event_time_; }
  const std::vector<Profile>& readers() const { return readers_; }

 private:
  Profile event_time_;
  std::vector<Profile> readers_;
};

}  // namespace tidemark::merge
