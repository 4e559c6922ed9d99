#include "lake/hudi/block_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark::lake::hudi {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// "5" for 20260105000000000.
std::string Time(int day) {
  return "202601" + std::string(day < 10 ? "0" : "") + std::to_string(day) + "000000000";
}

SliceBlock Data(int day, LogBlockKind kind = LogBlockKind::kAvroData) {
  SliceBlock block;
  block.kind = kind;
  block.instant = day == 0 ? "" : Time(day);
  return block;
}
SliceBlock Rollback(int day, int target) {
  SliceBlock block = Data(day, LogBlockKind::kCommand);
  block.command = "0";
  block.target_instant = Time(target);
  return block;
}
SliceBlock Compacted(int day, const std::vector<int>& of) {
  SliceBlock block = Data(day);
  for (const int one : of) block.compacted_times.push_back(Time(one));
  return block;
}
SliceBlock Attempt(int day, int64_t attempt, int64_t sequence) {
  SliceBlock block = Data(day);
  block.identifier = BlockIdentifier{attempt, sequence};
  return block;
}

/// Completed delta commits on `days`, inflight ones on `pending`.
CommittedInstants Commits(const std::vector<int>& days, const std::vector<int>& pending = {}) {
  Timeline timeline;
  const auto add = [&](int day, State state) {
    Instant instant;
    instant.requested = Time(day);
    instant.action = Action::kDeltaCommit;
    instant.state = state;
    timeline.instants.push_back(instant);
  };
  for (const int day : days) add(day, State::kCompleted);
  for (const int day : pending) add(day, State::kInflight);
  return CommittedInstants(timeline);
}

std::vector<std::string> Fates(const BlockPlan& plan) {
  std::vector<std::string> names;
  for (const BlockFate fate : plan.fates) names.emplace_back(BlockFateName(fate));
  return names;
}

BlockPlan Plan(const std::vector<SliceBlock>& blocks, const CommittedInstants& instants,
               BlockRules rules = {}) {
  return PlanBlocks(blocks, {}, instants, rules);
}

TEST(BlockPlanTest, CommittedBlocksApplyInTheirOrder) {
  const auto plan =
      Plan({Data(2), Data(2, LogBlockKind::kDelete), Data(3, LogBlockKind::kParquetData)},
           Commits({2, 3}));
  EXPECT_THAT(plan.order, ElementsAre(0, 1, 2));
  EXPECT_THAT(Fates(plan), ElementsAre("applies", "applies", "applies"));
  EXPECT_THAT(plan.findings, IsEmpty());
}

TEST(BlockPlanTest, BlocksThatNobodyWroteAreSaid) {
  const auto plan = Plan({Data(2), Data(0), Data(3), Data(4), Data(5), Rollback(6, 5), Data(1)},
                         Commits({2, 7}, {4}));
  std::vector<std::string> kinds;
  for (const auto& finding : plan.findings) kinds.push_back(finding.kind);
  // The fourth did not complete, the fifth was rolled back, the last is archived.
  EXPECT_THAT(kinds, ElementsAre("corrupt_block", "unclaimed_block", "unfinished_write"));
}

std::vector<std::string> Kinds(const BlockPlan& plan) {
  std::vector<std::string> kinds;
  for (const auto& finding : plan.findings) kinds.push_back(finding.kind);
  return kinds;
}

/// A writer whose completed file is lost looks like one that failed.
TEST(BlockPlanTest, BlocksOfAWriteThatLaterOnesOvertookAreSaidOnce) {
  const std::vector<SliceBlock> blocks = {Data(2), Data(3), Data(3), Data(4)};
  EXPECT_THAT(Kinds(Plan(blocks, Commits({2, 4}, {3}))), ElementsAre("unfinished_write"));
  EXPECT_THAT(Kinds(Plan({Data(2), Data(3)}, Commits({2}, {3}))), IsEmpty());
  EXPECT_THAT(Kinds(Plan({Data(2), Data(3), Data(4), Rollback(5, 3)}, Commits({2, 4}, {3}))),
              IsEmpty());
}

TEST(BlockPlanTest, ARollbackOfACompletedCommitContradictsTheTimeline) {
  struct Case {
    std::vector<SliceBlock> blocks;
    std::vector<std::string> kinds;
  };
  const std::vector<Case> cases = {
      {{Data(2), Rollback(4, 2)}, {"contradicting_rollback"}},
      {{Data(2), Rollback(4, 2), Rollback(4, 2)}, {"contradicting_rollback"}},
      {{Data(2), Rollback(4, 2), Data(3)}, {"contradicting_rollback"}},
      {{Data(2), Rollback(4, 2), Data(2)}, {}},  // tried again
      {{Rollback(4, 2), Data(2)}, {}},
      {{Data(1), Rollback(4, 1)}, {}},  // older than the timeline
  };
  for (const Case& each : cases)
    EXPECT_THAT(Kinds(Plan(each.blocks, Commits({2, 3}))), testing::ElementsAreArray(each.kinds));
  EXPECT_TRUE(IsDamage("contradicting_rollback"));
}

TEST(BlockPlanTest, ARollbackOfNothingIsDamage) {
  auto rollback = Rollback(4, 2);
  rollback.target_instant.clear();
  const auto plan = Plan({Data(2), rollback}, Commits({2}));
  EXPECT_THAT(plan.order, ElementsAre(0));
  EXPECT_THAT(Kinds(plan), ElementsAre("corrupt_block"));
}

TEST(BlockPlanTest, ChangeDataAmongRowsIsNotPassedOver) {
  const std::vector<SliceBlock> blocks = {Data(2, LogBlockKind::kCdcData)};
  for (const bool is_cdc : {true, false}) {
    LogFile file;
    file.name.is_cdc = is_cdc;
    const auto plan = PlanBlocks(blocks, std::vector{file}, Commits({2}), {});
    EXPECT_THAT(Fates(plan), ElementsAre(is_cdc ? "not_rows" : "unsupported"));
    EXPECT_EQ(plan.findings.size(), is_cdc ? 0u : 1u);
  }
}

/// Hudi's reader refuses it: the kind only stands for what the reader finds damaged.
TEST(BlockPlanTest, ABlockOfAKindThatNoWriterLeavesIsSaid) {
  const auto plan = Plan({Data(2, LogBlockKind::kCorrupt), Data(2)}, Commits({2}));
  EXPECT_THAT(Fates(plan), ElementsAre("not_rows", "applies"));
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].kind, "corrupt_block");
}

/// Each with each would take hours.
TEST(BlockPlanTest, ManyBlocksAndManyRollbacksAreDoneAtOnce) {
  std::vector<SliceBlock> blocks(500'000, Data(2));
  blocks.insert(blocks.end(), 500'000, Rollback(4, 3));
  blocks.push_back(Rollback(4, 2));
  blocks.push_back(Data(2));
  const auto plan = Plan(blocks, Commits({2, 4}));
  EXPECT_THAT(plan.order, ElementsAre(blocks.size() - 1));
}

TEST(BlockPlanTest, NoBlocksGiveAnEmptyPlan) {
  const auto plan = Plan({}, Commits({}));
  EXPECT_THAT(plan.order, IsEmpty());
  EXPECT_THAT(plan.fates, IsEmpty());
}

TEST(BlockPlanTest, BlocksOfWritesThatDoNotCountDoNotApply) {
  const auto plan = Plan({Data(1), Data(2), Data(3), Data(4), Data(0)}, Commits({2, 4}, {3}));
  // The first one is older than the timeline: archived.
  EXPECT_THAT(Fates(plan),
              ElementsAre("applies", "applies", "uncommitted", "applies", "uncommitted"));
}

TEST(BlockPlanTest, FromVersion8OnBlocksAreNotAsked) {
  const auto instants = Commits({2});
  EXPECT_THAT(Fates(Plan({Data(3)}, instants, {.as_of = "", .asks_timeline = false})),
              ElementsAre("applies"));
  EXPECT_FALSE(EventTimeBlockRules(8, instants).asks_timeline);
  EXPECT_TRUE(EventTimeBlockRules(7, instants).asks_timeline);
  EXPECT_EQ(EventTimeBlockRules(7, instants).as_of, "");
  EXPECT_EQ(EventTimeBlockRules(7, CommittedInstants({}, Time(2))).as_of, Time(2));
  EXPECT_EQ(PlainScanBlockRules(instants, true).as_of, Time(2));
}

TEST(BlockPlanTest, ChangeDataIsNoRow) {
  const auto plan = Plan({Data(2, LogBlockKind::kCdcData)}, Commits({2}));
  EXPECT_THAT(Fates(plan), ElementsAre("not_rows"));
  EXPECT_THAT(plan.findings, IsEmpty());
}

TEST(BlockPlanTest, WhatIsNotReadIsAFindingOnlyWhereItWouldApply) {
  const auto plan = Plan({Data(2, LogBlockKind::kHFileData), Data(3, LogBlockKind::kHFileData),
                          Data(2, LogBlockKind::kUnknown), Data(0, LogBlockKind::kUnknown),
                          Data(3, LogBlockKind::kUnknown)},
                         Commits({2}, {3}));
  EXPECT_THAT(Fates(plan), ElementsAre("unsupported", "uncommitted", "unsupported", "unsupported",
                                       "uncommitted"));
  EXPECT_THAT(plan.order, IsEmpty());
  ASSERT_EQ(plan.findings.size(), 3u);
  EXPECT_EQ(plan.findings[0].kind, "unsupported_block");
}

TEST(BlockPlanTest, ARollbackTakesBackWhatItsInstantWroteBefore) {
  const auto plan = Plan({Data(2), Data(3), Rollback(4, 2), Data(2)}, Commits({2, 3}));
  EXPECT_THAT(Fates(plan), ElementsAre("rolled_back", "applies", "command", "applies"));
  EXPECT_THAT(plan.order, ElementsAre(1, 3));
}

TEST(BlockPlanTest, AnotherCommandIsAFinding) {
  auto command = Rollback(4, 2);
  command.command = "1";
  const auto plan = Plan({Data(2), command}, Commits({2}));
  EXPECT_THAT(Fates(plan), ElementsAre("applies", "command"));
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].kind, "unknown_command");
}

TEST(BlockPlanTest, AsOfLeavesLaterBlocksOut) {
  const auto instants = Commits({2, 4, 5});
  const auto plan = Plan({Data(2), Data(5), Data(4)}, instants, {.as_of = Time(4)});
  EXPECT_THAT(Fates(plan), ElementsAre("applies", "later", "applies"));
}

// The table failed_deltacommit_rolled_back: the rollback of a crashed write takes its instant after
// the commit that makes it, and lies before that commit's blocks.
TEST(BlockPlanTest, ThePlainScanHidesACommitBehindALaterRollback) {
  const std::vector<SliceBlock> blocks = {Data(2), Data(3), Rollback(5, 3), Data(4)};
  const auto instants = Commits({2, 4});
  EXPECT_THAT(Plan(blocks, instants, EventTimeBlockRules(6, instants)).order, ElementsAre(0, 3));
  const auto plain = Plan(blocks, instants, PlainScanBlockRules(instants, false));
  EXPECT_THAT(Fates(plain), ElementsAre("applies", "uncommitted", "command", "hidden"));
  EXPECT_THAT(plain.order, ElementsAre(0));
  // One more commit and the same files show it.
  const auto later = Commits({2, 4, 6});
  EXPECT_THAT(Plan(blocks, later, PlainScanBlockRules(later, false)).order, ElementsAre(0, 3));
}

TEST(BlockPlanTest, ALogCompactionStandsForItsSourcesWhereTheNewestOfThemLay) {
  const auto plan =
      Plan({Data(2), Data(3), Data(4), Compacted(5, {3, 2}), Data(6)}, Commits({2, 3, 4, 5, 6}));
  EXPECT_THAT(Fates(plan), ElementsAre("compacted", "compacted", "applies", "applies", "applies"));
  EXPECT_THAT(plan.order, ElementsAre(3, 2, 4));
}

TEST(BlockPlanTest, ALogCompactionOfALogCompactionStandsForAll) {
  const auto plan = Plan({Data(2), Data(3), Compacted(4, {3, 2}), Data(5), Compacted(6, {5, 4})},
                         Commits({2, 3, 4, 5, 6}));
  EXPECT_THAT(Fates(plan),
              ElementsAre("compacted", "compacted", "compacted", "compacted", "applies"));
  EXPECT_THAT(plan.order, ElementsAre(4));
}

TEST(BlockPlanTest, ALogCompactionThatDoesNotCountStandsForNothing) {
  const auto plan = Plan({Data(2), Data(3), Compacted(4, {3, 2})}, Commits({2, 3}, {4}));
  EXPECT_THAT(plan.order, ElementsAre(0, 1));
}

TEST(BlockPlanTest, ALogCompactionWithoutItsSourcesKeepsItsPlace) {
  const auto plan = Plan({Data(3), Compacted(5, {2}), Data(6)}, Commits({3, 5, 6}));
  EXPECT_THAT(plan.order, ElementsAre(0, 1, 2));
}

TEST(BlockPlanTest, ThePlainScanAppliesALogCompactionBesideItsSources) {
  const auto instants = Commits({2, 3, 4});
  const auto plan =
      Plan({Data(2), Data(3), Compacted(4, {3, 2})}, instants, PlainScanBlockRules(instants, true));
  EXPECT_THAT(plan.order, ElementsAre(0, 1, 2));
}

TEST(BlockPlanTest, TheAttemptWithMostBlocksCounts) {
  const std::vector<SliceBlock> blocks = {Attempt(2, 0, 0), Attempt(2, 1, 0), Attempt(2, 1, 1),
                                          Attempt(3, 0, 0), Attempt(3, 2, 0), Data(3)};
  const auto instants = Commits({2, 3});
  EXPECT_THAT(Fates(Plan(blocks, instants)),
              ElementsAre("duplicate", "applies", "applies", "duplicate", "applies", "applies"));
  BlockRules keeps;
  keeps.keeps_duplicates = true;
  EXPECT_THAT(Plan(blocks, instants, keeps).order, ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(BlockPlanTest, BlocksOfOneInstantApplyTogether) {
  const auto plan = Plan({Data(2), Data(3), Data(2, LogBlockKind::kDelete)}, Commits({2, 3}));
  EXPECT_THAT(plan.order, ElementsAre(0, 2, 1));
}

}  // namespace
}  // namespace tidemark::lake::hudi
