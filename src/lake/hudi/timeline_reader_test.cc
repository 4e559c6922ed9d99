#include "lake/hudi/timeline_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lake/hudi/timeline.h"

namespace tidemark::lake::hudi {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A listing of `.hoodie` (layout 1) or `.hoodie/timeline` (layout 2), named by its files alone.
/// Sizes are 1, 2, 3, … and times 1 s, 2 s, 3 s, … in the order given.
class TimelineFromNames {
 public:
  explicit TimelineFromNames(int layout) {
    table_.version = layout == 2 ? 9 : 6;
    table_.layout = layout;
    table_.timeline_folder = layout == 2 ? ".hoodie/timeline" : ".hoodie";
  }

  Timeline operator()(const std::vector<std::string>& names) const {
    storage::Listing listing;
    for (const std::string& name : names) {
      const std::string key = table_.timeline_folder + "/" + name;
      if (name.ends_with('/')) {
        listing.folders.push_back(key);
        continue;
      }
      if (name.ends_with('@')) {  // as ls has links
        listing.others.push_back(key.substr(0, key.size() - 1));
        continue;
      }
      const auto number = static_cast<long long>(listing.objects.size()) + 1;
      listing.objects.push_back(
          {key, static_cast<uint64_t>(number), WallTimeFromMillis(number * 1000)});
    }
    std::ranges::sort(listing.objects, {}, &storage::ObjectInfo::key);
    return MakeTimeline(listing, table_);
  }

 private:
  TableProperties table_;
};

/// "requested action STATE" of each instant, "<-planned" behind it where it differs.
std::vector<std::string> Summary(const Timeline& timeline) {
  std::vector<std::string> lines;
  for (const Instant& instant : timeline.instants) {
    lines.push_back(instant.requested + " " + instant.action_name + " " +
                    std::string(StateName(instant.state)));
    if (instant.planned_as) lines.back() += " <-" + std::string(ActionName(*instant.planned_as));
  }
  return lines;
}

TEST(TimelineOfLayoutOneTest, FilesOfOneInstantBecomeItsHighestState) {
  const Timeline timeline = TimelineFromNames(1)(
      {"001.commit.requested", "001.inflight", "001.commit", "002.commit.requested", "002.inflight",
       "003.commit.requested", "004.clean.requested", "004.clean.inflight", "004.clean"});
  EXPECT_THAT(Summary(timeline), ElementsAre("001 commit COMPLETED", "002 commit INFLIGHT",
                                             "003 commit REQUESTED", "004 clean COMPLETED"));
  EXPECT_EQ(timeline.ignored_files, 0u);
  EXPECT_THAT(timeline.findings, IsEmpty());
}

TEST(TimelineOfLayoutOneTest, AnInstantWithoutAFileIsThereAndSaidToBeUnreadable) {
  const Timeline timeline = TimelineFromNames(1)(
      {"001.commit", "002.inflight", "002.commit@", "003.deltacommit/", "archived/", "link@"});
  EXPECT_THAT(Summary(timeline), ElementsAre("001 commit COMPLETED", "002 commit COMPLETED",
                                             "003 deltacommit COMPLETED"));
  EXPECT_EQ(timeline.ignored_files, 2u);
  EXPECT_THAT(timeline.findings, testing::UnorderedElementsAre(
                                     AllOf(Field(&Finding::kind, "unreadable_commit"),
                                           Field(&Finding::place, ".hoodie/002.commit")),
                                     AllOf(Field(&Finding::kind, "unreadable_commit"),
                                           Field(&Finding::place, ".hoodie/003.deltacommit"))));
}

TEST(TimelineOfLayoutOneTest, AnInstantIsDescribedByTheFileOfItsHighestState) {
  const Timeline timeline = TimelineFromNames(1)(
      {"001.deltacommit.requested", "001.deltacommit.inflight", "001.deltacommit"});
  ASSERT_EQ(timeline.instants.size(), 1u);
  const Instant& instant = timeline.instants[0];
  EXPECT_EQ(instant.file, ".hoodie/001.deltacommit");
  EXPECT_EQ(instant.file_size, 3u);
  EXPECT_EQ(instant.file_time, WallTimeFromMillis(3000));
  EXPECT_EQ(instant.requested_file_time, WallTimeFromMillis(1000));
  EXPECT_EQ(instant.completed, std::nullopt);
  EXPECT_EQ(instant.planned_as, std::nullopt);
  EXPECT_FALSE(instant.is_archived);
}

TEST(TimelineOfLayoutOneTest, ServicesCompleteUnderAnotherName) {
  EXPECT_THAT(
      Summary(TimelineFromNames(1)({"001.compaction.requested", "001.compaction.inflight",
                                    "001.commit", "002.logcompaction.requested",
                                    "002.logcompaction.inflight", "002.deltacommit",
                                    "003.replacecommit.requested", "003.replacecommit.inflight",
                                    "003.replacecommit", "004.compaction.requested"})),
      ElementsAre("001 commit COMPLETED <-compaction", "002 deltacommit COMPLETED <-logcompaction",
                  "003 replacecommit COMPLETED", "004 compaction REQUESTED"));
}

TEST(TimelineOfLayoutOneTest, DifferentActionsOfOneTimeAreDifferentInstants) {
  EXPECT_THAT(Summary(TimelineFromNames(1)({"001.commit.requested", "001.inflight", "001.commit",
                                            "001.savepoint.inflight", "001.savepoint"})),
              ElementsAre("001 commit COMPLETED", "001 savepoint COMPLETED"));
}

TEST(TimelineOfLayoutOneTest, InstantsAreOrderedAsText) {
  EXPECT_THAT(Summary(TimelineFromNames(1)({"20240101000000123.commit", "20240101000000.commit",
                                            "00000000000000.commit", "20231231235959999.commit"})),
              ElementsAre("00000000000000 commit COMPLETED", "20231231235959999 commit COMPLETED",
                          "20240101000000 commit COMPLETED", "20240101000000123 commit COMPLETED"));
}

TEST(TimelineOfLayoutOneTest, JunkIsCountedAndLeftOut) {
  const Timeline timeline =
      TimelineFromNames(1)({"hoodie.properties", ".001.commit.crc", "001.commit", "001.commit.crc",
                            "notes.txt", "archived/", "metadata/", ".aux/"});
  EXPECT_THAT(Summary(timeline), ElementsAre("001 commit COMPLETED"));
  EXPECT_EQ(timeline.ignored_files, 7u);
  EXPECT_THAT(timeline.findings, IsEmpty());
}

TEST(TimelineOfLayoutOneTest, AFileNameOfLayoutTwoIsAFindingAndNotRead) {
  const Timeline timeline = TimelineFromNames(1)({"001_002.commit", "003.commit"});
  EXPECT_THAT(Summary(timeline), ElementsAre("003 commit COMPLETED"));
  EXPECT_EQ(timeline.ignored_files, 1u);
  EXPECT_THAT(timeline.findings,
              ElementsAre(AllOf(Field(&Finding::kind, "stray_file"),
                                Field(&Finding::place, ".hoodie/001_002.commit"))));
}

TEST(TimelineOfLayoutTwoTest, CompletionTimesComeFromTheNames) {
  const Timeline timeline = TimelineFromNames(2)(
      {"001.deltacommit.requested", "001.deltacommit.inflight", "001_005.deltacommit",
       "002.clustering.requested", "002.clustering.inflight", "002_004.replacecommit",
       "003.inflight", "history/"});
  EXPECT_THAT(Summary(timeline),
              ElementsAre("001 deltacommit COMPLETED", "002 replacecommit COMPLETED <-clustering",
                          "003 commit INFLIGHT"));
  EXPECT_EQ(timeline.instants[0].completed, "005");
  EXPECT_EQ(timeline.instants[1].completed, "004");
  EXPECT_EQ(timeline.instants[2].completed, std::nullopt);
  EXPECT_EQ(timeline.ignored_files, 1u);
}

TEST(TimelineOfLayoutTwoTest, ALegacyInstantHasNoCompletionTime) {
  const Timeline timeline =
      TimelineFromNames(2)({"001.commit", "002.deltacommit", "003_004.deltacommit"});
  EXPECT_THAT(Summary(timeline), ElementsAre("001 commit COMPLETED", "002 deltacommit COMPLETED",
                                             "003 deltacommit COMPLETED"));
  EXPECT_EQ(timeline.instants[0].completed, std::nullopt);
  EXPECT_EQ(timeline.instants[2].completed, "004");
}

TEST(TimelineOfLayoutTwoTest, OfSeveralCompletedFilesTheLatestCounts) {
  const Timeline timeline =
      TimelineFromNames(2)({"001_003.clean", "001_004.clean", "001_002.clean", "005.commit",
                            "005_007.commit", "005_006.commit"});
  ASSERT_THAT(Summary(timeline), ElementsAre("001 clean COMPLETED", "005 commit COMPLETED"));
  EXPECT_EQ(timeline.instants[0].completed, "004");
  EXPECT_EQ(timeline.instants[0].file, ".hoodie/timeline/001_004.clean");
  EXPECT_EQ(timeline.instants[1].completed, "007");
  EXPECT_THAT(timeline.findings,
              ElementsAre(AllOf(Field(&Finding::kind, "several_completions"),
                                Field(&Finding::place, ".hoodie/timeline/005_007.commit"),
                                Field(&Finding::message, HasSubstr("files=3")))));
}

TEST(TimelineOfLayoutTwoTest, AnUnknownActionIsKeptAndNamedOnce) {
  const std::string t = "20270101000000000";
  const std::string u = "20270101000001000";
  const Timeline timeline = TimelineFromNames(2)(
      {t + ".vacuum.requested", t + "_" + u + ".vacuum", u + ".vacuum.inflight"});
  EXPECT_THAT(Summary(timeline), ElementsAre(t + " vacuum COMPLETED", u + " vacuum INFLIGHT"));
  EXPECT_EQ(timeline.instants[0].action, Action::kUnknown);
  EXPECT_THAT(timeline.findings,
              ElementsAre(AllOf(Field(&Finding::kind, "unknown_action"),
                                Field(&Finding::message, HasSubstr("action=vacuum")))));
}

TEST(TimelineOfLayoutTwoTest, AnEmptyFolderIsATimelineWithoutInstants) {
  const Timeline timeline = TimelineFromNames(2)({});
  EXPECT_THAT(timeline.instants, IsEmpty());
  EXPECT_EQ(timeline.ignored_files, 0u);
}

}  // namespace
}  // namespace tidemark::lake::hudi
