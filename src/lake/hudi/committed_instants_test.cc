#include "lake/hudi/committed_instants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::lake::hudi {
namespace {

Instant Make(std::string requested, Action action, State state = State::kCompleted,
             std::optional<std::string> completed = std::nullopt) {
  Instant instant;
  instant.requested = std::move(requested);
  instant.completed = std::move(completed);
  instant.action = action;
  instant.action_name = ActionName(action);
  instant.state = state;
  return instant;
}

const auto kSome =
    Timeline{.instants = {Make("20260101000000000", Action::kSavepoint),
                          Make("20260101000000000", Action::kCommit),
                          Make("20260103000000000", Action::kDeltaCommit, State::kCompleted,
                               "20260103000005000"),
                          Make("20260104000000000", Action::kCompaction, State::kRequested),
                          Make("20260105000000000", Action::kDeltaCommit, State::kInflight),
                          Make("20260106000000000", Action::kClean),
                          Make("20260107000000000", Action::kReplaceCommit)},
             .ignored_files = 0,
             .findings = {}};

TEST(CommittedInstantsTest, CompletedWritesCount) {
  const CommittedInstants instants(kSome);
  EXPECT_EQ(instants.FateOf("20260103000000000"), WriteFate::kCommitted);
  EXPECT_EQ(instants.FateOf("20260107000000000"), WriteFate::kCommitted);
  EXPECT_EQ(instants.newest(), "20260107000000000");
}

TEST(CommittedInstantsTest, PendingAndAbsentWritesDoNot) {
  const CommittedInstants instants(kSome);
  EXPECT_EQ(instants.FateOf("20260104000000000"), WriteFate::kPending);
  EXPECT_EQ(instants.FateOf("20260105000000000"), WriteFate::kPending);
  EXPECT_EQ(instants.FateOf("20260106000000000"), WriteFate::kAbsent);
  EXPECT_EQ(instants.FateOf("20260103000000001"), WriteFate::kAbsent);
  EXPECT_EQ(instants.FateOf(""), WriteFate::kAbsent);
  EXPECT_TRUE(instants.IsPendingCompaction("20260104000000000"));
  EXPECT_FALSE(instants.IsPendingCompaction("20260105000000000"));
}

TEST(CommittedInstantsTest, ASavepointedCommitIsNotTheStartOfTheTimeline) {
  const CommittedInstants instants(kSome);
  EXPECT_EQ(instants.start(), "20260103000000000");
  EXPECT_EQ(instants.FateOf("20260102000000000"), WriteFate::kBeforeStart);
  EXPECT_EQ(instants.FateOf("20260101000000000"), WriteFate::kCommitted);
}

TEST(CommittedInstantsTest, NothingCountsWithoutACompletedWrite) {
  const CommittedInstants instants(
      Timeline{.instants = {Make("20260105000000000", Action::kCommit, State::kInflight)},
               .ignored_files = 0,
               .findings = {}});
  EXPECT_EQ(instants.FateOf("20260101000000000"), WriteFate::kAbsent);
  EXPECT_EQ(instants.newest(), "");
}

TEST(CommittedInstantsTest, AsOfEndsBehindItsOwnInstant) {
  const CommittedInstants instants(kSome, "20260104000000000");
  EXPECT_EQ(instants.FateOf("20260103000000000"), WriteFate::kCommitted);
  EXPECT_EQ(instants.FateOf("20260104000000000"), WriteFate::kPending);
  EXPECT_EQ(instants.FateOf("20260107000000000"), WriteFate::kLater);
  EXPECT_EQ(instants.newest(), "20260103000000000");
}

TEST(CommittedInstantsTest, APaddedInstantIsTheOneOfSeconds) {
  const CommittedInstants instants(Timeline{
      .instants = {Make("20260101000000", Action::kCommit)}, .ignored_files = 0, .findings = {}});
  EXPECT_TRUE(instants.IsCommitted("20260101000000999"));
  EXPECT_FALSE(instants.IsCommitted("20260101000000998"));
}

TEST(CommittedInstantsTest, ArchivedWritesAreAddedUpToAsOf) {
  CommittedInstants instants(kSome, "20260103000000000");
  const std::vector<Instant> archived = {
      Make("20260102000000000", Action::kDeltaCommit, State::kCompleted, "20260102000009000"),
      Make("20260108000000000", Action::kDeltaCommit)};
  instants.AddArchived(archived);
  EXPECT_EQ(instants.FateOf("20260102000000000"), WriteFate::kCommitted);
  EXPECT_EQ(instants.CompletionOf("20260102000000000"), "20260102000009000");
  EXPECT_EQ(instants.FateOf("20260108000000000"), WriteFate::kLater);
}

TEST(CommittedInstantsTest, AnUntoldCompletionIsTheRequestedTime) {
  const CommittedInstants instants(kSome);
  EXPECT_EQ(instants.CompletionOf("20260103000000000"), "20260103000005000");
  EXPECT_EQ(instants.CompletionOf("20260101000000000"), "20260101000000000");
  EXPECT_EQ(instants.CompletionOf("20250101000000000"), "20250101000000000");
}

}  // namespace
}  // namespace tidemark::lake::hudi
