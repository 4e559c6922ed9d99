#include "merge/across.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/merge_log.h"

namespace tidemark::merge {
namespace {

using support::EventTimeProfile;
using support::Log;

/// What the log of a group comes to, written so many commits later.
GroupResult ResultOf(const Log& log, uint32_t later = 0) {
  std::vector<Version> versions = log.versions();
  for (Version& version : versions) version.place.commit += later;
  KeyVersions key;
  key.slice.log = versions;
  return ResultOfGroup(EventTimeProfile(), key);
}

/// "group live|gone".
std::string Right(const std::vector<GroupResult>& groups) {
  const auto right = MergeGroups(EventTimeProfile(), groups);
  if (!right) return "absent";
  return std::to_string(right->group) + (right->is_live ? " live" : " gone");
}

TEST(AcrossGroupsTest, TheHighestValueOfAllGroupsCounts) {
  EXPECT_EQ(Right({ResultOf(Log().Row(3)), ResultOf(Log().Row(2))}), "0 live");
  EXPECT_EQ(Right({ResultOf(Log().Row(3)), ResultOf(Log().Row(4))}), "1 live");
  EXPECT_EQ(Right({ResultOf(Log().Row(3).Deleted(4)), ResultOf(Log().Row(2), 9)}), "0 gone");
  EXPECT_EQ(Right({ResultOf(Log().Row(3).Deleted(4)), ResultOf(Log().Row(5), 9)}), "1 live");
  EXPECT_EQ(Right({ResultOf(Log()), ResultOf(Log().Row(1))}), "1 live");
  EXPECT_EQ(Right({ResultOf(Log()), ResultOf(Log())}), "absent");
}

TEST(AcrossGroupsTest, ADeleteWithoutValueCutsOffWhatCameBeforeInAnyGroup) {
  const auto deleted = ResultOf(Log().Row(3).DeletedByAll());
  EXPECT_EQ(Right({deleted, ResultOf(Log().Row(9))}), "0 gone");
  EXPECT_EQ(Right({deleted, ResultOf(Log().Row(1), 9)}), "1 live");
  // … although the group itself came to a row again.
  const auto back = ResultOf(Log().Row(3).DeletedByAll().Row(1));
  EXPECT_EQ(Right({back, ResultOf(Log().Row(9))}), "0 live");
}

TEST(AcrossGroupsTest, OfOneCommitDeletesCountAsEarlier) {
  for (const bool has_value : {true, false}) {
    Log deleted;
    if (has_value) {
      deleted.Deleted(3);
    } else {
      deleted.DeletedByAll();
    }
    const auto gone = ResultOf(deleted);
    const auto moved = ResultOf(Log().Row(3));
    EXPECT_EQ(Right({gone, moved}), "1 live");
    EXPECT_EQ(Right({moved, gone}), "0 live");
  }
}

}  // namespace
}  // namespace tidemark::merge
