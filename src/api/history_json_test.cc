#include "api/history_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tidemark::api {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow = std::chrono::sys_days(std::chrono::year(2026) / 11 / 30) + 3h;

TEST(HistoryJsonTest, PointsAreGivenWithNullForWhatWasSuppressed) {
  const std::vector<state::HistoryPoint> points{{.at = kNow,
                                                 .width = 5min,
                                                 .samples = 5,
                                                 .unknown = 1,
                                                 .breaches = 2,
                                                 .lag_seconds_max = 90.5,
                                                 .sla_ratio_max = 1.5},
                                                {.at = kNow + 5min, .samples = 1, .unknown = 1}};
  EXPECT_EQ(
      HistoryJson("a \"b\"", kNow, kNow + 1h, points),
      R"({"schema":"tidemark.history/1","pipeline":"a \"b\"","from":"2026-11-30T03:00:00.000Z",)"
      R"("to":"2026-11-30T04:00:00.000Z","complete":true,"points":[)"
      R"({"at":"2026-11-30T03:00:00.000Z","width_seconds":300.0,"samples":5,"unknown":1,)"
      R"("breaches":2,"lag_seconds_max":90.5,"sla_ratio_max":1.5},)"
      R"({"at":"2026-11-30T03:05:00.000Z","width_seconds":0.0,"samples":1,"unknown":1,)"
      R"("breaches":0,"lag_seconds_max":null,"sla_ratio_max":null}]})");
}

TEST(HistoryJsonTest, AnAnswerThatMayHaveBeenCutSaysSo) {
  using testing::HasSubstr;
  std::vector<state::HistoryPoint> points(state::kHistoryPointsMax);
  EXPECT_THAT(HistoryJson("a", kNow, kNow, points), HasSubstr(R"("complete":false)"));
  points.pop_back();
  EXPECT_THAT(HistoryJson("a", kNow, kNow, points), HasSubstr(R"("complete":true)"));
}

TEST(HistoryJsonTest, AnOpenIncidentHasNoEnd) {
  const std::vector<state::Incident> incidents{{.pipeline = "orders",
                                                .status = freshness::PipelineStatus::kBreach,
                                                .reason = "data_lost",
                                                .opened_at = kNow,
                                                .closed_at = {}},
                                               {.pipeline = "orders",
                                                .status = freshness::PipelineStatus::kUnknown,
                                                .reason = "timeout",
                                                .opened_at = kNow - 1h,
                                                .closed_at = kNow}};
  EXPECT_EQ(IncidentsJson(incidents),
            R"({"schema":"tidemark.incidents/1","incidents":[)"
            R"({"pipeline":"orders","status":"breach","reason":"data_lost",)"
            R"("opened_at":"2026-11-30T03:00:00.000Z","closed_at":null},)"
            R"({"pipeline":"orders","status":"unknown","reason":"timeout",)"
            R"("opened_at":"2026-11-30T02:00:00.000Z","closed_at":"2026-11-30T03:00:00.000Z"}]})");
}

TEST(HistoryJsonTest, EachPipelineSaysWhetherItIsReportedHere) {
  EXPECT_EQ(CoordinationJson({.group = "g",
                              .topic = "t",
                              .is_member = true,
                              .why_not = "",
                              .pipelines = {{.name = "a", .part = 3, .is_ours = true},
                                            {.name = "b", .part = 63, .is_ours = false}}}),
            R"({"schema":"tidemark.coordination/1","group":"g","topic":"t","member":true,)"
            R"("message":null,"pipelines":[{"pipeline":"a","partition":3,"reported_here":true},)"
            R"({"pipeline":"b","partition":63,"reported_here":false}]})");
  EXPECT_EQ(
      CoordinationJson(
          {.group = "g", .topic = "t", .is_member = false, .why_not = "why", .pipelines = {}}),
      R"({"schema":"tidemark.coordination/1","group":"g","topic":"t","member":false,)"
      R"("message":"why","pipelines":[]})");
}

}  // namespace
}  // namespace tidemark::api
