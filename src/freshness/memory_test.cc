#include "freshness/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "freshness/age_internal.h"
#include "freshness/judge.h"
#include "support/freshness_facts.h"

namespace tidemark::freshness {
namespace {

using support::kNow;
using support::kTopic;
using support::Seen;
using support::World;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Pair;
using namespace std::chrono_literals;

const kafka::TopicPartition kFirst{kTopic, 0};

/// The world after one round over it, seen `later`.
PipelineMemory After(const World& world, PipelineMemory memory = {}, Milliseconds later = 0ms) {
  kafka::ProbeResult probe = world.probe;
  probe.observed_at += later;
  return Remember(std::move(memory), world.commit.checkpoint, probe);
}

World Lagging(kafka::Offset committed, kafka::Offset end) {
  World world({Seen(0, committed).Log(0, end).Record(committed, 10min)});
  world.topic().is_config_known = true;
  return world;
}

TEST(MemoryTest, NothingIsLearnedFromAPartitionWithAFault) {
  World world({Seen(0, 100).Fault(kafka::ProbeFault::kTimeout)});
  const PipelineMemory memory = After(world);
  EXPECT_THAT(memory.arrivals, IsEmpty());
  EXPECT_THAT(memory.stamps, IsEmpty());
}

TEST(MemoryTest, CheckpointTopicIdsAndClusterAreKept) {
  const World world = Lagging(100, 150);
  const PipelineMemory memory = After(world);
  EXPECT_EQ(memory.checkpoint_value, world.commit.checkpoint.value);
  EXPECT_EQ(memory.cluster_id, "cluster-a");
  EXPECT_THAT(memory.topic_ids, ElementsAre(Pair(kTopic, "id-1")));
}

TEST(MemoryTest, TheEndIsSightedWhenTheProbeTookIt) {
  EXPECT_THAT(After(Lagging(100, 150)).arrivals.at(kFirst),
              ElementsAre(PipelineMemory::Arrival{150, kNow}));
}

TEST(MemoryTest, AnEndThatWasTakenLongBeforeTheLastOneIsSightedThen) {
  World world = Lagging(100, 150);
  world.probe.partitions[0].asked_at = kNow - 8s;
  EXPECT_THAT(After(world).arrivals.at(kFirst),
              ElementsAre(PipelineMemory::Arrival{150, kNow - 8s}));
}

TEST(MemoryTest, WhatAnEndLiesBehindWasThereWhenItWasToldAndNotWhenItWasAskedFor) {
  World world = Lagging(100, 150);
  world.probe.partitions[0].asked_at = kNow - 8s;
  world.probe.partitions[0].answered_at = kNow - 5s;
  const auto arrivals = After(world).arrivals.at(kFirst);
  const kafka::FirstRecord without_stamp{
      .offset = 149, .timestamp_ms = -1, .timestamp_type = kafka::TimestampType::kNone};
  EXPECT_EQ(AgeOf(without_stamp, arrivals, kNow + 60s).age, 65s);
  const kafka::FirstRecord later{
      .offset = 150, .timestamp_ms = -1, .timestamp_type = kafka::TimestampType::kNone};
  EXPECT_EQ(AgeOf(later, arrivals, kNow + 60s).age, 68s);
}

TEST(MemoryTest, AtAnotherLevelAnotherRecordMayBeTheFirst) {
  using enum kafka::IsolationLevel;
  PipelineMemory memory = AskedAs(After(Lagging(100, 150)), "main", kReadCommitted);
  EXPECT_THAT(memory.stamps, IsEmpty()) << "nobody said at which level it was learned";
  memory = After(Lagging(100, 150), memory);
  EXPECT_EQ(AskedAs(memory, "main", kReadCommitted), memory);
  const PipelineMemory other = AskedAs(memory, "main", kReadUncommitted);
  EXPECT_THAT(other.stamps, IsEmpty());
  EXPECT_EQ(other.arrivals, memory.arrivals);
  EXPECT_EQ(other.topic_ids, memory.topic_ids);
}

TEST(MemoryTest, OfAnotherClusterOfTheConfigurationNothingIsKnown) {
  using enum kafka::IsolationLevel;
  const PipelineMemory memory = AskedAs(After(Lagging(100, 150)), "main", kReadCommitted);
  const PipelineMemory other = AskedAs(memory, "right", kReadCommitted);
  EXPECT_EQ(other.cluster_id, "");
  EXPECT_THAT(other.topic_ids, IsEmpty());
  EXPECT_THAT(other.arrivals, IsEmpty());
}

TEST(MemoryTest, AClusterThatHasNoneOfTheTopicsIsNotTheCheckpoints) {
  World world = Lagging(100, 150);
  world.topic().exists = false;
  EXPECT_EQ(After(world).cluster_id, "");
}

TEST(MemoryTest, TheSameEndSeenLaterIsOneSighting) {
  const World world = Lagging(100, 150);
  EXPECT_THAT(After(world, After(world), 60s).arrivals.at(kFirst),
              ElementsAre(PipelineMemory::Arrival{150, kNow + 60s, 60s}));
}

TEST(MemoryTest, WhatWasSeenMovesWithAClockThatIsSetBack) {
  const PipelineMemory memory = AfterClockStep(After(Lagging(100, 150)), -1h);
  EXPECT_THAT(memory.arrivals.at(kFirst), ElementsAre(PipelineMemory::Arrival{150, kNow - 1h}));
}

TEST(MemoryTest, AClockThatIsSetForwardLeavesInDoubtHowLongAgoItWas) {
  const PipelineMemory memory = AfterClockStep(After(Lagging(100, 150)), 1h);
  EXPECT_THAT(memory.arrivals.at(kFirst), ElementsAre(PipelineMemory::Arrival{150, kNow, 0s, 1h}));
  // Until the end is seen again: how long it has been there is counted without the doubt.
  const World world = Lagging(100, 150);
  EXPECT_THAT(After(world, memory, 1h + 2s).arrivals.at(kFirst),
              ElementsAre(PipelineMemory::Arrival{150, kNow + 1h + 2s, 2s}));
}

TEST(MemoryTest, AClockThatIsSetForwardAndBackIsAsBefore) {
  const PipelineMemory before = After(Lagging(100, 150));
  EXPECT_EQ(AfterClockStep(AfterClockStep(before, 1h), -1h), before);
  const PipelineMemory more = AfterClockStep(AfterClockStep(before, 1h), -90min);
  EXPECT_THAT(more.arrivals.at(kFirst), ElementsAre(PipelineMemory::Arrival{150, kNow - 30min}));
}

TEST(MemoryTest, AStepOfTheClockIsToldByTheSameSteadyClockOnly) {
  PipelineMemory memory;
  EXPECT_EQ(ClockStepSince(memory, {.steady = "a", .ahead = 5s}), 0ms);
  memory.clock = ClockReading{.steady = "a", .ahead = 2s};
  EXPECT_EQ(ClockStepSince(memory, {.steady = "a", .ahead = 5s}), 3s);
  EXPECT_EQ(ClockStepSince(memory, {.steady = "a", .ahead = -5s}), -7s);
  EXPECT_EQ(ClockStepSince(memory, {.steady = "b", .ahead = 5s}), 0ms);
}

TEST(MemoryTest, SightingsBelowTheLastOneThatBoundsTheCommittedOffsetAreForgotten) {
  PipelineMemory memory = After(Lagging(100, 110));
  memory = After(Lagging(100, 120), std::move(memory), 1min);
  memory = After(Lagging(100, 130), std::move(memory), 2min);
  ASSERT_EQ(memory.arrivals.at(kFirst).size(), 3u);
  EXPECT_THAT(After(Lagging(125, 140), std::move(memory), 3min).arrivals.at(kFirst),
              ElementsAre(PipelineMemory::Arrival{120, kNow + 1min},
                          PipelineMemory::Arrival{130, kNow + 2min},
                          PipelineMemory::Arrival{140, kNow + 3min}));
}

TEST(MemoryTest, AnEndThatWentBackTakesTheSightingsBehindItAlong) {
  PipelineMemory memory = After(Lagging(100, 110));
  memory = After(Lagging(100, 130), std::move(memory), 1min);
  EXPECT_THAT(
      After(Lagging(100, 120), std::move(memory), 2min).arrivals.at(kFirst),
      ElementsAre(PipelineMemory::Arrival{110, kNow}, PipelineMemory::Arrival{120, kNow + 2min}));
}

TEST(MemoryTest, SightingsFromAfterTheClockWasSetBackAreForgotten) {
  const PipelineMemory memory = After(Lagging(100, 110), {}, 1h);
  EXPECT_THAT(After(Lagging(100, 120), memory).arrivals.at(kFirst),
              ElementsAre(PipelineMemory::Arrival{120, kNow}));
}

TEST(MemoryTest, ManySightingsAreThinnedOutAndKeepTheOldestAndTheNewest) {
  constexpr int kRounds = 10'000;
  PipelineMemory memory;
  for (int round = 0; round < kRounds; ++round)
    memory = After(Lagging(100, 100 + round), std::move(memory), round * 1min);
  const auto& arrivals = memory.arrivals.at(kFirst);
  EXPECT_EQ(arrivals.size(), kArrivalsMax);
  EXPECT_EQ(arrivals.front().end, 100);
  EXPECT_EQ(arrivals.back().end, 100 + kRounds - 1);
  // What is left bounds the age of any record within half of that age.
  const WallTime now = kNow + (kRounds - 1) * 1min;
  for (size_t i = 1; i < arrivals.size(); ++i) {
    const auto age = now - arrivals[i].seen_at;
    EXPECT_LE(arrivals[i].seen_at - arrivals[i - 1].seen_at, age + 2min)
        << "sighting " << i << " end=" << arrivals[i].end;
  }
}

TEST(MemoryTest, ThinningOutKeepsWhatBoundsTheRecordThatWaitsNowOnBothSides) {
  constexpr int kRounds = 1'000;
  PipelineMemory memory = After(Lagging(100, 100));
  for (int round = 1; round < kRounds; ++round)
    memory = After(Lagging(100, 100 + round), std::move(memory), round * 1min);
  const auto& arrivals = memory.arrivals.at(kFirst);
  EXPECT_EQ(arrivals.size(), kArrivalsMax);
  EXPECT_EQ(arrivals[0], (PipelineMemory::Arrival{100, kNow}));
  EXPECT_EQ(arrivals[1], (PipelineMemory::Arrival{101, kNow + 1min}));
}

TEST(MemoryTest, TheFirstRecordIsRememberedWithTheOffsetItFollows) {
  World world({Seen(0, 100).Log(0, 150).Record(103, 10min)});
  world.topic().is_config_known = true;
  const auto& stamp = After(world).stamps.at(kFirst);
  EXPECT_EQ(stamp.offset, 103);
  EXPECT_EQ(stamp.timestamp_ms, MillisOf(kNow - 10min));
  EXPECT_EQ(stamp.committed, 100);
}

TEST(MemoryTest, OfACompactedTopicNoFirstRecordIsTakenToStayTheFirst) {
  World world = Lagging(100, 150);
  world.topic().is_compacted = true;
  EXPECT_EQ(After(world).stamps.at(kFirst).committed, std::nullopt);
}

TEST(MemoryTest, WithoutTheTopicsConfigurationNoFirstRecordIsTakenToStayTheFirst) {
  World world = Lagging(100, 150);
  world.topic().is_config_known = false;
  EXPECT_EQ(After(world).stamps.at(kFirst).committed, std::nullopt);
}

TEST(MemoryTest, ACommittedRecordIsForgotten) {
  World caught_up({Seen(0, 150).Log(0, 150)});
  EXPECT_THAT(After(caught_up, After(Lagging(100, 150))).stamps, IsEmpty());
}

TEST(MemoryTest, TheStampOfALostRecordIsKeptForItsAge) {
  PipelineMemory memory = After(Lagging(100, 150));
  const World lost({Seen(0, 100).Log(120, 160).Record(120, 1min)});
  memory = After(lost, std::move(memory), 1min);
  EXPECT_EQ(memory.stamps.at(kFirst).offset, 100);
}

TEST(MemoryTest, AReplacedTopicTeachesNothingUntilThereIsANewCheckpoint) {
  const PipelineMemory memory = After(Lagging(100, 150));
  World replaced = Lagging(100, 500);
  replaced.topic().topic_id = "id-2";
  EXPECT_EQ(After(replaced, memory, 1min), memory);

  replaced.commit.checkpoint.value = "orders,0:7";
  const PipelineMemory adopted = After(replaced, memory, 1min);
  EXPECT_THAT(adopted.topic_ids, ElementsAre(Pair(kTopic, "id-2")));
  // The other one began after this one had been seen.
  EXPECT_THAT(adopted.arrivals.at(kFirst), ElementsAre(PipelineMemory::Arrival{0, kNow},
                                                       PipelineMemory::Arrival{500, kNow + 1min}));
}

TEST(MemoryTest, AReplacedTopicIsJudgedReplacedRoundAfterRound) {
  PipelineMemory memory = After(Lagging(100, 150));
  World replaced = Lagging(100, 500);
  replaced.topic().topic_id = "id-2";
  for (int round = 0; round < 3; ++round) {
    replaced.memory = memory;
    EXPECT_EQ(replaced.Judge().reason, Reason::kTopicRecreated) << "round " << round;
    memory = After(replaced, memory);
  }
}

TEST(MemoryTest, AnotherClusterTeachesNothingUntilThereIsANewCheckpoint) {
  const PipelineMemory memory = After(Lagging(100, 150));
  World moved = Lagging(100, 500);
  moved.probe.cluster_id = "cluster-b";
  EXPECT_EQ(After(moved, memory, 1min), memory);

  moved.commit.checkpoint.value = "orders,0:7";
  const PipelineMemory adopted = After(moved, memory, 1min);
  EXPECT_EQ(adopted.cluster_id, "cluster-b");
  EXPECT_THAT(adopted.arrivals.at(kFirst), ElementsAre(PipelineMemory::Arrival{500, kNow + 1min}));
}

TEST(MemoryTest, ATopicWhoseIdIsSeenLaterGetsItThen) {
  World world = Lagging(100, 150);
  world.topic().topic_id = "";
  PipelineMemory memory = After(world);
  EXPECT_THAT(memory.topic_ids, IsEmpty());
  EXPECT_THAT(After(Lagging(100, 150), std::move(memory)).topic_ids,
              ElementsAre(Pair(kTopic, "id-1")));
}

TEST(MemoryTest, WhatTheProbeDoesNotNameIsForgotten) {
  PipelineMemory memory = After(Lagging(100, 150));
  World other({Seen(0, 5).In("payments").Log(0, 5)});
  memory = After(other, std::move(memory));
  EXPECT_THAT(memory.topic_ids, ElementsAre(Pair("payments", "id-1")));
  EXPECT_FALSE(memory.arrivals.contains(kFirst));
  EXPECT_FALSE(memory.stamps.contains(kFirst));
}

TEST(MemoryTest, KnownFirstsAreAskedForWithTheTopicTheyBelongTo) {
  std::vector<kafka::ProbeRequest::Topic> topics{{.name = kTopic, .committed = {{0, 100}}}};
  FillKnown(After(Lagging(100, 150)), topics);
  EXPECT_EQ(topics[0].known_topic_id, "id-1");
  EXPECT_THAT(topics[0].known_firsts, ElementsAre(Pair(0, Field(&kafka::KnownFirst::after, 100))));
}

TEST(MemoryTest, WithoutATopicIdOnlyTheLeaderIsKnown) {
  World world({Seen(0, 100).Log(0, 150).Record(100, 10min).Led(7)});
  world.topic().topic_id = "";
  std::vector<kafka::ProbeRequest::Topic> topics{{.name = kTopic, .committed = {{0, 100}}}};
  FillKnown(After(world), topics);
  EXPECT_EQ(topics[0].known_topic_id, "");
  EXPECT_THAT(topics[0].known_firsts, IsEmpty());
  EXPECT_EQ(topics[0].known_epochs.at(0).epoch, 7);
}

using Held = kafka::EpochEnd::Held;
using Leadership = PipelineMemory::Leadership;

World Led(kafka::Offset committed, kafka::Offset end, int32_t epoch) {
  World world({Seen(0, committed).Log(0, end).Record(committed, 10min).Led(epoch)});
  world.topic().is_config_known = true;
  return world;
}

TEST(MemoryTest, LeadershipIsKeptAndAskedAbout) {
  const PipelineMemory memory = After(Led(100, 150, 7));
  EXPECT_EQ(memory.leaderships.at(kFirst), (Leadership{.epoch = 7, .end = 150}));
  std::vector<kafka::ProbeRequest::Topic> topics = {{.name = kTopic, .committed = {}}};
  FillKnown(memory, topics);
  EXPECT_TRUE(topics[0].wants_epochs);
  EXPECT_THAT(topics[0].known_epochs,
              ElementsAre(Pair(0, kafka::ProbeRequest::Topic::KnownEpoch{7, false})));
}

TEST(MemoryTest, AnotherLeaderIsRememberedOnceTheFormerOnesEndIsKnown) {
  PipelineMemory memory = After(Led(100, 150, 7));
  memory = After(Led(100, 160, 8), std::move(memory));
  EXPECT_EQ(memory.leaderships.at(kFirst).epoch, 7);
  EXPECT_EQ(memory.leaderships.at(kFirst).end, 150);

  World told = Led(100, 170, 9);
  told.probe.partitions[0].former_epoch = {.asked = 7, .held = Held{7, 150}};
  memory = After(told, std::move(memory));
  EXPECT_EQ(memory.leaderships.at(kFirst), (Leadership{.epoch = 9, .end = 170}));
  EXPECT_THAT(memory.cuts, IsEmpty());
}

TEST(MemoryTest, WhatWasSeenBehindACutSaysNoMoreThanThatItWasThere) {
  PipelineMemory memory = After(Led(100, 110, 7));
  memory = After(Led(100, 150, 7), std::move(memory), 1min);
  World cut = Led(100, 170, 8);
  cut.probe.partitions[0].former_epoch = {.asked = 7, .held = Held{7, 120}};
  memory = After(cut, std::move(memory), 2min);
  EXPECT_THAT(memory.cuts, ElementsAre(Pair(kFirst, 120)));
  // The end at 150 shows that there was something up to 120 by then, and no more.
  EXPECT_THAT(memory.arrivals.at(kFirst), ElementsAre(PipelineMemory::Arrival{110, kNow},
                                                      PipelineMemory::Arrival{120, kNow + 1min},
                                                      PipelineMemory::Arrival{170, kNow + 2min}));
  // The same again changes nothing.
  EXPECT_EQ(After(cut, memory, 2min), memory);
  // A second cut counts where it is deeper.
  World second = Led(100, 180, 9);
  second.probe.partitions[0].former_epoch = {.asked = 8, .held = Held{8, 165}};
  EXPECT_THAT(After(second, memory, 3min).cuts, ElementsAre(Pair(kFirst, 120)));
  second.probe.partitions[0].former_epoch = {.asked = 8, .held = Held{8, 115}};
  EXPECT_THAT(After(second, memory, 3min).cuts, ElementsAre(Pair(kFirst, 115)));
}

TEST(MemoryTest, WhereANewLeadersEpochBeginsIsAskedUntilItIsTold) {
  const auto begin_of = [](const World& world, PipelineMemory memory = {}) {
    return After(world, std::move(memory)).leaderships.at(kFirst);
  };
  EXPECT_EQ(begin_of(Led(100, 150, 0)), (Leadership{.epoch = 0, .end = 150, .begin = 0}));
  EXPECT_EQ(begin_of(Led(100, 150, 7)).begin, std::nullopt);

  World told = Led(100, 150, 7);
  told.probe.partitions[0].epoch_before = {.asked = 6, .held = Held{5, 120}};
  const Leadership whole{.epoch = 7, .end = 150, .begin = 120, .previous = 5};
  EXPECT_EQ(begin_of(told), whole);
  EXPECT_EQ(begin_of(told, After(Led(100, 150, 7))), whole);
  EXPECT_EQ(begin_of(Led(100, 150, 7), After(told)), whole);

  World untold = told;
  untold.probe.partitions[0].epoch_before->held.reset();
  EXPECT_EQ(begin_of(untold).begin, Leadership::kUntold);
  World other = told;
  other.probe.partitions[0].epoch_before->asked = 5;
  EXPECT_EQ(begin_of(other).begin, std::nullopt);
  // A log that begins with the epoch: the leader then names the epoch that was asked about.
  World first({Seen(0, 130).Log(120, 150).Record(130, 10min).Led(7).Began(120, 6)});
  EXPECT_EQ(begin_of(first), (Leadership{.epoch = 7, .end = 150, .begin = 120}));
}

TEST(MemoryTest, AStampBehindACutIsForgottenAndOneBelowItStays) {
  const PipelineMemory memory = After(Led(100, 150, 7));
  for (const auto& [end, is_kept] : {std::pair<kafka::Offset, bool>{100, false}, {101, true}}) {
    World cut({Seen(0, 100).Log(0, 170).Fault(kafka::ProbeFault::kTimeout)});
    cut.probe.partitions[0].leader_epoch = 8;
    cut.probe.partitions[0].former_epoch = {.asked = 7, .held = Held{7, end}};
    EXPECT_EQ(After(cut, memory).stamps.contains(kFirst), is_kept) << end;
  }
}

TEST(MemoryTest, ANewCheckpointEndsACutAndANewTopicTheLeadership) {
  World cut = Led(100, 170, 8);
  cut.probe.partitions[0].former_epoch = {.asked = 7, .held = Held{7, 120}};
  PipelineMemory memory = After(cut, After(Led(100, 150, 7)));
  ASSERT_THAT(memory.cuts, ElementsAre(Pair(kFirst, 120)));
  EXPECT_THAT(After(Led(130, 170, 8), memory).cuts, IsEmpty());

  World replaced = Led(130, 170, 1);
  replaced.topic().topic_id = "id-2";
  EXPECT_EQ(After(replaced, memory).leaderships.at(kFirst).epoch, 1);
}

struct KnownCase {
  kafka::Offset start, end;
  bool is_answer;
  const char* why;
};
TEST(MemoryTest, AKnownFirstAnswersOnlyWhatItWasFirstFor) {
  const kafka::KnownFirst known{.after = 100, .record = {.offset = 105}};
  for (const KnownCase& c : {KnownCase{100, 200, true, "the same question"},
                             {103, 200, true, "deleted up to it"},
                             {105, 200, true, "the record itself"},
                             {99, 200, false, "older records are readable again"},
                             {106, 200, false, "the record is committed or deleted"},
                             {100, 105, false, "the record may not be read yet"}}) {
    EXPECT_EQ(known.Answers(c.start, c.end), c.is_answer) << c.why;
  }
}

}  // namespace
}  // namespace tidemark::freshness
