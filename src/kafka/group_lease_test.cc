#include "kafka/group_lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace tidemark::kafka {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

constexpr MonoTime kStart{24h};

/// What came to be known of the group, in its order, and what follows at `at`. A session of ten
/// seconds, so that a lease is nine seconds long.
struct Event {
  enum class Kind { kGive, kTake, kHeard, kRead };
  Kind kind = Kind::kGive;
  PartitionId partition = 0;
  Milliseconds at{0};
  Milliseconds sent{0};
};

Event Give(PartitionId partition) {
  return {Event::Kind::kGive, partition, {}, {}};
}
Event Take(PartitionId partition) {
  return {Event::Kind::kTake, partition, {}, {}};
}
Event Heard(Milliseconds sent, Milliseconds at) {
  return {Event::Kind::kHeard, 0, at, sent};
}
Event Read(Milliseconds at) {
  return {Event::Kind::kRead, 0, at, {}};
}

struct Case {
  std::string name;
  std::vector<Event> events;
  Milliseconds at{0};
  bool is_valid = false;
  std::vector<PartitionId> held;
};

std::vector<Case> Cases() {
  const auto joined = [](std::vector<Event> more) {
    std::vector<Event> events{Heard(0s, 0s), Give(3), Give(5), Read(1s)};
    events.insert(events.end(), more.begin(), more.end());
    return events;
  };
  return {
      {"nothing known", {}, 1s, false, {}},
      {"given, and the group was never heard of", {Give(3), Read(1s)}, 1s, false, {}},
      {"heard of, and nothing was read", {Heard(0s, 0s), Give(3)}, 1s, false, {}},
      {"just heard of", joined({}), 999ms, false, {}},
      {"a quarantine later", joined({}), 1s, true, {3, 5}},
      {"member without partitions", {Heard(0s, 0s), Read(1s)}, 1s, true, {}},
      {"one taken away", joined({Take(3)}), 1s, true, {5}},
      {"taken away and given again", joined({Take(3), Give(3)}), 1s, true, {3, 5}},
      {"taken away what was never there", joined({Take(4)}), 1s, true, {3, 5}},
      {"just before the lease ends", joined({}), 8999ms, true, {3, 5}},
      {"when the lease ends", joined({}), 9s, false, {}},
      {"the answer took long: the lease begins with the question",
       joined({Heard(2s, 8s)}),
       10'999ms,
       true,
       {3, 5}},
      {"the answer took long: and ends with it", joined({Heard(2s, 8s)}), 11s, false, {}},
      {"an older answer comes later",
       joined({Heard(3s, 4s), Heard(2s, 5s)}),
       11'999ms,
       true,
       {3, 5}},
      {"an answer older than any lease", {Heard(0s, 20s), Give(3), Read(21s)}, 21s, false, {}},
      {"renewed in time: no quarantine", joined({Heard(8s, 8999ms)}), 9s, true, {3, 5}},
      {"renewed as it ended: quarantine", joined({Heard(8s, 9s)}), 9'999ms, false, {}},
      {"renewed as it ended: a quarantine later", joined({Heard(8s, 9s)}), 10s, true, {3, 5}},
      {"renewed as it ended, and thrown out meanwhile",
       joined({Heard(8s, 9s), Take(3), Take(5)}),
       10s,
       true,
       {}},
      {"renewed again does not begin the quarantine anew",
       joined({Heard(8s, 9s), Heard(9500ms, 9600ms)}),
       10s,
       true,
       {3, 5}},
      {"nobody reads: the last moment", joined({Heard(15s, 8s)}), 20'999ms, true, {3, 5}},
      {"nobody reads: over", joined({Heard(15s, 8s)}), 21s, false, {}},
      {"read again", joined({Heard(15s, 8s), Read(22s)}), 22s, true, {3, 5}},
  };
}

TEST(GroupLeaseTest, WhatIsHeldFollowsFromWhatTheGroupSaid) {
  for (const Case& each : Cases()) {
    GroupLease lease(10s);
    for (const Event& event : each.events) {
      switch (event.kind) {
        case Event::Kind::kGive: lease.Give({&event.partition, 1}); break;
        case Event::Kind::kTake: lease.Take({&event.partition, 1}); break;
        case Event::Kind::kHeard: lease.Heard(kStart + event.sent, kStart + event.at); break;
        case Event::Kind::kRead: lease.Read(kStart + event.at); break;
      }
    }
    EXPECT_EQ(lease.IsValid(kStart + each.at), each.is_valid) << each.name;
    EXPECT_EQ(lease.Held(kStart + each.at), each.held) << each.name;
    for (const PartitionId partition : {3, 5}) {
      EXPECT_EQ(lease.Holds(partition, kStart + each.at),
                std::ranges::find(each.held, partition) != each.held.end())
          << each.name << " partition " << partition;
    }
  }
}

TEST(GroupLeaseTest, PuttingAllDownLeavesNothing) {
  GroupLease lease(10s);
  const std::vector<PartitionId> all{1, 2};
  lease.Heard(kStart, kStart);
  lease.Read(kStart);
  lease.Give(all);
  EXPECT_THAT(lease.Held(kStart + 1s), ElementsAre(1, 2));
  lease.TakeAll();
  EXPECT_THAT(lease.Held(kStart + 1s), IsEmpty());
}

/// Hashes from Kafka's own test of murmur2 (UtilsTest, testMurmur2), which the partitioner takes
/// without their sign.
TEST(GroupLeaseTest, KeysStandForThePartitionsThatKafkaGivesThem) {
  const std::map<std::string, int32_t> hashes = {
      {"21", -973932308},
      {"foobar", -790332482},
      {"a-little-bit-long-string", -985981536},
      {"a-little-bit-longer-string", -1486304829},
      {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971},
      {"abc", 479470107},
  };
  for (const auto& [key, hash] : hashes) {
    for (const int32_t count : {1, 64, 1000})
      EXPECT_EQ(PartitionOfKey(key, count), (hash & 0x7fffffff) % count) << key;
  }
}

TEST(GroupLeaseTest, NamesOfPipelinesAreSpreadEvenly) {
  std::map<PartitionId, int> counts;
  for (int i = 0; i < 6400; ++i) ++counts[PartitionOfKey("pipeline-" + std::to_string(i), 64)];
  EXPECT_EQ(counts.size(), 64u);
  for (const auto& [partition, count] : counts) {
    EXPECT_GT(count, 50) << partition;
    EXPECT_LT(count, 200) << partition;
  }
}

}  // namespace
}  // namespace tidemark::kafka
