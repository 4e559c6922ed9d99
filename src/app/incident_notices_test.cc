#include "app/incident_notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tidemark::app {
namespace {

using freshness::PipelineReport;
using freshness::PipelineStatus;
using push::IncidentNotice;
using state::Incident;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr WallTime kNow = std::chrono::sys_days(std::chrono::year(2026) / 11 / 30) + 3h;

PipelineReport ReportOf(PipelineStatus status, WallTime at) {
  PipelineReport report;
  report.pipeline = "orders";
  report.cluster = "main";
  report.table = "s3://lake/orders";
  report.labels = {{"team", "pay"}};
  report.message = "do something";
  report.status = status;
  report.observed_at = at;
  return report;
}

Config ConfigOf(std::vector<std::string> pipelines) {
  Config config;
  for (std::string& name : pipelines) {
    PipelineConfig pipeline;
    pipeline.spec.name = std::move(name);
    pipeline.spec.table = "s3://lake/orders";
    pipeline.spec.cluster = "main";
    config.pipelines.push_back(std::move(pipeline));
  }
  return config;
}

Incident IncidentOf(WallTime opened_at, std::optional<WallTime> closed_at) {
  return {.pipeline = "orders",
          .status = PipelineStatus::kBreach,
          .reason = "data_lost",
          .opened_at = opened_at,
          .closed_at = closed_at};
}

/// "open 0", "close 5": event and minutes before kNow of its moment.
std::vector<std::string> EventsOf(const std::vector<IncidentNotice>& notices) {
  std::vector<std::string> events;
  for (const IncidentNotice& notice : notices) {
    const auto at = kNow - notice.closed_at.value_or(notice.opened_at);
    events.push_back((notice.closed_at ? "close " : "open ") +
                     std::to_string(std::chrono::duration_cast<std::chrono::minutes>(at).count()));
  }
  return events;
}

TEST(IncidentNoticesTest, AnIncidentIsToldWhenItOpensAndWhenItCloses) {
  IncidentNotices notices({});
  EXPECT_THAT(notices.Note(ReportOf(PipelineStatus::kFresh, kNow)), IsEmpty());
  const auto opened = notices.Note(ReportOf(PipelineStatus::kBreach, kNow));
  ASSERT_THAT(opened, SizeIs(1));
  EXPECT_EQ(opened[0].cluster, "main");
  EXPECT_EQ(opened[0].table, "s3://lake/orders");
  EXPECT_EQ(opened[0].labels.at("team"), "pay");
  EXPECT_EQ(opened[0].message, "do something");
  EXPECT_EQ(opened[0].closed_at, std::nullopt);
  EXPECT_THAT(notices.Note(ReportOf(PipelineStatus::kBreach, kNow + 1min)), IsEmpty());
  const auto closed = notices.Note(ReportOf(PipelineStatus::kFresh, kNow + 2min));
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(push::IncidentId(closed[0]), push::IncidentId(opened[0]));
  EXPECT_EQ(closed[0].closed_at, kNow + 2min);
}

TEST(IncidentNoticesTest, AnIncidentOfAnEarlierProcessClosesUnderItsOwnId) {
  IncidentNotices notices({IncidentOf(kNow - 3h, {})});
  const auto closed = notices.Note(ReportOf(PipelineStatus::kFresh, kNow));
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].opened_at, kNow - 3h);
  EXPECT_EQ(closed[0].reason, "data_lost");
}

TEST(IncidentNoticesTest, APipelineThatIsTakenAwayClosesItsIncident) {
  IncidentNotices notices({});
  notices.Note(ReportOf(PipelineStatus::kBreach, kNow));
  EXPECT_THAT(notices.KeepOnly(ConfigOf({"orders"}), kNow + 1min), IsEmpty());
  const auto closed = notices.KeepOnly(ConfigOf({"other"}), kNow + 1min);
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].table, "s3://lake/orders");
  EXPECT_EQ(closed[0].closed_at, kNow + 1min);
}

TEST(IncidentNoticesTest, WhatMayNotHaveArrivedIsToldAgain) {
  const Config config = ConfigOf({"orders"});
  const auto events = [&](WallTime opened_at, std::optional<WallTime> closed_at) {
    return EventsOf(NoticesToRepeat({IncidentOf(opened_at, closed_at)}, config, kNow));
  };
  EXPECT_THAT(events(kNow, {}), ElementsAre("open 0"));
  EXPECT_THAT(events(kNow - 59min, {}), ElementsAre("open 59"));
  EXPECT_THAT(events(kNow - 1h, {}), IsEmpty());
  EXPECT_THAT(events(kNow - 30min, kNow - 5min), ElementsAre("open 30", "close 5"));
  EXPECT_THAT(events(kNow - 3h, kNow - 5min), ElementsAre("close 5"));
  EXPECT_THAT(events(kNow - 3h, kNow - 1h), IsEmpty());
}

TEST(IncidentNoticesTest, TheyAreToldAgainInTheirOrder) {
  const Config config = ConfigOf({"orders"});
  EXPECT_THAT(
      EventsOf(NoticesToRepeat(
          {IncidentOf(kNow - 10min, {}), IncidentOf(kNow - 30min, kNow - 10min)}, config, kNow)),
      ElementsAre("open 30", "open 10", "close 10"));
}

TEST(IncidentNoticesTest, IncidentsThatComeFromAnotherInstanceGoOnAndThoseThatGoThereEnd) {
  const state::Incident open{.pipeline = "orders",
                             .status = PipelineStatus::kBreach,
                             .reason = "ok",
                             .opened_at = kNow - 1h,
                             .closed_at = {}};
  IncidentNotices notices({});
  notices.Adopt({open});
  EXPECT_THAT(notices.Note(ReportOf(PipelineStatus::kBreach, kNow)), IsEmpty());
  const auto released = notices.Release({"orders", "never heard of"}, kNow + 1min);
  ASSERT_THAT(released, SizeIs(1));
  EXPECT_EQ(released[0].opened_at, kNow - 1h);
  EXPECT_EQ(released[0].closed_at, kNow + 1min);
  // It is nobody's here any more.
  EXPECT_THAT(notices.Release({"orders"}, kNow + 2min), IsEmpty());
}

}  // namespace
}  // namespace tidemark::app
