#include "push/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/result_matchers.h"
#include "support/scripted_http_server.h"

namespace tidemark::push {
namespace {

using namespace std::chrono_literals;
using support::HttpReply;
using support::IsError;
using support::IsOk;
using support::ScriptedHttpServer;
using support::ScriptedRequest;
using testing::_;

IncidentNotice Breach() {
  IncidentNotice notice;
  notice.pipeline = "orders";
  notice.cluster = "main";
  notice.table = "s3://lake/orders";
  notice.labels = {{"team", "pay"}};
  notice.status = freshness::PipelineStatus::kBreach;
  notice.reason = "data_lost";
  notice.message = "3 records \"expired\"";
  notice.opened_at = WallTimeFromMillis(1'700'000'000'123);
  return notice;
}

// Written by hand from docs/exporters.md.
TEST(WebhookTest, AnIncidentOpensAndClosesUnderOneId) {
  IncidentNotice notice = Breach();
  const std::string id = "orders/breach/2023-11-14T22:13:20.123Z";
  EXPECT_EQ(IncidentJson(notice),
            R"({"schema":"tidemark.incident/1","id":")" + id +
                R"(","event":"open","pipeline":"orders","cluster":"main",)"
                R"("table":"s3://lake/orders","labels":{"team":"pay"},"status":"breach",)"
                R"("reason":"data_lost","message":"3 records \"expired\"",)"
                R"("opened_at":"2023-11-14T22:13:20.123Z","closed_at":null})");
  notice.closed_at = notice.opened_at + 1s;
  notice.message.reset();
  EXPECT_EQ(IncidentJson(notice),
            R"({"schema":"tidemark.incident/1","id":")" + id +
                R"(","event":"close","pipeline":"orders","cluster":"main",)"
                R"("table":"s3://lake/orders","labels":{"team":"pay"},"status":"breach",)"
                R"("reason":"data_lost","message":null,)"
                R"("opened_at":"2023-11-14T22:13:20.123Z",)"
                R"("closed_at":"2023-11-14T22:13:21.123Z"})");
}

TEST(WebhookTest, AMessageIsPostedOnce) {
  const ScriptedHttpServer server(
      [](const ScriptedRequest&, int number) { return HttpReply(number == 1 ? 204 : 410, ""); });
  WebhookOptions options;
  options.url = server.endpoint() + "/hook";
  options.headers = {{"X-Token", "s3cr3t"}};
  Webhook webhook(options);
  EXPECT_THAT(webhook.Tell(Breach(), Budget::For(10s)), IsOk());
  EXPECT_THAT(webhook.Tell(Breach(), Budget::For(10s)), IsError(ErrorKind::kInvalidArgument, _));
  ASSERT_EQ(server.Requests().size(), 2U);
  EXPECT_EQ(server.Requests()[0].target, "/hook");
  EXPECT_EQ(server.Requests()[0].headers.at("x-token"), "s3cr3t");
  EXPECT_EQ(server.Requests()[0].body, IncidentJson(Breach()));
}

}  // namespace
}  // namespace tidemark::push
