#include "http/server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/plain_connection.h"
#include "support/result_matchers.h"

namespace tidemark::http {
namespace {

using support::IsError;
using support::IsOk;
using Connection = support::PlainConnection;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

Router TestRouter() {
  Router router;
  router.Add("GET", "/hello", [](const Request& request, const std::vector<std::string>&) {
    Response response;
    response.content_type = "text/plain";
    response.body = "hello " + request.query.at("name");
    return response;
  });
  router.Add("POST", "/echo", [](const Request& request, const std::vector<std::string>&) {
    Response response;
    response.body = request.body;
    return response;
  });
  router.Add("GET", "/events", [](const Request&, const std::vector<std::string>&) {
    Response response;
    response.is_event_stream = true;
    return response;
  });
  return router;
}

class ServerTest : public ::testing::Test {
 protected:
  void Start(Router router = TestRouter()) {
    auto server = Server::Start(options_, std::move(router));
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
  }
  /// The whole answer to a request that asks to close.
  std::string Get(const std::string& path, const std::string& more = "") {
    Connection connection(server_->port());
    connection.Send(
        fmt::format("GET {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{}\r\n", path, more));
    return connection.ReadToEnd();
  }

  ServerOptions options_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, ARequestIsAnswered) {
  Start();
  const std::string answer = Get("/hello?name=you");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain\r\n"));
  EXPECT_THAT(answer, ::testing::EndsWith("\r\n\r\nhello you"));
}

TEST_F(ServerTest, OneConnectionCarriesManyRequests) {
  Start();
  Connection connection(server_->port());
  for (int i = 0; i < 3; ++i) {
    connection.Send(fmt::format("GET /hello?name={} HTTP/1.1\r\nHost: x\r\n\r\n", i));
    EXPECT_THAT(connection.ReadUntil(fmt::format("hello {}", i)),
                HasSubstr(fmt::format("hello {}", i)));
  }
}

TEST_F(ServerTest, RequestsSentTogetherAreAnsweredInOrder) {
  Start();
  Connection connection(server_->port());
  connection.Send(
      "GET /hello?name=1 HTTP/1.1\r\nHost: x\r\n\r\nGET /hello?name=2 HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string answers = connection.ReadUntil("hello 2");
  EXPECT_LT(answers.find("hello 1"), answers.find("hello 2"));
}

TEST_F(ServerTest, HeadGivesTheHeaderAlone) {
  Start();
  Connection connection(server_->port());
  connection.Send("HEAD /hello?name=you HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answer = connection.ReadToEnd();
  EXPECT_THAT(answer, HasSubstr("Content-Length: 9\r\n"));
  EXPECT_THAT(answer, ::testing::EndsWith("\r\n\r\n"));
}

TEST_F(ServerTest, HeadOfAStreamEndsWithItsHeader) {
  Start();
  Connection connection(server_->port());
  connection.Send("HEAD /events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answer = connection.ReadToEnd();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, ::testing::EndsWith("\r\n\r\n"));
  EXPECT_FALSE(server_->has_streams());
}

TEST_F(ServerTest, WhoAsksWhetherTheBodyIsWantedIsTold) {
  Start();
  Connection connection(server_->port());
  connection.Send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_THAT(connection.ReadUntil("\r\n\r\n"), HasSubstr("HTTP/1.1 100 Continue\r\n"));
  connection.Send("hi");
  EXPECT_THAT(connection.ReadUntil("hi"), HasSubstr("HTTP/1.1 200 "));
}

TEST_F(ServerTest, WhatIsNoHttpIs400AndTheConnectionEnds) {
  Start();
  for (const char* nonsense :
       {"\x16\x03\x01\x02", "GET\r\n\r\n", "GET / SPDY/9\r\n\r\n", "\r\n\r\n\r\n"}) {
    Connection connection(server_->port());
    connection.Send(nonsense);
    connection.Send("\r\n\r\n");
    EXPECT_THAT(connection.ReadToEnd(), StartsWith("HTTP/1.1 400 ")) << nonsense;
    EXPECT_TRUE(connection.is_closed());
  }
}

TEST_F(ServerTest, ABrokenEscapeIs400) {
  Start();
  EXPECT_THAT(Get("/hello%zz"), StartsWith("HTTP/1.1 400 "));
}

TEST_F(ServerTest, ABodyOverTheBoundIs413) {
  options_.body_size_max = 100;
  Start();
  Connection connection(server_->port());
  connection.Send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n" +
                  std::string(101, 'x'));
  EXPECT_THAT(connection.ReadToEnd(), StartsWith("HTTP/1.1 413 "));
  Connection chunked(server_->port());
  chunked.Send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" +
               std::string(101, 'x') + "\r\n0\r\n\r\n");
  EXPECT_THAT(chunked.ReadToEnd(), StartsWith("HTTP/1.1 413 "));
}

TEST_F(ServerTest, AHeaderOverTheBoundIs431) {
  Start();
  EXPECT_THAT(Get("/hello?name=x", "X-Long: " + std::string(20'000, 'x') + "\r\n"),
              StartsWith("HTTP/1.1 431 "));
}

TEST_F(ServerTest, ARequestThatNeverEndsIsCutOff) {
  options_.request_deadline = 200ms;
  Start();
  Connection connection(server_->port());
  connection.Send("GET /hello?name=x HTTP/1.1\r\nHost");
  connection.ReadToEnd();
  EXPECT_TRUE(connection.is_closed());
}

TEST_F(ServerTest, AnIdleConnectionIsClosed) {
  options_.idle_limit = 200ms;
  Start();
  Connection connection(server_->port());
  connection.Send("GET /hello?name=x HTTP/1.1\r\nHost: x\r\n\r\n");
  connection.ReadToEnd();
  EXPECT_TRUE(connection.is_closed());
}

TEST_F(ServerTest, ConnectionsOverTheBoundAre503) {
  options_.connections_max = 2;
  Start();
  std::vector<std::unique_ptr<Connection>> open;
  for (int i = 0; i < 2; ++i) {
    open.push_back(std::make_unique<Connection>(server_->port()));
    open.back()->Send("GET /hello?name=x HTTP/1.1\r\nHost: x\r\n\r\n");
    open.back()->ReadUntil("hello x");
  }
  EXPECT_THAT(Connection(server_->port()).ReadToEnd(), StartsWith("HTTP/1.1 503 "));
  open.pop_back();
  // The place is free again as soon as the server has noticed.
  for (int i = 0; i < 1000; ++i)
    if (Get("/hello?name=x").starts_with("HTTP/1.1 200")) return;
  FAIL() << "the place of a closed connection stays taken";
}

TEST_F(ServerTest, WhoMayNotAskGets401WhateverThePath) {
  options_.is_allowed = [](const Request& request) {
    const auto found = request.headers.find("authorization");
    return found != request.headers.end() && found->second == "Bearer right";
  };
  Start();
  EXPECT_THAT(Get("/hello?name=x"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(Get("/nowhere"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(Get("/hello?name=x", "AUTHORIZATION: Bearer right\r\n"), StartsWith("HTTP/1.1 200 "));
}

/// A server that wants "Bearer right".
class GuardedServerTest : public ServerTest {
 protected:
  GuardedServerTest() {
    options_.is_allowed = [](const Request& request) {
      const auto found = request.headers.find("authorization");
      return request.segments == std::vector<std::string>{"open"} ||
             (found != request.headers.end() && found->second == "Bearer right");
    };
    options_.body_size_max = size_t{16} << 20U;
  }
  static Router GuardedRouter() {
    Router router = TestRouter();
    router.Add("GET", "/open", [](const Request&, const std::vector<std::string>&) {
      return Response{.body = "open", .headers = {}};
    });
    return router;
  }
};

TEST_F(GuardedServerTest, WhoMayNotAskLearnsItBeforeTheBody) {
  Start(GuardedRouter());
  for (const char* length : {"Content-Length: 16000000", "Transfer-Encoding: chunked"}) {
    Connection connection(server_->port());
    connection.Send(fmt::format("POST /echo HTTP/1.1\r\nHost: x\r\n{}\r\n\r\n", length));
    EXPECT_THAT(connection.ReadUntil("}}", 5s), StartsWith("HTTP/1.1 401 ")) << length;
  }
}

TEST_F(GuardedServerTest, WhatIsNotThereIsSaidBeforeTheBody) {
  Start(GuardedRouter());
  const std::string rest =
      " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer right\r\n"
      "Content-Length: 16000000\r\n\r\n";
  Connection nowhere(server_->port());
  nowhere.Send("POST /nowhere" + rest);
  EXPECT_THAT(nowhere.ReadUntil("}}", 5s), StartsWith("HTTP/1.1 404 "));
  Connection other_method(server_->port());
  other_method.Send("POST /open" + rest);
  EXPECT_THAT(other_method.ReadUntil("}}", 5s), StartsWith("HTTP/1.1 405 "));
}

TEST_F(GuardedServerTest, OnlyAPostHasABodyOfSize) {
  Start(GuardedRouter());
  Connection connection(server_->port());
  connection.Send("GET /open HTTP/1.1\r\nHost: x\r\nContent-Length: 16385\r\n\r\n");
  EXPECT_THAT(connection.ReadUntil("}}", 5s), StartsWith("HTTP/1.1 413 "));
  Connection chunked(server_->port());
  chunked.Send("GET /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4001\r\n" +
               std::string(0x4001, 'x') + "\r\n");
  EXPECT_THAT(chunked.ReadUntil("}}", 5s), StartsWith("HTTP/1.1 413 "));
  Connection small(server_->port());
  small.Send("GET /open HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_THAT(small.ReadUntil("open", 5s), StartsWith("HTTP/1.1 200 "));
}

TEST_F(GuardedServerTest, WhoSendsTheBodyAllTheSameReadsTheRefusal) {
  Start(GuardedRouter());
  // More than the buffers of the connection hold.
  const std::string body(size_t{12} << 20U, 'x');
  Connection connection(server_->port());
  connection.Send(
      fmt::format("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.size()));
  connection.Send(body);
  EXPECT_THAT(connection.ReadUntil("}}", 5s), StartsWith("HTTP/1.1 401 "));
}

TEST_F(GuardedServerTest, ARefusalWithoutABodyLeavesTheConnectionOpen) {
  Start(GuardedRouter());
  Connection connection(server_->port());
  connection.Send("GET /hello?name=x HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(connection.ReadUntil("}}", 5s), StartsWith("HTTP/1.1 401 "));
  connection.Send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer right\r\n"
      "Content-Length: 4\r\n\r\nbody");
  EXPECT_THAT(connection.ReadUntil("body", 5s), ::testing::EndsWith("\r\n\r\nbody"));
}

TEST_F(ServerTest, EventsReachEveryOpenStream) {
  Start();
  Connection first(server_->port());
  Connection second(server_->port());
  for (Connection* each : {&first, &second}) {
    each->Send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(each->ReadUntil(": tidemark\n\n"), HasSubstr("text/event-stream"));
  }
  server_->Publish("report", "{\"a\":1}");
  server_->Publish("report", "{\"a\":2}");
  for (Connection* each : {&first, &second})
    EXPECT_THAT(each->ReadUntil("{\"a\":2}\n\n"),
                HasSubstr("event: report\ndata: {\"a\":1}\n\nevent: report\ndata: {\"a\":2}\n\n"));
}

TEST_F(ServerTest, AClientThatLeavesItsStreamMakesRoomForAnother) {
  options_.streams_max = 1;
  Start();
  const auto open = [&] {
    auto stream = std::make_unique<Connection>(server_->port());
    stream->Send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string answer = stream->ReadUntil("\r\n");
    return answer.starts_with("HTTP/1.1 200 ") ? std::move(stream) : nullptr;
  };
  auto first = open();
  ASSERT_TRUE(first);
  EXPECT_FALSE(open());
  first.reset();
  // Long before a heartbeat would have met a closed connection.
  const auto until = std::chrono::steady_clock::now() + 5s;
  std::unique_ptr<Connection> second;
  while (!second && std::chrono::steady_clock::now() < until) second = open();
  EXPECT_TRUE(second);
}

TEST_F(ServerTest, AStreamThatDoesNotReadIsClosedAndHoldsUpNobody) {
  options_.events_behind_max = 4;
  options_.request_deadline = 500ms;
  Start();
  Connection lazy(server_->port());
  lazy.Send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
  lazy.ReadUntil(": tidemark\n\n");
  const std::string large(1 << 20U, 'x');
  for (int i = 0; i < 64; ++i) server_->Publish("report", large);
  EXPECT_THAT(Get("/hello?name=x"), StartsWith("HTTP/1.1 200 "));
  lazy.ReadToEnd();
  EXPECT_TRUE(lazy.is_closed());
}

TEST_F(ServerTest, StopFinishesWhatIsBeingAnswered) {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_inside = false, may_go = false;
  Router router;
  router.Add("GET", "/slow", [&](const Request&, const std::vector<std::string>&) {
    std::unique_lock lock(mutex);
    is_inside = true;
    changed.notify_all();
    changed.wait(lock, [&] { return may_go; });
    return Response{.body = "done", .headers = {}};
  });
  Start(std::move(router));
  Connection connection(server_->port());
  connection.Send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return is_inside; });
  }
  std::jthread stopping([&] { server_->Stop(20s); });
  {
    const std::lock_guard lock(mutex);
    may_go = true;
  }
  changed.notify_all();
  EXPECT_THAT(connection.ReadUntil("done"), HasSubstr("done"));
}

/// A router of which GET /waits hangs until it is let go or asked to stop.
class WaitingServerTest : public ServerTest {
 protected:
  ~WaitingServerTest() override {
    LetGo();
    server_.reset();  // its handlers use what stands below
  }

  Router WaitingRouter() {
    Router router = TestRouter();
    router.Add(
        "GET", "/waits",
        [this](const Request& request, const std::vector<std::string>&) {
          std::unique_lock lock(mutex_);
          ++begun_;
          changed_.notify_all();
          const bool is_let_go = changed_.wait(lock, request.stop, [&] { return is_let_go_; });
          return Response{.body = is_let_go ? "done" : "stopped", .headers = {}};
        },
        Pace::kMayWait);
    return router;
  }
  std::unique_ptr<Connection> Ask(const std::string& path) {
    auto connection = std::make_unique<Connection>(server_->port());
    connection->Send(fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", path));
    return connection;
  }
  bool AwaitBegun(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return begun_ >= count; });
  }
  struct Filled {
    std::unique_ptr<Connection> first;
    std::unique_ptr<Connection> queued;
    std::string refusal;  ///< of what came then
  };
  /// Takes the only thread and the only place that there is to wait for it.
  Filled Fill() {
    Filled filled{.first = Ask("/waits"), .queued = {}, .refusal = {}};
    if (!AwaitBegun(1)) return filled;
    filled.queued = Ask("/waits");
    // Whichever of the two is read last is one too many.
    auto other = Ask("/waits");
    for (int i = 0; i < 200 && filled.refusal.empty(); ++i) {
      filled.refusal = other->ReadUntil("}}", 50ms);
      if (filled.refusal.empty()) std::swap(other, filled.queued);
    }
    return filled;
  }
  int begun() {
    const std::lock_guard lock(mutex_);
    return begun_;
  }
  void LetGo() {
    const std::lock_guard lock(mutex_);
    is_let_go_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  int begun_ = 0;           // guarded by mutex_
  bool is_let_go_ = false;  // guarded by mutex_
};

TEST_F(WaitingServerTest, RequestsThatWaitHoldUpNoOther) {
  options_.threads = 1;
  options_.waiting_threads = 2;
  Start(WaitingRouter());
  const auto first = Ask("/waits"), second = Ask("/waits"), third = Ask("/waits");
  ASSERT_TRUE(AwaitBegun(2));
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(Ask("/hello?name=x")->ReadUntil("hello x", 2s), HasSubstr("hello x"));
  LetGo();
  for (const auto* each : {&first, &second, &third})
    EXPECT_THAT((*each)->ReadUntil("done"), HasSubstr("done"));
}

TEST_F(WaitingServerTest, MoreThanThePoolAndItsQueueHoldIs503AndSaysWhenToComeAgain) {
  options_.waiting_threads = 1;
  options_.waiting_queue_max = 1;
  Start(WaitingRouter());
  const auto [first, queued, refusal] = Fill();
  EXPECT_THAT(refusal, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(refusal, HasSubstr("\r\nRetry-After: "));
  EXPECT_THAT(refusal, HasSubstr("too many requests"));
  EXPECT_THAT(Ask("/hello?name=x")->ReadUntil("hello x", 2s), HasSubstr("hello x"));
  LetGo();
  EXPECT_THAT(first->ReadUntil("done"), HasSubstr("done"));
  EXPECT_THAT(queued->ReadUntil("done"), HasSubstr("done"));
  // There is room again.
  EXPECT_THAT(Ask("/waits")->ReadUntil("done"), HasSubstr("done"));
}

TEST_F(WaitingServerTest, AClientThatLeavesBeforeItsAnswerHarmsNobody) {
  options_.waiting_threads = 1;
  Start(WaitingRouter());
  auto gone = Ask("/waits");
  ASSERT_TRUE(AwaitBegun(1));
  auto gone_from_the_queue = Ask("/waits");
  gone.reset();
  gone_from_the_queue.reset();
  LetGo();
  EXPECT_THAT(Ask("/waits")->ReadUntil("done"), HasSubstr("done"));
}

TEST_F(WaitingServerTest, StopFinishesWhatWaitsForAThreadToo) {
  options_.waiting_threads = 1;
  options_.waiting_queue_max = 1;
  Start(WaitingRouter());
  const auto [first, queued, refusal] = Fill();
  std::jthread stopping([&] { server_->Stop(20s); });
  LetGo();
  EXPECT_THAT(first->ReadUntil("done"), HasSubstr("done"));
  EXPECT_THAT(queued->ReadUntil("done"), HasSubstr("done"));
}

TEST_F(WaitingServerTest, StopEndsAfterItsGraceWhateverIsWaitedFor) {
  options_.waiting_threads = 1;
  options_.waiting_queue_max = 1;
  Start(WaitingRouter());
  const auto [first, queued, refusal] = Fill();
  const auto began = std::chrono::steady_clock::now();
  server_->Stop(200ms);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 200ms);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  EXPECT_EQ(begun(), 1);  // the one that waited for a thread was not begun
  server_.reset();
  first->ReadToEnd();
  queued->ReadToEnd();
  EXPECT_TRUE(first->is_closed());
  EXPECT_TRUE(queued->is_closed());
}

TEST_F(ServerTest, StopEndsStreamsAndIdleConnections) {
  Start();
  Connection stream(server_->port());
  stream.Send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
  stream.ReadUntil(": tidemark\n\n");
  Connection idle(server_->port());
  idle.Send("GET /hello?name=x HTTP/1.1\r\nHost: x\r\n\r\n");
  idle.ReadUntil("hello x");
  server_->Stop(20s);
  server_.reset();
  stream.ReadToEnd();
  idle.ReadToEnd();
  EXPECT_TRUE(stream.is_closed());
  EXPECT_TRUE(idle.is_closed());
}

TEST_F(ServerTest, AnAddressThatCannotBeListenedOnIsNamed) {
  Start();
  ServerOptions taken;
  taken.port = server_->port();
  EXPECT_THAT(Server::Start(taken, TestRouter()),
              IsError(ErrorKind::kUnavailable, HasSubstr(fmt::format("port={}", taken.port))));
  ServerOptions wrong;
  wrong.address = "localhost:80";
  EXPECT_THAT(Server::Start(wrong, TestRouter()),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("localhost:80")));
  ServerOptions bare;
  bare.tls = TlsFiles{"/nowhere/cert.pem", "/nowhere/key.pem"};
  EXPECT_THAT(Server::Start(bare, TestRouter()),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("/nowhere/cert.pem")));
}

}  // namespace
}  // namespace tidemark::http
