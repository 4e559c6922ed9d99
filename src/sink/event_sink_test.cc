#include "sink/event_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/scripted_http_server.h"

namespace tidemark::sink {
namespace {

using support::HttpReply;
using support::ScriptedHttpServer;
using support::ScriptedRequest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Budget Short() {
  return Budget::For(std::chrono::seconds(10));
}

TEST(EventBatchesTest, HoldSoManyEventsAndBytesAtMost) {
  EXPECT_THAT(EventBatches({"{}", "{}", "{}"}, 1), ElementsAre("{}", "{}", "{}"));
  EXPECT_THAT(EventBatches({"1", "2", "3"}, 2), ElementsAre("[1,2]", "[3]"));
  EXPECT_THAT(EventBatches({}, 10), IsEmpty());
  const std::string large(kEventBytesMax - 1, 'x');
  EXPECT_THAT(EventBatches({"1", large, "2"}, 10), ElementsAre("[1," + large + "]", "[2]"));
  const std::string larger(kEventBytesMax + 1, 'x');
  EXPECT_THAT(EventBatches({"1", larger, "2"}, 10), ElementsAre("[1]", "[" + larger + "]", "[2]"));
}

TEST(EventSinkTest, EventsGoOutInOrderEachOnItsOwn) {
  ScriptedHttpServer server([](const ScriptedRequest&, int) { return HttpReply(204, ""); });
  EventSink sink({.url = server.endpoint() + "/hook", .headers = {{"X-Key", "k"}}});
  const TableView view;
  const TableDelta delta{
      .from = {1, 1}, .to = {1, 2}, .events = {R"({"id":"a"})", R"({"id":"b"})"}};
  EXPECT_EQ(sink.Apply({.now = view, .stamp = {1, 2}, .delta = &delta}, Short()).kind,
            OutcomeKind::kApplied);
  const auto requests = server.Requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].body, R"({"id":"a"})");
  EXPECT_EQ(requests[0].headers.at("content-type"), "application/cloudevents+json; charset=utf-8");
  EXPECT_EQ(requests[0].headers.at("x-key"), "k");
  EXPECT_EQ(requests[1].body, R"({"id":"b"})");
}

TEST(EventSinkTest, WhatLedHereIsNotKnownSoAResyncIsTold) {
  ScriptedHttpServer server([](const ScriptedRequest&, int) { return HttpReply(200, ""); });
  EventSink sink({.url = server.endpoint(), .batch = 50});
  TableView view;
  view.identity = {.uid = "0123", .table_id = "sales.orders", .base_path = "s3://lake/orders"};
  view.schema.fingerprint = "ff";
  EXPECT_EQ(sink.Apply({.now = view, .stamp = {2, 9}}, Short()).kind, OutcomeKind::kApplied);
  const auto request = server.Requests().at(0);
  EXPECT_EQ(request.headers.at("content-type"),
            "application/cloudevents-batch+json; charset=utf-8");
  const auto event = nlohmann::json::parse(request.body).at(0);
  EXPECT_EQ(event["id"], "0123/2/9/resync");
  EXPECT_EQ(event["type"], "hudi.metadata.resync.v1");
  EXPECT_EQ(event["sequence"], "00000000000000000009");
  EXPECT_EQ(event["data"]["schemaFingerprint"], "ff");
}

TEST(EventSinkTest, RefusalsAreWhatTheirStatusSays) {
  int status = 500;
  ScriptedHttpServer server([&](const ScriptedRequest&, int) { return HttpReply(status, "no"); });
  EventSink sink({.url = server.endpoint()});
  const TableView view;
  const SinkUpdate update{.now = view, .stamp = {1, 1}};
  for (const auto& [code, kind] :
       std::vector<std::pair<int, OutcomeKind>>{{500, OutcomeKind::kTemporary},
                                                {429, OutcomeKind::kTemporary},
                                                {401, OutcomeKind::kTemporary},
                                                {400, OutcomeKind::kPermanent},
                                                {410, OutcomeKind::kPermanent}}) {
    status = code;
    EXPECT_EQ(sink.Apply(update, Short()).kind, kind) << code;
  }
}

TEST(EventSinkTest, WhatWasSentIsNotSentAgain) {
  ScriptedHttpServer server([](const ScriptedRequest&, int) { return HttpReply(200, ""); });
  EventSink sink({.url = server.endpoint()});
  const TableView view;
  sink.Apply({.now = view, .stamp = {1, 1}, .applied = SinkStamp{1, 1}}, Short());
  EXPECT_THAT(server.Requests(), IsEmpty());
}

}  // namespace
}  // namespace tidemark::sink
