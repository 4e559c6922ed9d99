#include "kafka/client/group_member.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kafka/client/mock_cluster.h"
#include "support/result_matchers.h"

namespace tidemark::kafka::client {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr int32_t kPartitions = 8;
constexpr Milliseconds kSlice{20};
/// Longer than anything here takes on a loaded machine.
constexpr auto kPatience = 60s;

class GroupMemberTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto mock = MockCluster::Open(1);
    ASSERT_THAT(mock, IsOk());
    mock_ = *std::move(mock);
    ASSERT_THAT(mock_->CreateTopic("shares", kPartitions), IsOk());
  }

  GroupOptions Options() const {
    return {.group = "g",
            .topic = "shares",
            .partition_count = kPartitions,
            .creates_topic = false,
            .session = 6s};
  }
  GroupMember& Add(const GroupOptions& options) {
    auto member = GroupMember::Open(mock_->options(), options);
    EXPECT_THAT(member, IsOk());
    members_.push_back(*std::move(member));
    return *members_.back();
  }
  static std::set<PartitionId> HeldBy(const GroupMember& member) {
    std::set<PartitionId> held;
    for (PartitionId p = 0; p < 2 * kPartitions; ++p)
      if (member.Holds(p)) held.insert(p);
    return held;
  }
  /// Serves all members until it is so; at each moment no partition has two holders.
  bool Until(const std::function<bool()>& is_so) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > end) return false;
      for (const auto& member : members_) member->Serve(kSlice);
      size_t count = 0;
      std::set<PartitionId> held;
      for (const auto& member : members_) {
        const auto its = HeldBy(*member);
        count += its.size();
        held.insert(its.begin(), its.end());
      }
      EXPECT_EQ(held.size(), count);
    }
    return true;
  }

  std::unique_ptr<MockCluster> mock_;
  std::vector<std::unique_ptr<GroupMember>> members_;
};

TEST_F(GroupMemberTest, OneAloneHoldsAll) {
  const GroupMember& member = Add(Options());
  EXPECT_FALSE(member.standing().is_member);
  EXPECT_THAT(HeldBy(member), IsEmpty());
  EXPECT_TRUE(Until([&] { return HeldBy(member).size() == kPartitions; }));
  EXPECT_TRUE(member.standing().is_member);
  EXPECT_EQ(member.standing().why_not, "");
}

TEST_F(GroupMemberTest, TwoShareAndTheOneThatLeavesHandsOverAtOnce) {
  const GroupMember& first = Add(Options());
  ASSERT_TRUE(Until([&] { return HeldBy(first).size() == kPartitions; }));
  const GroupMember& second = Add(Options());
  ASSERT_TRUE(
      Until([&] { return HeldBy(first).size() == 4 && HeldBy(second).size() == kPartitions - 4; }));
  const GroupChange put_down = members_[0]->PutDown();
  EXPECT_THAT(put_down.lost, SizeIs(4));
  EXPECT_THAT(HeldBy(first), IsEmpty());
  members_[0]->Leave(10s);
  members_.erase(members_.begin());
  EXPECT_TRUE(Until([&] { return HeldBy(*members_[0]).size() == kPartitions; }));
}

TEST_F(GroupMemberTest, WhatChangedIsToldOnce) {
  GroupMember& member = Add(Options());
  std::vector<PartitionId> gained;
  for (const auto end = std::chrono::steady_clock::now() + kPatience;
       gained.size() < kPartitions && std::chrono::steady_clock::now() < end;) {
    const GroupChange change = member.Serve(kSlice);
    EXPECT_THAT(change.lost, IsEmpty());
    gained.insert(gained.end(), change.gained.begin(), change.gained.end());
  }
  EXPECT_THAT(gained, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_TRUE(member.Serve(kSlice).is_empty());
}

TEST_F(GroupMemberTest, PartitionsBeyondTheAgreedNumberStandForNothing) {
  GroupOptions options = Options();
  options.partition_count = kPartitions - 2;
  const GroupMember& member = Add(options);
  ASSERT_TRUE(Until([&] { return HeldBy(member).size() == kPartitions - 2; }));
  EXPECT_THAT(HeldBy(member), Not(Contains(kPartitions - 1)));
}

TEST_F(GroupMemberTest, WhoCannotReachTheGroupHoldsNothingWhenTheSessionEnds) {
  const GroupMember& member = Add(Options());
  ASSERT_TRUE(Until([&] { return HeldBy(member).size() == kPartitions; }));
  ASSERT_THAT(mock_->StopBroker(1), IsOk());
  const auto stopped = std::chrono::steady_clock::now();
  ASSERT_TRUE(Until([&] { return HeldBy(member).empty(); }));
  EXPECT_LT(std::chrono::steady_clock::now() - stopped, 6s);
  EXPECT_FALSE(member.standing().is_member);
  ASSERT_TRUE(Until([&] { return !member.standing().why_not.empty(); }));
}

TEST_F(GroupMemberTest, AMissingTopicIsSaid) {
  GroupOptions options = Options();
  options.topic = "elsewhere";
  const GroupMember& member = Add(options);
  ASSERT_TRUE(Until([&] { return !member.standing().why_not.empty(); }));
  EXPECT_THAT(member.standing().why_not, HasSubstr("topic=elsewhere"));
}

TEST_F(GroupMemberTest, ATopicThatIsTooSmallIsSaid) {
  GroupOptions options = Options();
  options.partition_count = kPartitions + 1;
  const GroupMember& member = Add(options);
  ASSERT_TRUE(Until([&] { return !member.standing().why_not.empty(); }));
  EXPECT_THAT(member.standing().why_not, HasSubstr("partitions=8 wanted=9"));
  EXPECT_THAT(HeldBy(member), IsEmpty());
}

TEST_F(GroupMemberTest, NothingIsReadAndNoOffsetIsAskedForOrCommitted) {
  mock_->TrackRequests();
  const GroupMember& member = Add(Options());
  ASSERT_TRUE(Until([&] { return HeldBy(member).size() == kPartitions; }));
  members_[0]->PutDown();
  members_[0]->Leave(10s);
  const std::set<int> kinds = mock_->RequestKinds();
  // Produce, Fetch, ListOffsets, OffsetCommit, OffsetFetch.
  for (const int kind : {0, 1, 2, 8, 9}) EXPECT_THAT(kinds, Not(Contains(kind)));
  // JoinGroup, LeaveGroup.
  EXPECT_THAT(kinds, Contains(11));
  EXPECT_THAT(kinds, Contains(13));
}

TEST_F(GroupMemberTest, PropertiesThatWouldBreakThePromiseAreRefused) {
  ClusterOptions cluster = mock_->options();
  cluster.properties.emplace_back("group.id", "other");
  EXPECT_THAT(GroupMember::Open(cluster, Options()),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("group.id")));
}

}  // namespace
}  // namespace tidemark::kafka::client
