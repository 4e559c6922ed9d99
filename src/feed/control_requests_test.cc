#include "feed/control_requests.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/result_matchers.h"

namespace tidemark::feed {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::optional<TableRecord> Recorded(std::optional<Offset> control_next) {
  return TableRecord{.uid = "a", .control_next = control_next};
}

TEST(FirstUnheardTest, IsWhereTheTablesRecordSaysOrWhereNothingIsLost) {
  struct Case {
    const char* name;
    std::optional<TableRecord> record;
    ControlPlace place;
    Offset first;
  };
  const Case cases[] = {
      {"never published, empty topic", std::nullopt, {0, 0}, 0},
      {"never published: everything", std::nullopt, {9, 9}, 0},
      {"an older release's: from our coming on", Recorded(std::nullopt), {9, 9}, 9},
      {"the same, later", Recorded(std::nullopt), {9, 12}, 9},
      {"nothing done yet", Recorded(0), {9, 9}, 0},
      {"one before the end", Recorded(8), {9, 9}, 8},
      {"everything done", Recorded(9), {9, 9}, 9},
      {"another owner did what came since", Recorded(12), {9, 12}, 12},
      {"more than there is: another topic", Recorded(10), {9, 9}, 0},
      {"the same, and it is empty", Recorded(1), {0, 0}, 0},
  };
  for (const auto& each : cases)
    EXPECT_EQ(FirstUnheard(each.record, each.place), each.first) << each.name;
}

TEST(TableRequestsTest, SeveralComeToOneAndPauseAndResumeUndoEachOther) {
  using enum ControlAction;
  struct Case {
    std::vector<ControlAction> asked;  // at offsets 10, 11, …
    Offset done;
    std::string left;
    Offset next_after_pause;  // of heard = 20
    Offset next_undone;
  };
  const Case cases[] = {
      {{}, 0, "", 20, 20},
      {{kPause}, 0, "pause", 20, 10},
      {{kPause}, 10, "pause", 20, 10},
      {{kPause}, 11, "", 20, 20},
      {{kPause, kResume}, 0, "resume", 20, 11},
      {{kPause, kResume}, 11, "resume", 20, 11},
      {{kPause, kResume, kPause}, 12, "pause", 20, 12},
      {{kSnapshot, kSnapshot}, 0, "snapshot", 10, 10},
      {{kSnapshot, kSnapshot}, 11, "snapshot", 11, 11},
      {{kSnapshot, kSnapshot}, 12, "", 20, 20},
      {{kSnapshot, kPause}, 0, "pause, snapshot", 10, 10},
      {{kPause, kSnapshot, kResume}, 0, "resume, snapshot", 11, 11},
      {{kPause, kSnapshot, kResume}, 12, "resume", 20, 12},
      {{kResync, kSnapshot}, 11, "snapshot", 11, 11},
      {{kSnapshot, kResync}, 11, "resync", 11, 11},
      {{kSnapshot, kResync}, 12, "", 20, 20},
  };
  for (const auto& each : cases) {
    TableRequests requests;
    std::string name;
    for (size_t i = 0; i < each.asked.size(); ++i) {
      requests.Add(each.asked[i], 10 + static_cast<Offset>(i));
      name += fmt::format("{} ", ControlActionName(each.asked[i]));
    }
    name += fmt::format("done={}", each.done);
    requests.Done(each.done);
    EXPECT_EQ(requests.Text(), each.left) << name;
    EXPECT_EQ(requests.is_empty(), each.left.empty()) << name;
    EXPECT_EQ(requests.NextAfterPause(20), each.next_after_pause) << name;
    EXPECT_EQ(requests.NextUndone(20), each.next_undone) << name;
  }
}

TEST(TableRequestsTest, AResyncIsASnapshotToo) {
  TableRequests requests;
  requests.Add(ControlAction::kSnapshot, 0);
  EXPECT_TRUE(requests.wants_snapshot());
  EXPECT_FALSE(requests.wants_reconcile());
  requests = {};
  requests.Add(ControlAction::kResync, 0);
  EXPECT_TRUE(requests.wants_snapshot());
  EXPECT_TRUE(requests.wants_reconcile());
  EXPECT_EQ(requests.pause(), std::nullopt);
  requests.Add(ControlAction::kResume, 1);
  EXPECT_EQ(requests.pause(), false);
}

ReadRecord Request(const std::string& uid, ControlAction action, Offset offset) {
  return {.topic = LogTopic::kControl,
          .offset = offset,
          .key = uid,
          .value = ControlJson({.action = action, .uid = uid})};
}

TEST(PartitionRequestsTest, WhatWasAskedBeforeIsHeardAsFarAsItIsNotDone) {
  const ReadRecord records[] = {Request("a", ControlAction::kSnapshot, 3),
                                Request("b", ControlAction::kPause, 4),
                                Request("a", ControlAction::kResync, 5)};
  PartitionRequests requests;
  EXPECT_EQ(requests.heard(), std::nullopt);
  EXPECT_THAT(requests.Begin(records, 7), IsEmpty());
  EXPECT_EQ(requests.heard(), 7);
  EXPECT_THAT(requests.Uids(), ElementsAre("a", "b"));
  requests.Settle("a", Recorded(4));
  EXPECT_EQ(requests.Of("a").Text(), "resync");
  requests.Settle("b", Recorded(std::nullopt));
  EXPECT_TRUE(requests.Of("b").is_empty());
  ASSERT_THAT(requests.Take(Request("b", ControlAction::kResume, 7)), IsOk());
  EXPECT_EQ(requests.heard(), 8);
  requests.Settle("b", Recorded(std::nullopt));
  EXPECT_EQ(requests.Of("b").Text(), "resume");
  requests.Done("a", 6);
  requests.Done("unknown", 6);
  EXPECT_THAT(requests.Uids(), ElementsAre("b"));
  requests.End();
  EXPECT_FALSE(requests.has_begun());
  EXPECT_THAT(requests.Uids(), IsEmpty());
}

TEST(PartitionRequestsTest, WhatIsNoRequestIsRefusedAndTheRestIsHeard) {
  auto bad = Request("a", ControlAction::kPause, 0);
  bad.value = "{}";
  const ReadRecord records[] = {bad, Request("a", ControlAction::kPause, 1)};
  PartitionRequests requests;
  const auto refused = requests.Begin(records, 2);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(requests.Of("a").Text(), "pause");
  bad.offset = 2;
  bad.value.reset();
  EXPECT_THAT(requests.Take(bad), IsError(ErrorKind::kInvalidArgument, ::testing::_));
  EXPECT_EQ(requests.heard(), 3);
}

}  // namespace
}  // namespace tidemark::feed
