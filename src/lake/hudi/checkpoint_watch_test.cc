#include "lake/hudi/checkpoint_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/hudi_table.h"
#include "support/result_matchers.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using ::testing::IsEmpty;

class CheckpointWatchTest : public HudiTableTest {
 protected:
  /// The offset found, "none", or the kind of the error; counts what it cost.
  std::string Look() {
    store_.reads.clear();
    store_.listings = 0;
    const auto search = watch_.Look(Hurry());
    if (!search) return std::string(ErrorKindName(search.error().kind));
    return search->found ? search->found->checkpoint.value : "none";
  }
  void ExpectOneListing() {
    EXPECT_EQ(store_.listings, 1u);
    EXPECT_THAT(store_.reads, IsEmpty());
  }

  CheckpointWatch watch_{store_, NoColumns(), {}};
};

TEST_F(CheckpointWatchTest, AnUnchangedTimelineCostsOneListing) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  EXPECT_EQ(Look(), Offsets(1));
  for (int look = 0; look < 3; ++look) {
    EXPECT_EQ(Look(), Offsets(1));
    ExpectOneListing();
  }
}

TEST_F(CheckpointWatchTest, ANewCommitIsSeen) {
  for (const int layout : {1, 2}) {
    Properties(layout);
    const std::string folder = layout == 1 ? "" : "timeline/";
    const std::string completed = layout == 1 ? "" : "_003";
    Write(folder + "001" + completed + ".commit", CommitAt(1));
    EXPECT_EQ(Look(), Offsets(1));
    Write(folder + "002" + completed + ".commit", CommitAt(2));
    EXPECT_EQ(Look(), Offsets(2)) << "layout " << layout;
    Remove(folder + "001" + completed + ".commit");
    Remove(folder + "002" + completed + ".commit");
  }
}

TEST_F(CheckpointWatchTest, ACommitThatIsTakenBackIsSeen) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", CommitAt(2));
  EXPECT_EQ(Look(), Offsets(2));
  Remove("002.commit");
  EXPECT_EQ(Look(), Offsets(1));
}

TEST_F(CheckpointWatchTest, ACommitWrittenAnewIsSeen) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  EXPECT_EQ(Look(), Offsets(1));
  Write("001.commit", CommitAt(10));  // another size
  EXPECT_EQ(Look(), Offsets(10));
}

TEST_F(CheckpointWatchTest, ACommitDuringALookIsSeenByTheNext) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  bool is_written = false;
  store_.before_read = [&](std::string_view key) {
    if (key != ".hoodie/001.commit" || is_written) return;
    is_written = true;
    Write("002.commit", CommitAt(2));
  };
  Look();
  EXPECT_EQ(Look(), Offsets(2));
}

TEST_F(CheckpointWatchTest, ACommitThatCouldNotBeReadIsTriedAgain) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  Write("002.commit", "{torn");
  EXPECT_EQ(Look(), Offsets(1));
  EXPECT_EQ(Look(), Offsets(1));
  EXPECT_FALSE(store_.reads.empty());
}

TEST_F(CheckpointWatchTest, ATableThatIsDroppedIsMissedAtOnce) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  EXPECT_EQ(Look(), Offsets(1));
  Remove("001.commit");
  Remove("hoodie.properties");
  EXPECT_EQ(Look(), "not_found");
}

TEST_F(CheckpointWatchTest, ADroppedTableWithoutCommitsIsMissedToo) {
  Properties(2);
  EXPECT_EQ(Look(), "none");
  Remove("hoodie.properties");
  EXPECT_EQ(Look(), "not_found");
}

TEST_F(CheckpointWatchTest, AnUpgradeToTheOtherLayoutIsFollowed) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  EXPECT_EQ(Look(), Offsets(1));
  Remove("001.commit");
  Properties(2);
  Write("timeline/001_002.commit", CommitAt(1));
  Write("timeline/003_004.commit", CommitAt(3));
  EXPECT_EQ(Look(), Offsets(3));
  EXPECT_EQ(Look(), Offsets(3));
  ExpectOneListing();
}

}  // namespace
}  // namespace tidemark::lake::hudi
