#include "contract/state_store_contract.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/result_matchers.h"

namespace tidemark::state {

using freshness::PipelineStatus;
using support::IsOk;
using support::IsOkAnd;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

namespace {

// 2026-11-30T03:00:00Z, a whole step.
constexpr WallTime kNow = std::chrono::sys_days(std::chrono::year(2026) / 11 / 30) + 3h;

PipelineState StateOf(std::string name) {
  PipelineState state;
  state.pipeline = std::move(name);
  state.table = "s3://lake/" + state.pipeline;
  state.memory.checkpoint_value = "orders,0:100";
  state.memory.cluster_id = "cluster-a";
  state.memory.topic_ids["orders"] = "id-1";
  state.memory.arrivals[{"orders", 0}] = {{100, kNow - 1min}, {150, kNow}};
  state.memory.stamps[{"orders", 0}] = {.offset = 103,
                                        .timestamp_ms = MillisOf(kNow - 1h),
                                        .timestamp_type = kafka::TimestampType::kAppend,
                                        .committed = 100};
  state.last_success = kNow;
  state.last_report = R"({"pipeline":"x"})";
  return state;
}

Incident IncidentOf(std::string pipeline, WallTime opened_at) {
  return {.pipeline = std::move(pipeline),
          .status = PipelineStatus::kBreach,
          .reason = "data_lost",
          .opened_at = opened_at,
          .closed_at = std::nullopt};
}

Sample SampleAt(WallTime at, std::optional<double> lag_seconds,
                PipelineStatus status = PipelineStatus::kFresh) {
  return {.pipeline = "orders",
          .at = at,
          .status = status,
          .lag_seconds = lag_seconds,
          .sla_ratio = lag_seconds ? std::optional(*lag_seconds / 60) : std::nullopt};
}

}  // namespace

void StateStoreContract::SetUp() {
  options_ = GetParam().make();
  Reopen();
}

void StateStoreContract::Reopen() {
  store_.reset();
  auto opened = OpenState(options_);
  ASSERT_THAT(opened, IsOk());
  store_ = *std::move(opened);
}

TEST_P(StateStoreContract, ANewStateIsEmpty) {
  ASSERT_OK_ASSIGN(const auto loaded, store_->LoadPipelines());
  EXPECT_THAT(loaded.pipelines, IsEmpty());
  EXPECT_THAT(loaded.findings, IsEmpty());
  EXPECT_THAT(store_->ReadOpenIncidents(), IsOkAnd(IsEmpty()));
  EXPECT_THAT(store_->ReadHistory("orders", kNow - 1h, kNow), IsOkAnd(IsEmpty()));
}

TEST_P(StateStoreContract, WhatWasSavedIsThereAfterReopening) {
  const std::vector<PipelineState> states{StateOf("orders"), StateOf("payments")};
  ASSERT_THAT(store_->SavePipelines(states), IsOk());
  Reopen();
  ASSERT_OK_ASSIGN(const auto loaded, store_->LoadPipelines());
  EXPECT_EQ(loaded.pipelines, states);
}

TEST_P(StateStoreContract, SavingAgainReplaces) {
  PipelineState state = StateOf("orders");
  ASSERT_THAT(store_->SavePipelines({&state, 1}), IsOk());
  state.memory = {};
  state.last_success.reset();
  state.table = "elsewhere";
  ASSERT_THAT(store_->SavePipelines({&state, 1}), IsOk());
  ASSERT_OK_ASSIGN(const auto loaded, store_->LoadPipelines());
  EXPECT_THAT(loaded.pipelines, ElementsAre(state));
}

TEST_P(StateStoreContract, AnyTextComesBackAsItWas) {
  for (const std::string& text :
       {std::string("'); DROP TABLE tidemark_pipeline; --"),
        std::string("\"quoted\" \\ back\nline\ttab"), std::string("żółć 漢字 🜁"), std::string(),
        std::string(100'000, 'x')}) {
    PipelineState state = StateOf("orders " + text.substr(0, 100));
    state.table = text;
    state.last_report = text;
    state.memory.checkpoint_value = text;
    ASSERT_THAT(store_->SavePipelines({&state, 1}), IsOk());
    ASSERT_THAT(store_->KeepOnly({&state.pipeline, 1}), IsOk());
    ASSERT_OK_ASSIGN(const auto loaded, store_->LoadPipelines());
    EXPECT_THAT(loaded.pipelines, ElementsAre(state));
  }
}

TEST_P(StateStoreContract, NumbersAtTheirEndsComeBackAsTheyWere) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  PipelineState state = StateOf("orders");
  state.memory.arrivals[{"orders", std::numeric_limits<int32_t>::max()}] = {
      {kMost, WallTimeFromMillis(std::numeric_limits<int64_t>::min())}};
  state.memory.stamps[{"orders", 1}] = {.offset = kMost, .timestamp_ms = -1, .timestamp_type = {}};
  state.last_success = WallTimeFromMillis(kMost);
  ASSERT_THAT(store_->SavePipelines({&state, 1}), IsOk());
  ASSERT_OK_ASSIGN(const auto loaded, store_->LoadPipelines());
  EXPECT_THAT(loaded.pipelines, ElementsAre(state));
}

TEST_P(StateStoreContract, PipelinesThatAreNotKeptAreGoneWithAllThatBelongsToThem) {
  const std::vector<PipelineState> states{StateOf("gone"), StateOf("orders")};
  ASSERT_THAT(store_->SavePipelines(states), IsOk());
  const std::vector<Incident> incidents{IncidentOf("gone", kNow), IncidentOf("orders", kNow)};
  ASSERT_THAT(store_->SaveIncidents(incidents), IsOk());
  Sample sample = SampleAt(kNow - 1min, 1);
  sample.pipeline = "gone";
  ASSERT_THAT(store_->AddSamples({&sample, 1}), IsOk());
  const std::vector<std::string> kept{"orders"};
  ASSERT_THAT(store_->KeepOnly(kept), IsOk());
  ASSERT_OK_ASSIGN(const auto loaded, store_->LoadPipelines());
  EXPECT_THAT(loaded.pipelines, ElementsAre(states[1]));
  EXPECT_THAT(store_->ReadIncidents("", 10), IsOkAnd(ElementsAre(incidents[1])));
  EXPECT_THAT(store_->ReadHistory("gone", kNow - 1h, kNow), IsOkAnd(IsEmpty()));
}

TEST_P(StateStoreContract, IncidentsOpenAndClose) {
  Incident first = IncidentOf("orders", kNow - 1h);
  const Incident second = IncidentOf("payments", kNow);
  const std::vector<Incident> both{first, second};
  ASSERT_THAT(store_->SaveIncidents(both), IsOk());
  EXPECT_THAT(store_->ReadOpenIncidents(), IsOkAnd(ElementsAre(second, first)));
  first.closed_at = kNow - 30min;
  ASSERT_THAT(store_->SaveIncidents({&first, 1}), IsOk());
  EXPECT_THAT(store_->ReadOpenIncidents(), IsOkAnd(ElementsAre(second)));
  EXPECT_THAT(store_->ReadIncidents("", 10), IsOkAnd(ElementsAre(second, first)));
  EXPECT_THAT(store_->ReadIncidents("", 1), IsOkAnd(ElementsAre(second)));
  EXPECT_THAT(store_->ReadIncidents("orders", 10), IsOkAnd(ElementsAre(first)));
}

TEST_P(StateStoreContract, HistoryGivesTheSamplesOfTheRangeOldestFirst) {
  const std::vector<Sample> samples{SampleAt(kNow, 10),
                                    SampleAt(kNow + 1min, {}, PipelineStatus::kUnknown),
                                    SampleAt(kNow + 2min, 90, PipelineStatus::kBreach)};
  ASSERT_THAT(store_->AddSamples(samples), IsOk());
  const HistoryPoint first{
      .at = kNow, .samples = 1, .lag_seconds_max = 10, .sla_ratio_max = 10.0 / 60};
  const HistoryPoint second{.at = kNow + 1min, .samples = 1, .unknown = 1};
  const HistoryPoint third{
      .at = kNow + 2min, .samples = 1, .breaches = 1, .lag_seconds_max = 90, .sla_ratio_max = 1.5};
  EXPECT_THAT(store_->ReadHistory("orders", kNow, kNow + 3min),
              IsOkAnd(ElementsAre(first, second, third)));
  EXPECT_THAT(store_->ReadHistory("orders", kNow + 1min, kNow + 2min),
              IsOkAnd(ElementsAre(second)));
  EXPECT_THAT(store_->ReadHistory("payments", kNow, kNow + 3min), IsOkAnd(IsEmpty()));
}

TEST_P(StateStoreContract, ASampleOfTheSameMomentReplaces) {
  const std::vector<Sample> samples{SampleAt(kNow, 10), SampleAt(kNow, 20)};
  ASSERT_THAT(store_->AddSamples(samples), IsOk());
  EXPECT_THAT(store_->ReadHistory("orders", kNow, kNow + 1min),
              IsOkAnd(ElementsAre(Field(&HistoryPoint::lag_seconds_max, 20))));
}

TEST_P(StateStoreContract, OldSamplesAreRolledUpOnceAndLateOnesAdded) {
  std::vector<Sample> samples;
  for (int minute = 0; minute < 12; ++minute)
    samples.push_back(SampleAt(kNow + minute * 1min, 10.0 * minute));
  samples[1].status = PipelineStatus::kUnknown;
  samples[1].lag_seconds.reset();
  samples[2].status = PipelineStatus::kBreach;
  ASSERT_THAT(store_->AddSamples(samples), IsOk());
  // Raw is kept from minute 7 on, so the first whole step is rolled up.
  const Retention retention{.raw = 1h, .rolled_up = 24h};
  const WallTime later = kNow + 7min + 1h;
  for (int time = 0; time < 2; ++time) {
    ASSERT_THAT(store_->RollUp(later, retention), IsOk());
    ASSERT_OK_ASSIGN(const auto points, store_->ReadHistory("orders", kNow, kNow + 1h));
    ASSERT_THAT(points, SizeIs(8));
    const HistoryPoint step{.at = kNow,
                            .width = kHistoryStep,
                            .samples = 5,
                            .unknown = 1,
                            .breaches = 1,
                            .lag_seconds_max = 40,
                            .sla_ratio_max = 40.0 / 60};
    EXPECT_EQ(points[0], step) << "roll-up " << time;
    EXPECT_EQ(points[1].at, kNow + 5min);
    EXPECT_EQ(points[1].width, 0ms);
  }
  const Sample late = SampleAt(kNow + 30s, 400);
  ASSERT_THAT(store_->AddSamples({&late, 1}), IsOk());
  ASSERT_THAT(store_->RollUp(later, retention), IsOk());
  ASSERT_OK_ASSIGN(const auto points, store_->ReadHistory("orders", kNow, kNow + 1min));
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points[0].samples, 6);
  EXPECT_EQ(points[0].lag_seconds_max, 400);
}

TEST_P(StateStoreContract, HistoryAndClosedIncidentsOlderThanTheirTimeAreDropped) {
  const Sample sample = SampleAt(kNow, 10);
  ASSERT_THAT(store_->AddSamples({&sample, 1}), IsOk());
  Incident closed = IncidentOf("orders", kNow);
  closed.closed_at = kNow + 1min;
  const Incident open = IncidentOf("payments", kNow);
  const std::vector<Incident> both{closed, open};
  ASSERT_THAT(store_->SaveIncidents(both), IsOk());
  ASSERT_THAT(store_->RollUp(kNow + 25h, {.raw = 1h, .rolled_up = 24h}), IsOk());
  EXPECT_THAT(store_->ReadHistory("orders", kNow - 1h, kNow + 1h), IsOkAnd(IsEmpty()));
  EXPECT_THAT(store_->ReadIncidents("", 10), IsOkAnd(ElementsAre(open)));
}

TEST_P(StateStoreContract, AnAnswerOfHistoryIsBoundedAndKeepsTheNewest) {
  std::vector<Sample> samples;
  const auto count = static_cast<int>(kHistoryPointsMax) + 10;
  for (int i = 0; i < count; ++i) samples.push_back(SampleAt(kNow + i * 1s, i));
  ASSERT_THAT(store_->AddSamples(samples), IsOk());
  ASSERT_OK_ASSIGN(const auto points, store_->ReadHistory("orders", kNow, kNow + 24h));
  ASSERT_THAT(points, SizeIs(kHistoryPointsMax));
  EXPECT_EQ(points.back().lag_seconds_max, count - 1);
}

TEST_P(StateStoreContract, WritingNothingIsFine) {
  EXPECT_THAT(store_->SavePipelines({}), IsOk());
  EXPECT_THAT(store_->SaveIncidents({}), IsOk());
  EXPECT_THAT(store_->AddSamples({}), IsOk());
  EXPECT_THAT(store_->KeepOnly({}), IsOk());
}

}  // namespace tidemark::state
