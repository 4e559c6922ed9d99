#include "lake/hudi/instant_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::_;
using ::testing::ElementsAre;

std::string ReadFile(const std::string& name) {
  return support::ReadTestdata("hudi/tables/timeline_story_cow/table/.hoodie/" + name);
}

TEST(InstantFactsTest, EachActionHasItsOwn) {
  ASSERT_OK_ASSIGN(const auto commit,
                   ParseInstantFacts(Action::kCommit, ReadFile("20261130023013598.commit")));
  EXPECT_EQ(std::get<CommitStats>(commit).partitions.begin()->first, "part=p5");
  ASSERT_OK_ASSIGN(
      const auto replace,
      ParseInstantFacts(Action::kReplaceCommit, ReadFile("20261130022350844.replacecommit")));
  EXPECT_EQ(std::get<CommitStats>(replace).metadata.operation, "DELETE_PARTITION");
  ASSERT_OK_ASSIGN(const auto clean,
                   ParseInstantFacts(Action::kClean, ReadFile("20261130022736826.clean")));
  EXPECT_THAT(std::get<CleanMetadata>(clean).deleted_partitions, ElementsAre("part=p1"));
  ASSERT_OK_ASSIGN(const auto rollback,
                   ParseInstantFacts(Action::kRollback, ReadFile("20261130022840699.rollback")));
  EXPECT_THAT(std::get<RollbackMetadata>(rollback).instants,
              ElementsAre(NamedInstant{"20261130022757385", "commit"}));
  ASSERT_OK_ASSIGN(const auto savepoint,
                   ParseInstantFacts(Action::kSavepoint, ReadFile("20261130022630305.savepoint")));
  EXPECT_EQ(std::get<SavepointMetadata>(savepoint).files.size(), 3U);
  ASSERT_OK_ASSIGN(
      const auto restore,
      ParseInstantFacts(Action::kRestore,
                        support::ReadTestdata("hudi/tables/fresh_a9_savepoint_restore/table/"
                                              ".hoodie/20261130032539342.restore")));
  EXPECT_EQ(std::get<RestoreMetadata>(restore).instants.size(), 2U);
  for (const auto& facts : {commit, replace, clean, rollback, savepoint, restore})
    EXPECT_GT(FactsTextSize(facts), 0U);
}

TEST(InstantFactsTest, AnActionWithoutFactsIsNeverAnError) {
  for (const Action action : {Action::kIndexing, Action::kSchemaCommit, Action::kUnknown}) {
    ASSERT_OK_ASSIGN(const auto facts, ParseInstantFacts(action, "\x01 anything"));
    EXPECT_TRUE(std::holds_alternative<std::monostate>(facts));
    EXPECT_EQ(FactsTextSize(facts), 0U);
  }
}

TEST(InstantFactsTest, OnlyACommitMayBeEmpty) {
  EXPECT_THAT(ParseInstantFacts(Action::kDeltaCommit, ""), IsOk());
  for (const Action action :
       {Action::kClean, Action::kRollback, Action::kRestore, Action::kSavepoint}) {
    EXPECT_THAT(ParseInstantFacts(action, ""), IsError(ErrorKind::kCorrupt, _))
        << ActionName(action);
  }
}

}  // namespace
}  // namespace tidemark::lake::hudi
