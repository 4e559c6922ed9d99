#include "app/coordination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using kafka::PartitionId;
using kafka::client::GroupChange;
using kafka::client::GroupStanding;
using ::testing::ElementsAre;
using namespace std::chrono_literals;

/// A group that says what the test wants.
struct FakeGroup {
  std::mutex mutex;
  std::condition_variable changed;
  GroupChange next;
  std::set<PartitionId> held;
  std::vector<std::string> calls;

  void Say(GroupChange change) {
    const std::lock_guard lock(mutex);
    next = std::move(change);
    changed.notify_all();
  }
};

class FakeMember final : public kafka::client::GroupMember {
 public:
  explicit FakeMember(FakeGroup& group) : group_(group) {}

  GroupChange Serve(Milliseconds limit) override {
    std::unique_lock lock(group_.mutex);
    group_.changed.wait_for(lock, limit, [&] { return !group_.next.is_empty(); });
    for (const PartitionId partition : group_.next.lost) group_.held.erase(partition);
    group_.held.insert(group_.next.gained.begin(), group_.next.gained.end());
    return std::exchange(group_.next, {});
  }
  bool Holds(PartitionId partition) const override {
    const std::lock_guard lock(group_.mutex);
    return group_.held.contains(partition);
  }
  GroupStanding standing() const override {
    return {.is_member = false, .why_not = "s3cr3t says no"};
  }
  GroupChange PutDown() override {
    const std::lock_guard lock(group_.mutex);
    group_.calls.push_back("put down");
    GroupChange change;
    change.lost.assign(group_.held.begin(), group_.held.end());
    group_.held.clear();
    return change;
  }
  void Leave(Milliseconds) override {
    const std::lock_guard lock(group_.mutex);
    group_.calls.push_back("leave");
  }

 private:
  FakeGroup& group_;
};

class CoordinationTest : public ::testing::Test {
 protected:
  std::unique_ptr<Coordination> Make() {
    HiddenValues hidden;
    hidden.Add("s3cr3t", "${env:X}");
    return std::make_unique<Coordination>(CoordinationConfig{.group = "g", .cluster = "main"},
                                          hidden, std::make_unique<FakeMember>(group_));
  }
  /// A pipeline of that part.
  static std::string NameIn(PartitionId part) {
    for (int i = 0;; ++i)
      if (std::string name = "p" + std::to_string(i); Coordination::PartOf(name) == part)
        return name;
  }

  FakeGroup group_;
};

TEST_F(CoordinationTest, APipelineIsOwnedWithItsPart) {
  const auto coordination = Make();
  std::mutex mutex;
  std::condition_variable changed;
  int changes = 0;
  coordination->Begin([&] {
    const std::lock_guard lock(mutex);
    ++changes;
    changed.notify_all();
  });
  const auto await = [&](int count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, 30s, [&] { return changes == count; });
  };
  EXPECT_FALSE(coordination->Owns(NameIn(3)));
  group_.Say({.gained = {3, 4}, .lost = {}});
  ASSERT_TRUE(await(1));
  EXPECT_TRUE(coordination->Owns(NameIn(3)));
  EXPECT_TRUE(coordination->Owns(NameIn(4)));
  EXPECT_FALSE(coordination->Owns(NameIn(5)));
  group_.Say({.gained = {5}, .lost = {3}});
  ASSERT_TRUE(await(2));
  EXPECT_FALSE(coordination->Owns(NameIn(3)));
  EXPECT_TRUE(coordination->Owns(NameIn(5)));
  coordination->Stop();
  EXPECT_EQ(changes, 3);
  EXPECT_FALSE(coordination->Owns(NameIn(5)));
}

TEST_F(CoordinationTest, WhatIsOwnedIsPutDownBeforeTheGroupIsLeft) {
  const auto coordination = Make();
  coordination->Begin([&] {
    const std::lock_guard lock(group_.mutex);
    group_.calls.push_back("changed");
  });
  {
    const std::lock_guard lock(group_.mutex);
    group_.held = {1};
  }
  coordination->Stop();
  EXPECT_THAT(group_.calls, ElementsAre("put down", "changed", "leave"));
}

TEST_F(CoordinationTest, SecretsAreTakenOutOfWhyItIsNoMember) {
  EXPECT_EQ(Make()->standing().why_not, "(from ${env:X}) says no");
}

TEST_F(CoordinationTest, EveryPipelineHasOnePart) {
  for (int i = 0; i < 1000; ++i) {
    const PartitionId part = Coordination::PartOf("pipeline-" + std::to_string(i));
    EXPECT_GE(part, 0);
    EXPECT_LT(part, kCoordinationParts);
  }
}

}  // namespace
}  // namespace tidemark::app
