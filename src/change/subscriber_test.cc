#include "change/subscriber.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/change_publisher.h"

namespace tidemark::change {
namespace {

using support::ChangePublisher;
using support::PagesOf;
using support::PartsOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using enum DecisionKind;

std::vector<DecisionKind> KindsOf(const Subscriber::Decisions& decisions) {
  std::vector<DecisionKind> kinds;
  for (const auto& decision : decisions) kinds.push_back(decision.kind);
  return kinds;
}

std::set<std::string> PathsOf(const Replica& replica) {
  std::set<std::string> paths;
  for (const auto& [path, seq] : replica.partitions) paths.insert(path);
  return paths;
}

class SubscriberTest : public ::testing::Test {
 protected:
  SubscriberTest() { Begin(); }

  /// The table with partition "a", and a subscriber that has loaded it.
  void Begin() {
    publisher_.SetColumn("x");
    publisher_.Tell(TableReason::kCreated);
    TakePages();
    Take(publisher_.Commit({"+a"}));
  }

  std::vector<DecisionKind> Take(EventPart part) {
    return KindsOf(subscriber_.Take(std::move(part), now_));
  }
  std::vector<DecisionKind> Take(const Group& group) {
    std::vector<DecisionKind> kinds;
    for (auto& part : PartsOf(group))
      for (const auto kind : Take(std::move(part))) kinds.push_back(kind);
    return kinds;
  }
  std::vector<DecisionKind> TakePages(size_t page_size = 2) {
    return TakePages(publisher_.Snapshot(), page_size);
  }
  std::vector<DecisionKind> TakePages(const Snapshot& snapshot, size_t page_size = 2) {
    std::vector<DecisionKind> kinds;
    for (auto& page : PagesOf(snapshot, page_size))
      for (const auto kind : Take(std::move(page))) kinds.push_back(kind);
    return kinds;
  }
  std::vector<DecisionKind> Wait(Milliseconds time) {
    now_ += time;
    return KindsOf(subscriber_.Tick(now_));
  }
  void ExpectInStep() {
    EXPECT_EQ(subscriber_.replica().epoch, publisher_.epoch());
    EXPECT_EQ(subscriber_.replica().seq, publisher_.seq());
    EXPECT_EQ(PathsOf(subscriber_.replica()), publisher_.partitions());
    EXPECT_EQ(subscriber_.replica().schema, publisher_.schema());
    EXPECT_EQ(subscriber_.relist(), std::nullopt);
    EXPECT_EQ(subscriber_.lag(), 0);
    EXPECT_EQ(subscriber_.waiting_groups(), 0u);
    EXPECT_EQ(subscriber_.waiting_bytes(), 0u);
  }

  ChangePublisher publisher_;
  Subscriber subscriber_;
  MonoTime now_{};
};

// --- C1: epochs ---

TEST_F(SubscriberTest, AnEventOfAnEpochThatIsOverIsDropped) {
  const auto old = publisher_.Commit({"+b"});
  publisher_.NextEpoch(TableReason::kRestored, {"a"});
  TakePages();
  EXPECT_THAT(Take(old), ElementsAre(kOldEpoch, kOldEpoch));
  ExpectInStep();
}

TEST_F(SubscriberTest, ANewEpochWaitsForItsSnapshotAndGoesOnFromThere) {
  const auto first = publisher_.NextEpoch(TableReason::kRestored, {"z"});
  const auto snapshot = publisher_.Snapshot();
  EXPECT_THAT(Take(first), ElementsAre(kParked, kRelist));
  EXPECT_THAT(Take(publisher_.Commit({"+b"})), ElementsAre(kParked, kParked));
  EXPECT_EQ(PathsOf(subscriber_.replica()), std::set<std::string>{"a"});
  EXPECT_EQ(subscriber_.lag(), 2);
  EXPECT_THAT(TakePages(snapshot), ElementsAre(kReplaced, kApplied));
  ExpectInStep();
}

TEST_F(SubscriberTest, TheOldEpochIsFollowedWhileTheNewOnesSnapshotIsAwaited) {
  const auto last = publisher_.Commit({"+b"});
  EXPECT_THAT(Take(publisher_.NextEpoch(TableReason::kRestored, {"z"})),
              ElementsAre(kParked, kRelist));
  EXPECT_THAT(Take(last), ElementsAre(kGathered, kApplied));
  EXPECT_EQ(PathsOf(subscriber_.replica()), (std::set<std::string>{"a", "b"}));
  TakePages();
  ExpectInStep();
}

// --- C2: repeats ---

TEST_F(SubscriberTest, ARepeatChangesNothing) {
  const auto group = publisher_.Commit({"+b"});
  Take(group);
  Take(publisher_.Commit({"-b"}));
  EXPECT_THAT(Take(group), ElementsAre(kRepeat, kRepeat));
  ExpectInStep();
}

TEST_F(SubscriberTest, AKnownIdWithOtherBytesIsAConflict) {
  const auto group = publisher_.Commit({"+b"});
  Take(group);
  auto other = PartsOf(group);
  other[0].body_hash ^= 1;
  EXPECT_THAT(Take(other[0]), ElementsAre(kConflict));
  EXPECT_THAT(Take(other[1]), ElementsAre(kRepeat));
  ExpectInStep();
}

TEST_F(SubscriberTest, ConflictsAreSeenInAGroupThatIsNotWholeToo) {
  auto parts = PartsOf(publisher_.Commit({"+b", "+c"}));
  EXPECT_THAT(Take(parts[0]), ElementsAre(kGathered));
  EXPECT_THAT(Take(parts[0]), ElementsAre(kRepeat));
  auto other = parts[0];
  other.body_hash ^= 1;
  EXPECT_THAT(Take(other), ElementsAre(kConflict));
  auto of_another_attempt = parts[1];
  of_another_attempt.group_digest.low ^= 1;
  EXPECT_THAT(Take(of_another_attempt), ElementsAre(kConflict));
  Take(parts[1]);
  EXPECT_THAT(Take(parts[2]), ElementsAre(kApplied));
  ExpectInStep();
}

// --- C3: whole groups ---

TEST_F(SubscriberTest, NothingOfAGroupIsSeenBeforeAllOfIt) {
  auto parts = PartsOf(publisher_.Commit({"+b", "+c", "-a"}));
  ASSERT_EQ(parts.size(), 4u);
  for (const size_t i : {2u, 0u, 3u}) {
    EXPECT_THAT(Take(parts[i]), ElementsAre(kGathered));
    EXPECT_EQ(PathsOf(subscriber_.replica()), std::set<std::string>{"a"});
  }
  EXPECT_THAT(Take(parts[1]), ElementsAre(kApplied));
  ExpectInStep();
}

TEST_F(SubscriberTest, PartsThatDoNotMakeTheirDigestAreNoGroup) {
  auto parts = PartsOf(publisher_.Commit({"+b"}));
  parts[0].detail += "!";
  Take(parts[0]);
  EXPECT_THAT(Take(parts[1]), ElementsAre(kBroken, kRelist));
  EXPECT_EQ(PathsOf(subscriber_.replica()), std::set<std::string>{"a"});
  TakePages();
  ExpectInStep();
}

TEST_F(SubscriberTest, PartsWithDifferentFramesAreNoGroup) {
  auto parts = PartsOf(publisher_.Commit({"+b"}));
  ++parts[0].group.partition_count;
  Take(parts[0]);
  EXPECT_THAT(Take(parts[1]), ElementsAre(kBroken, kRelist));
}

TEST_F(SubscriberTest, ASchemaComesWithItsGroup) {
  EXPECT_THAT(Take(publisher_.CommitSchema("y")), ElementsAre(kGathered, kApplied));
  EXPECT_EQ(subscriber_.replica().schema.columns.at(0).name, "y");
  ExpectInStep();
}

// --- C4: gaps ---

TEST_F(SubscriberTest, AGapIsWaitedForAndThenListed) {
  const auto missing = publisher_.Commit({"+b"});
  EXPECT_THAT(Take(publisher_.Commit({"+c"})), ElementsAre(kParked, kParked));
  EXPECT_THAT(Wait(Milliseconds(4'999)), IsEmpty());
  EXPECT_FALSE(subscriber_.WantsList(now_));
  EXPECT_THAT(Wait(Milliseconds(1)), ElementsAre(kRelist));
  EXPECT_EQ(subscriber_.relist(), RelistReason::kGap);
  EXPECT_TRUE(subscriber_.WantsList(now_));
  EXPECT_THAT(TakePages(), ElementsAre(kGathered, kReplaced));
  ExpectInStep();
  EXPECT_THAT(Take(missing), ElementsAre(kRepeat, kRepeat));
}

TEST_F(SubscriberTest, WhatWasMissingHealsTheGapBeforeAnyList) {
  const auto missing = publisher_.Commit({"+b"});
  Take(publisher_.Commit({"+c"}));
  Wait(Milliseconds(6'000));
  EXPECT_THAT(Take(missing), ElementsAre(kGathered, kHealed, kApplied, kApplied));
  ExpectInStep();
}

TEST_F(SubscriberTest, ASnapshotInsideTheGapIsLoadedAndTheRestIsAskedFor) {
  publisher_.Commit({"+b"});
  const auto snapshot = publisher_.Snapshot();
  publisher_.Commit({"+c"});
  Take(publisher_.Commit({"+d"}));
  Wait(Milliseconds(5'000));
  subscriber_.ListBegins();
  EXPECT_FALSE(subscriber_.WantsList(now_));
  EXPECT_THAT(TakePages(snapshot), Contains(kReplaced));
  EXPECT_EQ(subscriber_.relist(), RelistReason::kGap);
  EXPECT_EQ(subscriber_.ListEnds(now_), Subscriber::ListEnd::kNeedsHelp);
  EXPECT_FALSE(subscriber_.WantsList(now_));
  Wait(Milliseconds(30'000));
  EXPECT_TRUE(subscriber_.WantsList(now_));
  TakePages();
  ExpectInStep();
}

TEST_F(SubscriberTest, AGroupThatFollowsAnotherThanTheAppliedOneIsNotApplied) {
  auto group = publisher_.Commit({"+b"});
  group.previous->instant->requested = "other";
  EXPECT_THAT(Take(group), ElementsAre(kGathered, kBroken, kRelist));
  EXPECT_TRUE(subscriber_.is_held());
  TakePages();
  ExpectInStep();
}

TEST_F(SubscriberTest, OnlySoManyGroupsAndBytesAreParked) {
  publisher_.Commit({"+b"});
  for (int i = 0; i < 1'000; ++i)
    EXPECT_THAT(Take(publisher_.Commit({"~a"})), Not(Contains(kOverflow)));
  EXPECT_THAT(Take(publisher_.Commit({"~a"})), ElementsAre(kOverflow, kOverflow));
  EXPECT_EQ(subscriber_.waiting_groups(), 1'000u);
  TakePages();
  ExpectInStep();

  publisher_.Commit({"+c"});
  auto large = PartsOf(publisher_.Commit({"~a"}));
  large[0].body_size = size_t{16} << 20;
  large[1].body_size = 1;
  EXPECT_THAT(Take(large[0]), ElementsAre(kParked));
  EXPECT_THAT(Take(large[1]), ElementsAre(kOverflow));
}

TEST_F(SubscriberTest, TheOpenGroupMayBeLargerThanWhatIsParked) {
  auto parts = PartsOf(publisher_.Commit({"+b"}));
  parts[0].body_size = size_t{100} << 20;
  Take(parts[0]);
  EXPECT_THAT(Take(parts[1]), ElementsAre(kApplied));
  ExpectInStep();
}

TEST_F(SubscriberTest, ABookmarkBeyondWhatCameIsAGap) {
  publisher_.Commit({"+b"});
  subscriber_.NoteHead(1, 3);
  EXPECT_EQ(subscriber_.lag(), 1);
  EXPECT_THAT(Wait(Milliseconds(0)), IsEmpty());
  EXPECT_THAT(Wait(Milliseconds(5'000)), ElementsAre(kRelist));
  TakePages();
  ExpectInStep();
  subscriber_.NoteHead(1, 2);
  EXPECT_THAT(Wait(Milliseconds(50'000)), IsEmpty()) << "an old one";
}

TEST_F(SubscriberTest, AGroupThatIsOpenWhenABookmarkTellsOfItHasLostAPart) {
  Take(PartsOf(publisher_.Commit({"+b"}))[0]);
  subscriber_.NoteHead(1, 3);
  Wait(Milliseconds(0));
  EXPECT_THAT(Wait(Milliseconds(5'000)), ElementsAre(kRelist));
  TakePages();
  ExpectInStep();
}

// --- C5: proof ---

TEST_F(SubscriberTest, AnotherStateThanThePublishersIsNoticedAtOnceAndHeldUntilASnapshot) {
  auto wrong = publisher_.Commit({"+b"});
  wrong.partitions.clear();  // the publisher believes to have told of b
  EXPECT_THAT(Take(wrong), ElementsAre(kApplied, kMismatch, kRelist));
  EXPECT_EQ(subscriber_.relist(), RelistReason::kDigest);
  EXPECT_THAT(Take(publisher_.Commit({"+c"})), ElementsAre(kParked, kParked));
  EXPECT_THAT(TakePages(), ElementsAre(kGathered, kReplaced));
  ExpectInStep();
}

TEST_F(SubscriberTest, ASnapshotOfTheVeryGroupThatWentWrongHeals) {
  auto wrong = publisher_.Commit({"+b"});
  wrong.partitions.clear();
  Take(wrong);
  const auto snapshot = publisher_.Snapshot();
  const auto next = publisher_.Commit({"+c"});
  Take(next);
  EXPECT_THAT(TakePages(snapshot), ElementsAre(kReplaced, kApplied));
  ExpectInStep();
}

// --- C6: snapshots ---

TEST_F(SubscriberTest, ANewerSnapshotReplacesAndAnOlderOneNever) {
  const auto old = publisher_.Snapshot();
  Take(publisher_.Commit({"+b"}));
  EXPECT_THAT(TakePages(old), ElementsAre(kOldPage));
  const auto skipped = publisher_.Commit({"-a", "+c"});
  EXPECT_THAT(TakePages(1), ElementsAre(kGathered, kReplaced));
  ExpectInStep();
  EXPECT_THAT(Take(skipped), ElementsAre(kRepeat, kRepeat, kRepeat));
}

TEST_F(SubscriberTest, PagesOfTwoSnapshotsAreNeverMixed) {
  publisher_.Commit({"+b", "+c"});
  const auto older = PagesOf(publisher_.Snapshot(), 2);
  publisher_.Commit({"-b", "+d"});
  const auto newer = PagesOf(publisher_.Snapshot(), 2);
  ASSERT_EQ(older.size(), 2u);
  ASSERT_EQ(newer.size(), 2u);
  EXPECT_THAT(Take(older[0]), ElementsAre(kGathered));
  EXPECT_THAT(Take(newer[1]), ElementsAre(kGathered));
  EXPECT_THAT(Take(older[1]), ElementsAre(kOldPage));
  EXPECT_THAT(Take(newer[0]), ElementsAre(kReplaced));
  ExpectInStep();
}

TEST_F(SubscriberTest, ASnapshotThatIsNotWhatItClaimsIsDropped) {
  publisher_.Commit({"+b"});
  auto pages = PagesOf(publisher_.Snapshot(), 5);
  ASSERT_EQ(pages.size(), 1u);
  pages[0].page->partitions[0] = "other";
  EXPECT_THAT(Take(pages[0]), ElementsAre(kBroken));
  EXPECT_EQ(PathsOf(subscriber_.replica()), std::set<std::string>{"a"});
  TakePages();
  ExpectInStep();
}

TEST_F(SubscriberTest, GroupsBehindASnapshotGoOnFromIt) {
  publisher_.Commit({"+b"});
  const auto snapshot = publisher_.Snapshot();
  const auto next = publisher_.Commit({"+c"});
  Take(next);
  EXPECT_THAT(TakePages(snapshot), Contains(kApplied));
  ExpectInStep();
}

// --- C8: open groups ---

TEST_F(SubscriberTest, AGroupThatStaysOpenWhileOthersComeIsGivenUp) {
  auto parts = PartsOf(publisher_.Commit({"+b"}));
  Take(parts[0]);
  EXPECT_THAT(Wait(Milliseconds(100'000)), IsEmpty()) << "nothing came after it";
  Take(publisher_.Commit({"+c"}));
  EXPECT_EQ(subscriber_.relist(), RelistReason::kOpen);
  TakePages();
  ExpectInStep();
}

TEST_F(SubscriberTest, AnOpenGroupHasAMinute) {
  auto parts = PartsOf(publisher_.Commit({"+b"}));
  Take(parts[0]);
  Take(publisher_.Commit({"+c"}));
  EXPECT_THAT(Wait(Milliseconds(59'999)), IsEmpty());
  EXPECT_THAT(Wait(Milliseconds(1)), ElementsAre(kRelist));
  EXPECT_THAT(Take(parts[1]), ElementsAre(kApplied, kApplied, kHealed));
  ExpectInStep();
}

// --- C9, C11 ---

TEST_F(SubscriberTest, AfterPoisonOnlyASnapshotIsBelieved) {
  EXPECT_THAT(KindsOf(subscriber_.TakePoison(now_)), ElementsAre(kRelist));
  EXPECT_THAT(Take(publisher_.Commit({"+b"})), ElementsAre(kParked, kParked));
  TakePages();
  ExpectInStep();
}

TEST_F(SubscriberTest, WithoutABaseEventsWaitForTheSnapshot) {
  subscriber_ = Subscriber();
  EXPECT_THAT(Take(publisher_.Commit({"+b"})), ElementsAre(kParked, kRelist, kParked));
  EXPECT_EQ(subscriber_.relist(), RelistReason::kFirst);
  const auto snapshot = publisher_.Snapshot();
  Take(publisher_.Commit({"+c"}));
  EXPECT_THAT(TakePages(snapshot), ElementsAre(kReplaced, kApplied));
  ExpectInStep();
}

TEST_F(SubscriberTest, ADoubtOutlivesARestart) {
  subscriber_.TakePoison(now_);
  subscriber_ = Subscriber(subscriber_.replica());
  EXPECT_TRUE(subscriber_.WantsList(now_));
  EXPECT_THAT(Take(publisher_.Commit({"+b"})), ElementsAre(kParked, kParked));
  TakePages();
  ExpectInStep();
}

TEST_F(SubscriberTest, TheFirstPagesAreNoReasonToListAgain) {
  publisher_.Commit({"+b", "+c"});
  subscriber_ = Subscriber();
  EXPECT_THAT(TakePages(2), ElementsAre(kGathered, kReplaced));
  ExpectInStep();
}

// --- What is told of the table ---

TEST_F(SubscriberTest, ADroppedTableHasNoPartitionsAndMayComeBack) {
  Take(publisher_.Tell(TableReason::kDropped));
  EXPECT_TRUE(subscriber_.replica().is_dropped);
  EXPECT_THAT(subscriber_.replica().partitions, IsEmpty());
  publisher_.NextEpoch(TableReason::kRecreated, {"z"});
  TakePages();
  EXPECT_FALSE(subscriber_.replica().is_dropped);
  ExpectInStep();
}

TEST_F(SubscriberTest, InstantsAreRememberedUntilTheyAreTakenBack) {
  const auto group = publisher_.Commit({"+b"});
  Take(group);
  EXPECT_THAT(subscriber_.replica().instants, Contains(AppliedInstant{*group.instant, group.seq}));
  EXPECT_EQ(subscriber_.replica().latest->instant, *group.instant);
  auto rollback = publisher_.Commit({"-b"});
  rollback.retracted = {{.instant = *group.instant, .seq = group.seq}};
  rollback.commit->type = CommitType::kRollback;
  Take(rollback);
  EXPECT_THAT(subscriber_.replica().instants,
              Not(Contains(AppliedInstant{*group.instant, group.seq})));
  ExpectInStep();
}

}  // namespace
}  // namespace tidemark::change
