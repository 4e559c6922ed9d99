#include "app/state_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using freshness::PipelineReport;
using freshness::PipelineStatus;
using state::Incident;
using support::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr WallTime kNow = std::chrono::sys_days(std::chrono::year(2026) / 11 / 30) + 3h;

PipelineReport ReportOf(PipelineStatus status, WallTime at, std::string pipeline = "orders") {
  PipelineReport report;
  report.pipeline = std::move(pipeline);
  report.table = "s3://lake/orders";
  report.status = status;
  report.observed_at = at;
  if (status != PipelineStatus::kUnknown) report.lag = 90s;
  return report;
}

/// A server that took the connection and answers nothing any more.
class FrozenStore final : public state::StateStore {
 public:
  void LimitTo(const Budget& budget) override { budget_ = budget; }
  Result<Loaded> LoadPipelines() override { return Wait(); }
  Status SavePipelines(std::span<const state::PipelineState>) override { return Wait(); }
  Status KeepOnly(std::span<const std::string>) override { return Wait(); }
  Status SaveIncidents(std::span<const Incident>) override { return Wait(); }
  Result<std::vector<Incident>> ReadIncidents(std::string_view, size_t) override { return Wait(); }
  Result<std::vector<Incident>> ReadOpenIncidents() override { return Wait(); }
  Status AddSamples(std::span<const state::Sample>) override { return Wait(); }
  Result<std::vector<state::HistoryPoint>> ReadHistory(std::string_view, WallTime,
                                                       WallTime) override {
    return Wait();
  }
  Status RollUp(WallTime, const state::Retention&) override { return Wait(); }

 private:
  std::unexpected<Error> Wait() {
    static_cast<void>(WaitUnlessStopped(budget_.Remaining(), budget_.stop()));
    return Fail(ErrorKind::kUnavailable, "does not answer");
  }
  Budget budget_;
};

TEST(FrozenStateTest, AServerThatAnswersNothingHoldsUpNeitherReadersNorTheEnd) {
  const SystemClock clock;
  StateKeeper keeper(std::make_unique<FrozenStore>(), {}, {}, clock);
  keeper.Note({.report = ReportOf(PipelineStatus::kFresh, kNow), .memory = {}});
  const auto is_unavailable = support::IsError(ErrorKind::kUnavailable, ::testing::_);
  EXPECT_THAT(keeper.Adopt({"orders"}), is_unavailable);
}  // and the keeper ends

TEST(IncidentBookTest, AFreshPipelineOpensNothing) {
  IncidentBook book({});
  EXPECT_THAT(book.Note(ReportOf(PipelineStatus::kFresh, kNow)), IsEmpty());
  EXPECT_THAT(book.Note(ReportOf(PipelineStatus::kDisabled, kNow)), IsEmpty());
}

TEST(IncidentBookTest, AnIncidentOpensOnceAndClosesWithTheFirstGoodReport) {
  IncidentBook book({});
  const auto opened = book.Note(ReportOf(PipelineStatus::kBreach, kNow));
  ASSERT_THAT(opened, SizeIs(1));
  EXPECT_EQ(opened[0].opened_at, kNow);
  EXPECT_EQ(opened[0].closed_at, std::nullopt);
  EXPECT_THAT(book.Note(ReportOf(PipelineStatus::kBreach, kNow + 1min)), IsEmpty());
  const auto closed = book.Note(ReportOf(PipelineStatus::kFresh, kNow + 2min));
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].opened_at, kNow);
  EXPECT_EQ(closed[0].closed_at, kNow + 2min);
}

TEST(IncidentBookTest, AnotherStatusClosesOneIncidentAndOpensAnother) {
  IncidentBook book({});
  book.Note(ReportOf(PipelineStatus::kWarning, kNow));
  const auto changes = book.Note(ReportOf(PipelineStatus::kUnknown, kNow + 1min));
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].status, PipelineStatus::kWarning);
  EXPECT_EQ(changes[0].closed_at, kNow + 1min);
  EXPECT_EQ(changes[1].status, PipelineStatus::kUnknown);
}

TEST(IncidentBookTest, WhatAnEarlierProcessLeftOpenGoesOn) {
  const Incident open{.pipeline = "orders",
                      .status = PipelineStatus::kBreach,
                      .reason = "ok",
                      .opened_at = kNow - 1h,
                      .closed_at = {}};
  IncidentBook book({open});
  EXPECT_THAT(book.Note(ReportOf(PipelineStatus::kBreach, kNow)), IsEmpty());
  const auto closed = book.Note(ReportOf(PipelineStatus::kFresh, kNow));
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].opened_at, kNow - 1h);
}

TEST(IncidentBookTest, IncidentsOfPipelinesThatAreGoneClose) {
  IncidentBook book({});
  book.Note(ReportOf(PipelineStatus::kBreach, kNow));
  EXPECT_THAT(book.KeepOnly({"orders"}, kNow + 1h), IsEmpty());
  const auto closed = book.KeepOnly({"payments"}, kNow + 1h);
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].closed_at, kNow + 1h);
  EXPECT_THAT(book.KeepOnly({}, kNow + 1h), IsEmpty());
}

class StateKeeperTest : public ::testing::Test {
 protected:
  StateKeeperTest() {
    std::string name = std::filesystem::temp_directory_path() / "tidemark-keeper-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~StateKeeperTest() override { std::filesystem::remove_all(folder_); }
  std::unique_ptr<StateKeeper> Open() {
    auto keeper = StateKeeper::Open({.path = folder_, .url = {}}, clock_);
    EXPECT_THAT(keeper, IsOk());
    return keeper ? *std::move(keeper) : nullptr;
  }

  std::string folder_;
  SystemClock clock_;
};

TEST_F(StateKeeperTest, WhatALookTaughtIsThereForTheNextProcess) {
  Look look{.report = ReportOf(PipelineStatus::kBreach, kNow), .memory = {}};
  look.memory.cluster_id = "cluster-a";
  Open()->Note(look);
  const auto keeper = Open();
  ASSERT_THAT(keeper->remembered(), SizeIs(1));
  const Remembered& remembered = keeper->remembered()[0];
  EXPECT_EQ(remembered.pipeline, "orders");
  EXPECT_EQ(remembered.table, "s3://lake/orders");
  EXPECT_EQ(remembered.memory.cluster_id, "cluster-a");
  EXPECT_EQ(remembered.last_success, kNow);
  const auto history = keeper->History("orders", kNow, kNow + 1min);
  ASSERT_THAT(history, IsOk());
  ASSERT_THAT(*history, SizeIs(1));
  EXPECT_EQ((*history)[0].lag_seconds_max, 90);
  const auto incidents = keeper->Incidents("", 10);
  ASSERT_THAT(incidents, IsOk());
  EXPECT_THAT(*incidents, SizeIs(1));
}

TEST_F(StateKeeperTest, AStateThatIsDeletedMeanwhileIsWrittenAnew) {
  {
    const auto keeper = Open();
    keeper->Note({.report = ReportOf(PipelineStatus::kBreach, kNow, "a"), .memory = {}});
    keeper->Release({}, AtRelease::kLeaveOpen, 30s);
    std::filesystem::remove_all(folder_);
    keeper->Note({.report = ReportOf(PipelineStatus::kFresh, kNow, "b"), .memory = {}});
  }
  const auto keeper = Open();
  EXPECT_THAT(keeper->remembered(), SizeIs(2));
  EXPECT_THAT(keeper->left_open(), SizeIs(1));
  const auto history = keeper->History("a", kNow, kNow + 1min);
  ASSERT_THAT(history, IsOk());
  EXPECT_THAT(*history, SizeIs(1));
}

TEST_F(StateKeeperTest, AnUnknownLookDoesNotTakeTheLastSuccessAway) {
  Open()->Note({.report = ReportOf(PipelineStatus::kFresh, kNow), .memory = {}});
  Open()->Note({.report = ReportOf(PipelineStatus::kUnknown, kNow + 1min), .memory = {}});
  EXPECT_EQ(Open()->remembered()[0].last_success, kNow);
}

TEST_F(StateKeeperTest, OnAnotherTableThereWasNoSuccessYet) {
  Open()->Note({.report = ReportOf(PipelineStatus::kFresh, kNow), .memory = {}});
  auto moved = ReportOf(PipelineStatus::kUnknown, kNow + 1min);
  moved.table = "s3://lake/elsewhere";
  Open()->Note({.report = moved, .memory = {}});
  EXPECT_EQ(Open()->remembered()[0].last_success, std::nullopt);
}

TEST_F(StateKeeperTest, PipelinesThatAreGoneAreForgotten) {
  {
    const auto keeper = Open();
    keeper->Note({.report = ReportOf(PipelineStatus::kBreach, kNow, "a"), .memory = {}});
    keeper->Note({.report = ReportOf(PipelineStatus::kBreach, kNow, "b"), .memory = {}});
  }
  Open()->KeepOnly({"b"});
  const auto keeper = Open();
  ASSERT_THAT(keeper->remembered(), SizeIs(1));
  EXPECT_EQ(keeper->remembered()[0].pipeline, "b");
}

TEST(IncidentBookTest, OfTwoThatAnotherProcessLeftOpenTheNewestGoesOn) {
  const Incident old{.pipeline = "orders",
                     .status = PipelineStatus::kUnknown,
                     .reason = "timeout",
                     .opened_at = kNow - 2h,
                     .closed_at = {}};
  Incident newer = old;
  newer.opened_at = kNow - 1h;
  IncidentBook book({old});
  book.Adopt({newer, old});
  const auto released = book.Release({"orders"});
  EXPECT_THAT(released, ElementsAre(newer));
}

/// A pipeline that two processes hand to each other, both on one database. (One after the other
/// here: a SQLite file has one user.)
TEST_F(StateKeeperTest, WhatIsHandedOverIsThereForTheOtherAndNothingComesLate) {
  {
    const auto giver = Open();
    giver->OwnNothing();
    ASSERT_THAT(giver->Adopt({"orders", "clicks"}), IsOk());
    Look look{.report = ReportOf(PipelineStatus::kBreach, kNow), .memory = {}};
    look.memory.cluster_id = "cluster-a";
    giver->Note(look);
    giver->Release({"orders"}, AtRelease::kLeaveOpen, 30s);
    // What is noted of it after that is not this process' to keep.
    look.memory.cluster_id = "too late";
    giver->Note(look);
  }
  const auto taker = Open();
  taker->OwnNothing();
  const auto adopted = taker->Adopt({"orders"});
  ASSERT_THAT(adopted, IsOk());
  ASSERT_THAT(adopted->remembered, SizeIs(1));
  EXPECT_EQ(adopted->remembered[0].memory.cluster_id, "cluster-a");
  ASSERT_THAT(adopted->open, SizeIs(1));
  EXPECT_EQ(adopted->open[0].opened_at, kNow);
  // It goes on with the incident, and closes it.
  taker->Note({.report = ReportOf(PipelineStatus::kFresh, kNow + 1min), .memory = {}});
  taker->Release({"orders"}, AtRelease::kLeaveOpen, 30s);
  const auto incidents = taker->Incidents("orders", 10);
  ASSERT_THAT(incidents, IsOk());
  ASSERT_THAT(*incidents, SizeIs(1));
  EXPECT_EQ((*incidents)[0].closed_at, kNow + 1min);
}

TEST_F(StateKeeperTest, WhatIsNotAdoptedIsNeitherHandedOutNorKept) {
  Open()->Note({.report = ReportOf(PipelineStatus::kBreach, kNow), .memory = {}});
  const auto keeper = Open();
  keeper->OwnNothing();
  const auto adopted = keeper->Adopt({"clicks"});
  ASSERT_THAT(adopted, IsOk());
  EXPECT_THAT(adopted->remembered, IsEmpty());
  EXPECT_THAT(adopted->open, IsEmpty());
}

TEST_F(StateKeeperTest, WithAStateOfItsOwnAProcessEndsTheIncidentsItHandsOver) {
  const auto keeper = Open();
  keeper->OwnNothing();
  ASSERT_THAT(keeper->Adopt({"orders"}), IsOk());
  keeper->Note({.report = ReportOf(PipelineStatus::kBreach, kNow), .memory = {}});
  keeper->Release({"orders"}, AtRelease::kClose, 30s);
  const auto incidents = keeper->Incidents("orders", 10);
  ASSERT_THAT(incidents, IsOk());
  ASSERT_THAT(*incidents, SizeIs(1));
  EXPECT_NE((*incidents)[0].closed_at, std::nullopt);
}

TEST_F(StateKeeperTest, HistoryIsRolledUpWhenTheConfigurationSays) {
  const auto points_kept = [&](const state::Retention& retention) {
    auto keeper = StateKeeper::Open({.path = folder_, .url = {}, .retention = retention}, clock_);
    EXPECT_THAT(keeper, IsOk());
    const WallTime now = clock_.Now();
    (*keeper)->Note({.report = ReportOf(PipelineStatus::kFresh, now - 3h), .memory = {}});
    // It rolls up after it has written for the first time.
    (*keeper)->Release({}, AtRelease::kLeaveOpen, 30s);
    Milliseconds width{-1};
    for (const auto end = std::chrono::steady_clock::now() + 30s;
         std::chrono::steady_clock::now() < end;) {
      const auto points = (*keeper)->History("orders", now - 4h, now);
      EXPECT_THAT(points, IsOk());
      if (!points || points->empty()) return Milliseconds(-1);
      width = points->front().width;
      if (width == state::kHistoryStep || retention.raw > 3h) break;
    }
    return width;
  };
  EXPECT_EQ(points_kept({.raw = 4h, .rolled_up = 5h}), 0ms);
  EXPECT_EQ(points_kept({.raw = 1h, .rolled_up = 5h}), state::kHistoryStep);
}

}  // namespace
}  // namespace tidemark::app
