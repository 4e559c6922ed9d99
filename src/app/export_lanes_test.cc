#include "app/export_lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "metrics/process_points.h"
#include "support/child_process.h"
#include "support/scripted_http_server.h"

namespace tidemark::app {
namespace {

using freshness::PipelineStatus;
using push::IncidentNotice;
using support::HttpReply;
using support::ScriptedHttpServer;
using support::ScriptedReply;
using support::ScriptedRequest;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr WallTime kOpened = WallTimeFromMillis(1'700'000'000'000);

/// Waits until `is_so`; false after a minute.
bool Await(const std::function<bool()>& is_so) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable never;
  for (int i = 0; i < 6000; ++i) {
    if (is_so()) return true;
    never.wait_for(lock, 10ms);
  }
  return false;
}

ExporterConfig Textfile(const std::string& path) {
  return {.name = "textfile",
          .receiver = TextfileOptions{path},
          .interval = 1s,
          .timeout = 10s,
          .series = {}};
}

ExporterConfig Webhook(const std::string& url, Milliseconds give_up_after = 1h) {
  push::WebhookOptions options;
  options.url = url;
  options.give_up_after = give_up_after;
  return {.name = "webhook", .receiver = options, .timeout = 10s, .series = {}};
}

IncidentNotice Breach(int number, PipelineStatus status = PipelineStatus::kBreach) {
  IncidentNotice notice;
  notice.pipeline = "p" + std::to_string(number);
  notice.status = status;
  notice.opened_at = kOpened;
  return notice;
}

class ExportLanesTest : public testing::Test {
 protected:
  std::optional<push::Values> Take() {
    ++taken_;
    if (!has_values_) return std::nullopt;
    push::Values values;
    values.points = metrics::BuildPoints("1");
    return values;
  }

  metrics::ExporterHealth Only() const {
    const auto all = lanes_.Health();
    return all.size() == 1 ? all[0] : metrics::ExporterHealth{};
  }

  static std::vector<std::string> PipelinesOf(const ScriptedHttpServer& server) {
    std::vector<std::string> names;
    for (const ScriptedRequest& request : server.Requests()) {
      const size_t at = request.body.find(R"("pipeline":")") + 12;
      names.push_back(request.body.substr(at, request.body.find('"', at) - at));
    }
    return names;
  }

  SystemClock clock_;
  std::atomic<int> taken_ = 0;
  std::atomic<bool> has_values_ = true;
  support::TemporaryFolder folder_;
  ExportLanes lanes_{
      [this](const SeriesChoice&, std::span<const metrics::ExporterHealth>) { return Take(); },
      clock_};
};

TEST_F(ExportLanesTest, ValuesAreSentAgainAndAgainAndGoneInTheEnd) {
  const std::string path = folder_.path() + "/t.prom";
  lanes_.Set({Textfile(path)});
  EXPECT_TRUE(Await([&] { return Only().deliveries >= 2; }));
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(Only().is_up, true);
  EXPECT_TRUE(Only().last_success);
  lanes_.Set({});
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(ExportLanesTest, NothingIsSentBeforeThereIsAnything) {
  has_values_ = false;
  const std::string path = folder_.path() + "/t.prom";
  lanes_.Set({Textfile(path)});
  EXPECT_TRUE(Await([&] { return taken_ >= 1; }));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(Only().deliveries, 0U);
  EXPECT_EQ(Only().is_up, std::nullopt);
  has_values_ = true;
  EXPECT_TRUE(Await([&] { return Only().deliveries >= 1; }));
}

TEST_F(ExportLanesTest, ADeadReceiverIsCountedAndDelaysNoOther) {
  const ScriptedHttpServer silent([](const ScriptedRequest&, int) {
    ScriptedReply reply = HttpReply(200, "");
    reply.wait_before = 1h;
    return reply;
  });
  ExporterConfig otlp;
  otlp.name = "otlp";
  otlp.receiver = push::OtlpOptions{.endpoint = silent.endpoint(), .headers = {}, .resource = {}};
  otlp.interval = 1s;
  otlp.timeout = 500ms;
  ExporterConfig nowhere = Textfile(folder_.path() + "/missing/t.prom");
  nowhere.name = "nowhere";
  lanes_.Set({otlp, nowhere, Textfile(folder_.path() + "/t.prom")});
  const auto of = [&](const std::string& name) {
    const auto all = lanes_.Health();
    return *std::ranges::find(all, name, &metrics::ExporterHealth::name);
  };
  EXPECT_TRUE(Await([&] {
    return of("textfile").deliveries >= 3 && of("otlp").failures >= 1 &&
           of("nowhere").failures >= 1;
  }));
  EXPECT_EQ(of("otlp").is_up, false);
  EXPECT_EQ(of("otlp").deliveries, 0U);
  EXPECT_EQ(of("nowhere").is_up, false);
}

TEST_F(ExportLanesTest, OneThatStaysTheSameGoesOn) {
  const ScriptedHttpServer server([](const ScriptedRequest&, int) { return HttpReply(200, ""); });
  lanes_.Set({Webhook(server.endpoint())});
  lanes_.Tell(Breach(1));
  EXPECT_TRUE(Await([&] { return Only().deliveries == 1; }));
  lanes_.Set({Webhook(server.endpoint())});
  EXPECT_EQ(Only().deliveries, 1U);
  lanes_.Set({Webhook(server.endpoint() + "/other")});
  EXPECT_EQ(Only().deliveries, 0U);
}

TEST_F(ExportLanesTest, MessagesArriveInTheirOrderAfterFailures) {
  const ScriptedHttpServer server(
      [](const ScriptedRequest&, int number) { return HttpReply(number <= 2 ? 503 : 200, ""); });
  lanes_.Set({Webhook(server.endpoint())});
  lanes_.Tell(Breach(1));
  lanes_.Tell(Breach(2, PipelineStatus::kWarning));  // nobody asked for warnings
  lanes_.Tell(Breach(3));
  EXPECT_TRUE(Await([&] { return Only().deliveries == 2; }));
  EXPECT_THAT(PipelinesOf(server), ElementsAre("p1", "p1", "p1", "p3"));
  EXPECT_EQ(Only().failures, 2U);
  EXPECT_EQ(Only().dropped, 0U);
  EXPECT_EQ(Only().waiting, 0U);
  EXPECT_EQ(Only().is_up, true);
}

TEST_F(ExportLanesTest, WhatIsRefusedForGoodOrTooOldHoldsUpNothing) {
  const ScriptedHttpServer server([](const ScriptedRequest& request, int) {
    if (request.body.contains(R"("p1")")) return HttpReply(400, "");
    return HttpReply(request.body.contains(R"("p2")") ? 503 : 200, "");
  });
  lanes_.Set({Webhook(server.endpoint(), 1ms)});
  for (const int number : {1, 2, 3}) lanes_.Tell(Breach(number));
  EXPECT_TRUE(Await([&] { return Only().deliveries == 1; }));
  EXPECT_EQ(Only().dropped, 2U);
  EXPECT_EQ(PipelinesOf(server).back(), "p3");
}

TEST_F(ExportLanesTest, TooManyMessagesDropTheOldest) {
  const ScriptedHttpServer server([](const ScriptedRequest&, int) {
    ScriptedReply reply = HttpReply(200, "");
    reply.wait_before = 1h;
    return reply;
  });
  lanes_.Set({Webhook(server.endpoint())});
  for (size_t i = 0; i < kEventsWaitingMax + 5; ++i) lanes_.Tell(Breach(static_cast<int>(i)));
  EXPECT_EQ(Only().waiting, kEventsWaitingMax);
  EXPECT_EQ(Only().dropped, 5U);
}

TEST_F(ExportLanesTest, ANewTokenIsTriedOnWhatWaited) {
  const ScriptedHttpServer server([](const ScriptedRequest& request, int) {
    return HttpReply(request.headers.contains("x-token") ? 200 : 401, "");
  });
  lanes_.Set({Webhook(server.endpoint())});
  lanes_.Tell(Breach(1));
  EXPECT_TRUE(Await([&] { return Only().failures >= 1; }));
  ExporterConfig better = Webhook(server.endpoint());
  std::get<push::WebhookOptions>(better.receiver).headers = {{"X-Token", "t"}};
  lanes_.Set({better});
  EXPECT_TRUE(Await([&] { return Only().deliveries == 1; }));
  EXPECT_EQ(PipelinesOf(server).back(), "p1");
}

TEST_F(ExportLanesTest, TheEndDoesNotWaitForAReceiverThatIsSilent) {
  const ScriptedHttpServer server([](const ScriptedRequest&, int) {
    ScriptedReply reply = HttpReply(200, "");
    reply.wait_before = 1h;
    return reply;
  });
  ExporterConfig hook = Webhook(server.endpoint());
  hook.timeout = 5min;
  lanes_.Set({hook});
  lanes_.Tell(Breach(1));
  EXPECT_TRUE(Await([&] { return server.Requests().size() == 1; }));
  lanes_.Set({});  // the test's own time limit is the proof
  EXPECT_TRUE(lanes_.Health().empty());
}

TEST_F(ExportLanesTest, WhoIsHurriedDoesNotWaitForTheNextMoment) {
  ExporterConfig config = Textfile(folder_.path() + "/t.prom");
  config.interval = 1h;
  lanes_.Set({config});
  ASSERT_TRUE(Await([&] { return Only().deliveries == 1; }));
  lanes_.Hurry();
  EXPECT_TRUE(Await([&] { return Only().deliveries == 2; }));
}

}  // namespace
}  // namespace tidemark::app
