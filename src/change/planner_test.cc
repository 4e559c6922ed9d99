#include "change/planner.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tidemark::change {
namespace {

using lake::hudi::Action;
using lake::hudi::Instant;
using lake::hudi::State;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A table of layout 2 as its readings show it, told to a planner. Requested times are short texts:
/// nothing but their order matters.
class PlannerTest : public ::testing::Test {
 protected:
  PlannerTest() {
    facts_.properties.name = "t";
    facts_.properties.version = 8;
    facts_.properties.layout = 2;
    facts_.listing.emplace();
  }

  InstantEffect& Add(const std::string& requested, const std::string& action,
                     const std::string& completed = "") {
    Instant instant = Named(requested, action);
    instant.completed = completed.empty() ? requested + "c" : completed;
    instant.state = State::kCompleted;
    facts_.timeline.instants.push_back(instant);
    auto& effect = facts_.bodies[KeyOf(instant)];
    effect = {.instant = instant, .operation = "UPSERT"};
    return effect;
  }
  /// A commit that writes file groups ("p1/a") and replaces others; its files lie in the listing.
  InstantEffect& Commit(const std::string& requested, const std::vector<std::string>& written,
                        const std::vector<std::string>& replaced = {},
                        const std::string& completed = "") {
    auto& effect = Add(requested, replaced.empty() ? "commit" : "replacecommit", completed);
    for (const auto& group : written) {
      const auto [path, id] = Parted(group);
      effect.partitions[path].written.push_back(id);
      ++effect.partitions[path].files_added;
      List(path, fmt::format("{}_0-0-0_{}.parquet", id, requested));
    }
    for (const auto& group : replaced) {
      const auto [path, id] = Parted(group);
      effect.partitions[path].replaced.push_back(id);
    }
    return effect;
  }
  void Schema(InstantEffect& effect, const std::string& column) {
    effect.extra["schema"] = fmt::format(
        R"({{"type":"record","name":"r","fields":[{{"name":"{}","type":"int"}}]}})", column);
  }
  void Pending(const std::string& requested, const std::string& action) {
    facts_.timeline.instants.push_back(Named(requested, action));
    facts_.timeline.instants.back().state = State::kInflight;
  }
  /// The instant is no longer on the active timeline.
  void Take(const std::string& requested, const std::string& action) {
    std::erase_if(facts_.timeline.instants, [&](const Instant& instant) {
      return instant.requested == requested && instant.action_name == action;
    });
    facts_.bodies.erase({requested, action});
  }
  /// Its files are gone.
  void Unlist(const std::string& requested) {
    for (auto& partition : facts_.listing->partitions) {
      std::erase_if(partition.files, [&](const auto& object) {
        return object.key.ends_with("_" + requested + ".parquet");
      });
    }
  }
  void Archive(const std::string& requested, const std::string& action, bool is_whole = true) {
    if (!facts_.archive) facts_.archive.emplace();
    facts_.archive->is_whole = is_whole;
    facts_.archive->instants.push_back(facts_.bodies.at({requested, action}));
    Take(requested, action);
  }

  Plan Read(PlanOptions options = {}) {
    // The archive is there to be read, mostly empty.
    if (NeedsOf(state_, facts_, options).archive_from && !facts_.archive) facts_.archive.emplace();
    EXPECT_TRUE(NeedsOf(state_, facts_, options).is_empty());
    auto plan = PlanChanges(state_, facts_, options);
    state_ = plan.after;
    return plan;
  }
  /// "seq action@requested +p1 ~p2 -p3 …" of each group.
  static std::vector<std::string> LinesOf(const Plan& plan) {
    std::vector<std::string> lines;
    for (const Group& group : plan.groups) {
      std::string line = fmt::format("{}.{}", group.epoch, group.seq);
      if (group.instant)
        line += fmt::format(" {}@{}", group.instant->action, group.instant->requested);
      if (group.table) line += fmt::format(" {}", TableReasonName(group.table->reason));
      if (group.commit && group.commit->type == CommitType::kArchivedRange)
        line += fmt::format(" range {}..{}", group.commit->range_first, group.commit->range_last);
      if (group.is_late) line += " late";
      for (const auto& retraction : group.retracted)
        line += fmt::format(" retract {}#{}", retraction.instant.requested, retraction.seq);
      if (group.schema) line += " schema";
      for (const auto& partition : group.partitions) {
        const char* mark = partition.op == PartitionOp::kAdd     ? "+"
                           : partition.op == PartitionOp::kTouch ? "~"
                                                                 : "-";
        line += fmt::format(" {}{}", mark, partition.path);
      }
      lines.push_back(line);
    }
    return lines;
  }
  std::vector<std::string> ReadLines(PlanOptions options = {}) { return LinesOf(Read(options)); }

  TableFacts facts_;
  TableState state_;

 private:
  static Instant Named(const std::string& requested, const std::string& action) {
    Instant instant;
    instant.requested = requested;
    instant.action = lake::hudi::ParseAction(action);
    instant.action_name = action;
    return instant;
  }
  static std::pair<std::string, std::string> Parted(const std::string& group) {
    const size_t slash = group.rfind('/');
    return {group.substr(0, slash), group.substr(slash + 1)};
  }
  void List(const std::string& path, const std::string& name) {
    for (auto& partition : facts_.listing->partitions) {
      if (partition.path == path) {
        partition.files.push_back({.key = path + "/" + name});
        return;
      }
    }
    facts_.listing->partitions.push_back({.path = path, .files = {{.key = path + "/" + name}}});
  }
};

TEST_F(PlannerTest, ATableSeenForTheFirstTimeBeginsWithASnapshotOfWhatIsThere) {
  Commit("1", {"p1/a"});
  Commit("2", {"p2/b"});
  const auto plan = Read();
  EXPECT_THAT(LinesOf(plan), ElementsAre("1.1 CREATED"));
  ASSERT_EQ(plan.snapshots.size(), 1u);
  EXPECT_EQ(plan.snapshots[0].as_of_seq, 1);
  EXPECT_THAT(plan.snapshots[0].partitions, ElementsAre("p1", "p2"));
  EXPECT_THAT(ReadLines(), IsEmpty());
}

TEST_F(PlannerTest, FromTheStartEachInstantIsTold) {
  Commit("1", {"p1/a"});
  Commit("2", {"p1/a", "p2/b"});
  EXPECT_THAT(ReadLines({.beginning = Beginning::kActive}),
              ElementsAre("1.1 CREATED", "1.2 commit@1 +p1", "1.3 commit@2 ~p1 +p2"));
}

TEST_F(PlannerTest, GroupsOfOneReadingFollowCompletionAndLateOnesSaySo) {
  Read();
  Commit("1", {"p1/a"}, {}, "9c");
  Commit("2", {"p2/b"}, {}, "3c");
  EXPECT_THAT(ReadLines(), ElementsAre("1.2 commit@2 +p2", "1.3 commit@1 late +p1"));
}

TEST_F(PlannerTest, APartitionGoesWhenItsLastGroupIsReplacedAndComesBackWithANewOne) {
  Read();
  Commit("1", {"p1/a", "p1/b"});
  Commit("2", {}, {"p1/a"});
  Commit("3", {}, {"p1/b"});
  Commit("4", {"p1/c"});
  EXPECT_THAT(ReadLines(), ElementsAre("1.2 commit@1 +p1", "1.3 replacecommit@2 ~p1",
                                       "1.4 replacecommit@3 -p1", "1.5 commit@4 +p1"));
}

TEST_F(PlannerTest, AnOverwrittenPartitionIsNeverAway) {
  Read();
  Commit("1", {"p1/a"});
  Commit("2", {"p1/b"}, {"p1/a"});
  EXPECT_THAT(ReadLines(), ElementsAre("1.2 commit@1 +p1", "1.3 replacecommit@2 ~p1"));
}

TEST_F(PlannerTest, ALateCommitToAReplacedGroupBringsNothingBack) {
  Read();
  Commit("1", {"p1/a"});
  Commit("3", {}, {"p1/a"});
  Commit("2", {"p1/a"}, {}, "4c");
  EXPECT_THAT(ReadLines(),
              ElementsAre("1.2 commit@1 +p1", "1.3 replacecommit@3 -p1", "1.4 commit@2 late"));
}

TEST_F(PlannerTest, ACommitWithoutANewFileChangesNoPartition) {
  Read();
  Add("1", "commit").partitions["p1"] = {};
  Commit("2", {}, {"p9/unknown"});
  EXPECT_THAT(ReadLines(), ElementsAre("1.2 commit@1", "1.3 replacecommit@2"));
}

TEST_F(PlannerTest, TouchesAreLeftOutOnRequest) {
  Read();
  Commit("1", {"p1/a"});
  Commit("2", {"p1/a", "p2/b"});
  const auto plan = Read({.with_touches = false});
  EXPECT_THAT(LinesOf(plan), ElementsAre("1.2 commit@1 +p1", "1.3 commit@2 +p2"));
  EXPECT_EQ(plan.groups[1].commit->partitions_touched, 2);
}

TEST_F(PlannerTest, TheSchemaFollowsTheCommitRequestedLast) {
  Read();
  Schema(Commit("1", {"p1/a"}), "x");
  Schema(Commit("3", {"p1/a"}), "y");
  Schema(Commit("2", {"p1/a"}, {}, "9c"), "x");
  const auto plan = Read();
  EXPECT_THAT(LinesOf(plan), ElementsAre("1.2 commit@1 schema +p1", "1.3 commit@3 schema ~p1",
                                         "1.4 commit@2 late ~p1"));
  EXPECT_EQ(plan.groups[1].schema_version, 2);
  EXPECT_EQ(plan.groups[2].schema_version, 2);
  EXPECT_EQ(plan.groups[2].schema_fingerprint, plan.groups[1].schema_fingerprint);
}

TEST_F(PlannerTest, ASavepointSharesTheTimeOfItsCommit) {
  Commit("1", {"p1/a"});
  Read();
  Add("1", "savepoint", "5c");
  EXPECT_THAT(ReadLines(), ElementsAre("1.2 savepoint@1"));
}

TEST_F(PlannerTest, ARollbackOfAFailedWriteTakesNothingBack) {
  Commit("1", {"p1/a"});
  Read();
  Add("3", "rollback").undone = {{"2", "commit"}};
  EXPECT_THAT(ReadLines(), ElementsAre("1.2 rollback@3"));
}

TEST_F(PlannerTest, ARollbackOfAPublishedCommitTakesItBack) {
  Read();
  Schema(Commit("1", {"p1/a"}), "x");
  Schema(Commit("2", {"p1/a", "p2/b"}), "y");
  Read();
  Take("2", "commit");
  Unlist("2");
  // Old releases name the time alone.
  Add("3", "rollback").undone = {{"2", ""}};
  const auto plan = Read();
  EXPECT_THAT(LinesOf(plan), ElementsAre("1.4 rollback@3 retract 2#3 schema -p2"));
  EXPECT_EQ(plan.groups[0].schema->schema.columns.at(0).name, "x");
  EXPECT_THAT(ReadLines(), IsEmpty());
}

TEST_F(PlannerTest, ARollbackOfTheOnlyCommitWithASchemaTakesTheSchemaBack) {
  Commit("1", {"p1/a"});
  Read();
  Schema(Commit("2", {"p1/a"}), "x");
  Read();
  Take("2", "commit");
  Unlist("2");
  Add("3", "rollback").undone = {{"2", "commit"}};
  const auto plan = Read();
  EXPECT_THAT(LinesOf(plan), ElementsAre("1.3 rollback@3 retract 2#2 schema"));
  EXPECT_THAT(plan.groups[0].schema->schema.columns, IsEmpty());
}

TEST_F(PlannerTest, NothingIsToldWhileAPublishedCommitIsBeingRolledBack) {
  Commit("1", {"p1/a"});
  Read();
  Take("1", "commit");
  Pending("1", "commit");
  Pending("2", "rollback");
  EXPECT_TRUE(Read().is_paused);
  EXPECT_TRUE(state_.cursor->published.contains({"1", "commit"}));
}

TEST_F(PlannerTest, APendingRollbackOfAFailedWriteHoldsNothingUp) {
  Read();
  Pending("2", "rollback");
  Commit("1", {"p1/a"});
  EXPECT_THAT(ReadLines(), ElementsAre("1.2 commit@1 +p1"));
}

TEST_F(PlannerTest, ARestoreRetractsAndBeginsAnEpochWithASnapshot) {
  Commit("1", {"p1/a"});
  Read();
  Commit("2", {"p2/b"});
  Commit("3", {"p3/c"});
  Read();
  for (const char* gone : {"2", "3"}) {
    Take(gone, "commit");
    Unlist(gone);
  }
  Add("4", "restore").undone = {{"3", "commit"}, {"2", "commit"}};
  Commit("5", {"p5/e"});
  const auto plan = Read();
  EXPECT_THAT(LinesOf(plan), ElementsAre("1.4 restore@4 retract 2#2 retract 3#3", "2.1 RESTORED",
                                         "2.2 commit@5 +p5"));
  ASSERT_EQ(plan.snapshots.size(), 1u);
  EXPECT_EQ(plan.snapshots[0].epoch, 2);
  EXPECT_EQ(plan.snapshots[0].as_of_seq, 1);
  EXPECT_THAT(plan.snapshots[0].partitions, ElementsAre("p1"));
  EXPECT_EQ(plan.groups[1].previous, std::nullopt);
}

TEST_F(PlannerTest, NothingIsToldWhileARestoreIsUnderWay) {
  Commit("1", {"p1/a"});
  Read();
  Pending("3", "restore");
  Commit("2", {"p2/b"});
  EXPECT_TRUE(Read().is_paused);
  EXPECT_FALSE(state_.cursor->published.contains({"2", "commit"}));
}

TEST_F(PlannerTest, ArchivedInstantsAreForgottenInSilence) {
  Commit("1", {"p1/a"});
  Commit("2", {"p1/a"});
  Read();
  Archive("1", "commit");
  EXPECT_THAT(ReadLines(), IsEmpty());
  EXPECT_FALSE(state_.cursor->published.contains({"1", "commit"}));
  EXPECT_EQ(state_.cursor->floor, "2");
}

TEST_F(PlannerTest, CommitsArchivedUnseenAreToldFromTheArchive) {
  Commit("1", {"p1/a"});
  Read();
  Commit("2", {"p2/b"});
  Commit("3", {"p3/c"});
  Archive("1", "commit");
  Archive("2", "commit");
  EXPECT_THAT(ReadLines(), ElementsAre("1.2 commit@2 +p2", "1.3 commit@3 +p3"));
}

TEST_F(PlannerTest, TheFirstCommitsOfATableAreNotMissedWhenTheyAreArchivedUnseen) {
  Read();
  Commit("1", {"p1/a"});
  Commit("2", {"p2/b"});
  Archive("1", "commit");
  EXPECT_THAT(ReadLines(), ElementsAre("1.2 commit@1 +p1", "1.3 commit@2 +p2"));
}

TEST_F(PlannerTest, AnArchiveThatCannotBeReadLeavesARangeAndAListing) {
  Commit("1", {"p1/a"});
  Read();
  Commit("2", {"p2/b"});
  Commit("3", {"p3/c"});
  Archive("1", "commit", false);
  Take("2", "commit");  // archived, in the file that cannot be read
  const auto plan = Read();
  EXPECT_THAT(LinesOf(plan),
              ElementsAre("1.2 range 1..3", "1.3 commit@3 +p3", "1.4 RECONCILED +p2"));
  EXPECT_EQ(plan.groups[2].source, EventSource::kReconcile);
  ASSERT_EQ(plan.snapshots.size(), 1u);
  EXPECT_EQ(plan.snapshots[0].as_of_seq, 4);
}

TEST_F(PlannerTest, ACommitThatWasPendingAndIsArchivedNowIsTold) {
  Commit("1", {"p1/a"});
  Pending("2", "commit");
  Commit("3", {"p3/c"});
  Read();
  Take("2", "commit");
  Commit("2", {"p2/b"});
  Archive("1", "commit");
  Archive("2", "commit");
  EXPECT_THAT(ReadLines(), ElementsAre("1.2 commit@2 late +p2"));
}

TEST_F(PlannerTest, ACommitThatAnInterruptedArchivalLeftBehindIsNotToldAgain) {
  Commit("1", {"p1/a"});
  Commit("2", {"p1/a"});
  Read();
  const auto left = facts_.timeline.instants[0];
  const auto body = facts_.bodies.at({"1", "commit"});
  Archive("1", "commit");
  Read();
  facts_.timeline.instants.insert(facts_.timeline.instants.begin(), left);
  facts_.bodies[{"1", "commit"}] = body;
  EXPECT_THAT(ReadLines(), IsEmpty());
}

TEST_F(PlannerTest, ACommitOlderThanTheFloorThatIsInNoArchiveCompletedLate) {
  Commit("2", {"p1/a"});
  Read();
  Commit("1", {"p2/b"}, {}, "9c");
  facts_.archive.emplace();
  EXPECT_THAT(ReadLines(), ElementsAre("1.2 commit@1 late +p2"));
}

TEST_F(PlannerTest, ACommitThatIsMissingWithoutAReasonIsReconciled) {
  Commit("1", {"p1/a"});
  Commit("2", {"p2/b"});
  Read();
  Take("2", "commit");
  Unlist("2");
  facts_.archive.emplace();
  const auto plan = Read();
  EXPECT_THAT(LinesOf(plan), ElementsAre("1.2 RECONCILED -p2"));
  EXPECT_EQ(plan.snapshots.size(), 1u);
}

TEST_F(PlannerTest, ACommitArchivedPastASavepointIsNoLoss) {
  Commit("1", {"p1/a"});
  Commit("2", {"p2/b"});
  Commit("3", {"p3/c"});
  Read();
  Archive("2", "commit");
  EXPECT_THAT(ReadLines(), IsEmpty());
}

TEST_F(PlannerTest, AnotherTableAtTheSamePlaceBeginsAnEpoch) {
  Commit("1", {"p1/a"});
  Commit("2", {"p2/b"});
  Read();
  for (const char* gone : {"1", "2"}) {
    Take(gone, "commit");
    Unlist(gone);
  }
  facts_.archive.emplace();
  Commit("3", {"p3/c"});
  const auto plan = Read();
  EXPECT_THAT(LinesOf(plan), ElementsAre("2.1 RECREATED", "2.2 commit@3 +p3"));
  ASSERT_EQ(plan.snapshots.size(), 1u);
  EXPECT_THAT(plan.snapshots[0].partitions, IsEmpty());
}

TEST_F(PlannerTest, AnUpgradeIsToldAndNothingIsToldTwice) {
  facts_.properties.version = 6;
  facts_.properties.layout = 1;
  Commit("1", {"p1/a"});
  Read();
  facts_.properties.version = 8;
  facts_.properties.layout = 2;
  const auto plan = Read();
  EXPECT_THAT(LinesOf(plan), ElementsAre("1.2 UPGRADED"));
  EXPECT_EQ(plan.groups[0].table->version_before, 6);
  EXPECT_EQ(plan.groups[0].table_version, 8);
  facts_.properties.version = 6;
  facts_.properties.layout = 1;
  EXPECT_THAT(ReadLines(), ElementsAre("1.3 DOWNGRADED"));
}

TEST_F(PlannerTest, AnUnreadableCommitIsToldAsSuchAndTheListingHeals) {
  Commit("1", {"p1/a"});
  Read();
  auto& effect = Commit("2", {"p2/b"});
  effect = MakeUnreadable(effect.instant, BodyState::kUnreadable, "torn");
  Commit("3", {"p3/c"});
  const auto plan = Read();
  EXPECT_THAT(LinesOf(plan), ElementsAre("1.2 commit@2", "1.3 commit@3 +p3", "1.4 RECONCILED +p2"));
  EXPECT_EQ(plan.groups[0].commit->body, BodyState::kUnreadable);
  EXPECT_EQ(plan.groups[0].commit->defect, "torn");
}

TEST_F(PlannerTest, WhatAnEmptyCommitWroteIsFoundByTheListing) {
  Commit("1", {"p1/a"});
  Read();
  auto& effect = Commit("2", {"p2/b"});
  effect = MakeUnreadable(effect.instant, BodyState::kEmpty, "");
  EXPECT_THAT(ReadLines(), ElementsAre("1.2 commit@2", "1.3 RECONCILED +p2"));
}

TEST_F(PlannerTest, AReadOptimisedViewShowsACommitWithoutLogFiles) {
  Read();
  struct Case {
    bool base;
    bool logs;
    bool replaces;
    bool is_visible;
  };
  int requested = 1;
  for (const Case& each : {Case{true, false, false, true}, Case{true, true, false, false},
                           Case{false, true, false, false}, Case{false, false, true, true},
                           Case{false, false, false, false}}) {
    auto& effect =
        Commit(std::to_string(requested++), {},
               each.replaces ? std::vector<std::string>{"p/x"} : std::vector<std::string>{});
    effect.writes_base_files = each.base;
    effect.writes_logs = each.logs;
    EXPECT_EQ(Read().groups.at(0).commit->is_ro_visible, each.is_visible) << requested;
  }
}

TEST_F(PlannerTest, AStateReadBackMakesItsInventoryFromAListing) {
  Commit("1", {"p1/a"});
  Read();
  state_.inventory.reset();
  Commit("2", {"p1/a", "p2/b"});
  EXPECT_THAT(ReadLines(), ElementsAre("1.2 commit@2 ~p1 +p2"));
}

TEST_F(PlannerTest, AStateThatAListingContradictsBeginsAnEpoch) {
  Commit("1", {"p1/a"});
  Commit("2", {"p2/b"});
  Read();
  state_.inventory.reset();
  Unlist("2");  // somebody removed files
  Commit("3", {"p3/c"});
  const auto plan = Read();
  EXPECT_THAT(LinesOf(plan), ElementsAre("2.1 RESYNCED", "2.2 commit@3 +p3"));
  EXPECT_THAT(plan.snapshots.at(0).partitions, ElementsAre("p1"));
}

TEST_F(PlannerTest, ReconcilingTellsOnlyADifference) {
  Commit("1", {"p1/a"});
  Commit("2", {"p2/b"});
  Read();
  EXPECT_THAT(ReadLines({.wants_reconcile = true}), IsEmpty());
  Unlist("2");
  const auto plan = Read({.wants_reconcile = true});
  EXPECT_THAT(LinesOf(plan), ElementsAre("1.2 RECONCILED -p2"));
  EXPECT_EQ(plan.snapshots.at(0).source, EventSource::kReconcile);
}

TEST_F(PlannerTest, PartitionsOfBeforeTheWindowAreThereThoughTheirFilesWereCleaned) {
  auto& first = Commit("2", {"p1/a"});
  first.partitions["p1"].continued = {"a"};
  Commit("3", {}, {"p2/cleaned"});
  EXPECT_THAT(ReadLines({.beginning = Beginning::kActive}),
              ElementsAre("1.1 CREATED", "1.2 commit@2 ~p1", "1.3 replacecommit@3 -p2"));
}

TEST_F(PlannerTest, AskedForIsOnlyWhatIsNeeded) {
  facts_.listing.reset();
  EXPECT_TRUE(NeedsOf(state_, facts_, {}).listing) << "a table never seen";
  facts_.listing.emplace();
  Commit("1", {"p1/a"});
  Read();
  facts_.listing.reset();
  EXPECT_TRUE(NeedsOf(state_, facts_, {}).is_empty()) << "nothing new";
  Commit("2", {"p2/b"});
  facts_.listing.reset();
  EXPECT_TRUE(NeedsOf(state_, facts_, {}).is_empty()) << "an ordinary commit";
  const auto body = facts_.bodies.extract({"2", "commit"});
  EXPECT_EQ(NeedsOf(state_, facts_, {}).bodies.size(), 1u) << "its body";
}

}  // namespace
}  // namespace tidemark::change
