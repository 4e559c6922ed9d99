#include "change/reconciliation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::change {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

/// A publisher and a subscriber that agree with the table.
class ReconciliationTest : public ::testing::Test {
 protected:
  ReconciliationTest() {
    truth_.partitions = {"p1", "p2"};
    truth_.schema_fingerprint = "s";
    truth_.completed = {{"1", "commit"}, {"2", "commit"}};
    cursor_.epoch = 1;
    cursor_.seq = 3;
    cursor_.published = {{{"1", "commit"}, 2}, {{"2", "commit"}, 3}};
    replica_.epoch = 1;
    replica_.seq = 3;
    replica_.schema.fingerprint = "s";
    replica_.partitions = {{"p1", 2}, {"p2", 3}};
  }
  Reconciliation Compare() const { return Reconcile(truth_, &cursor_, &replica_, told_); }

  TableTruth truth_;
  Cursor cursor_;
  Replica replica_;
  std::set<int64_t> told_{1, 2, 3};
};

TEST_F(ReconciliationTest, EqualIsEqual) {
  const auto found = Compare();
  EXPECT_EQ(found.agreement, Agreement::kEqual);
  EXPECT_THAT(found.missing, IsEmpty());
  EXPECT_THAT(found.surplus, IsEmpty());
  EXPECT_THAT(found.untold, IsEmpty());
}

TEST_F(ReconciliationTest, APartitionThatIsNotHeldOrNotThereDiffers) {
  replica_.partitions.erase("p1");
  replica_.partitions["p3"] = 3;
  const auto found = Compare();
  EXPECT_EQ(found.agreement, Agreement::kDifferent);
  EXPECT_THAT(found.missing, ElementsAre("p1"));
  EXPECT_THAT(found.surplus, ElementsAre("p3"));
}

TEST_F(ReconciliationTest, AnotherSchemaDiffers) {
  replica_.schema.fingerprint = "t";
  EXPECT_EQ(Compare().agreement, Agreement::kDifferent);
}

TEST_F(ReconciliationTest, WhatThePublisherHasNotToldYetExplainsADifference) {
  truth_.completed.insert({"3", "commit"});
  truth_.partitions.push_back("p3");
  const auto found = Compare();
  EXPECT_EQ(found.agreement, Agreement::kBehind);
  EXPECT_THAT(found.untold, ElementsAre(InstantKey{"3", "commit"}));
  EXPECT_THAT(found.missing, ElementsAre("p3"));
}

TEST_F(ReconciliationTest, ASubscriberThatHasNotAppliedTheLastGroupIsBehind) {
  replica_.seq = 2;
  EXPECT_EQ(Compare().agreement, Agreement::kBehind);
  replica_.seq = 3;
  replica_.epoch = 2;
  EXPECT_EQ(Compare().agreement, Agreement::kBehind);
  replica_.epoch = 1;
  replica_.held_for = RelistReason::kGap;
  EXPECT_EQ(Compare().agreement, Agreement::kBehind);
}

TEST_F(ReconciliationTest, AHoleInTheLogIsALossEvenWhereASnapshotHealedIt) {
  told_ = {4, 5, 9, 10, 12};
  const auto found = Compare();
  EXPECT_EQ(found.agreement, Agreement::kDifferent);
  EXPECT_THAT(found.holes, ElementsAre(Pair(6, 8), Pair(11, 11)));
}

TEST_F(ReconciliationTest, GroupsOfBeforeTheLogBeginsAreOver) {
  told_ = {3};
  EXPECT_EQ(Compare().agreement, Agreement::kEqual);
  told_.clear();
  EXPECT_EQ(Compare().agreement, Agreement::kEqual);
}

TEST_F(ReconciliationTest, WithoutOneOfTheTwoSidesItIsUnknown) {
  EXPECT_EQ(Reconcile(truth_, nullptr, &replica_, told_).agreement, Agreement::kUnknown);
  EXPECT_EQ(Reconcile(truth_, &cursor_, nullptr, told_).agreement, Agreement::kUnknown);
  replica_.epoch = 0;
  EXPECT_EQ(Compare().agreement, Agreement::kUnknown);
}

}  // namespace
}  // namespace tidemark::change
