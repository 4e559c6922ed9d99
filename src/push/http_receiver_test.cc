#include "push/http_receiver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/child_process.h"
#include "support/result_matchers.h"
#include "support/scripted_http_server.h"

namespace tidemark::push {
namespace {

using namespace std::chrono_literals;
using support::HttpReply;
using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using support::ScriptedHttpServer;
using support::ScriptedReply;
using support::ScriptedRequest;
using testing::_;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Result<std::string> Post(const std::string& url, Milliseconds timeout = 10s) {
  HttpReceiver receiver(HttpHeaders{{"Authorization", "Bearer s3cr3t-token"}}, {});
  return receiver.Send(
      {.method = "POST", .url = url, .content_type = "application/json", .body = "{}"},
      Budget::For(timeout));
}

TEST(HttpReceiverTest, TheRequestIsAsItWasMeantAndTheAnswerComesBack) {
  const ScriptedHttpServer server(
      [](const ScriptedRequest&, int) { return HttpReply(202, "taken"); });
  EXPECT_THAT(Post(server.endpoint() + "/a?b=c"), IsOkAnd("taken"));
  ASSERT_EQ(server.Requests().size(), 1U);
  const ScriptedRequest request = server.Requests()[0];
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/a?b=c");
  EXPECT_EQ(request.headers.at("authorization"), "Bearer s3cr3t-token");
  EXPECT_EQ(request.headers.at("content-type"), "application/json");
  EXPECT_EQ(request.body, "{}");
}

TEST(HttpReceiverTest, AStatusSaysWhetherAnotherTryMayHelp) {
  const std::pair<int, ErrorKind> rows[] = {
      {400, ErrorKind::kInvalidArgument}, {404, ErrorKind::kInvalidArgument},
      {413, ErrorKind::kInvalidArgument}, {302, ErrorKind::kInvalidArgument},
      {401, ErrorKind::kDenied},          {403, ErrorKind::kDenied},
      {408, ErrorKind::kUnavailable},     {425, ErrorKind::kUnavailable},
      {429, ErrorKind::kUnavailable},     {500, ErrorKind::kUnavailable},
      {503, ErrorKind::kUnavailable},
  };
  for (const auto& [status, kind] : rows) {
    const ScriptedHttpServer server(
        [code = status](const ScriptedRequest&, int) { return HttpReply(code, "because"); });
    EXPECT_THAT(Post(server.endpoint()),
                IsError(kind, HasSubstr("status=" + std::to_string(status) + " answer=because")));
    EXPECT_EQ(server.Requests().size(), 1U);  // one try, and no redirect
  }
}

TEST(HttpReceiverTest, NoMessageHasThePathTheQueryOrAHeader) {
  const ScriptedHttpServer server(
      [](const ScriptedRequest&, int) { return HttpReply(500, "\x1b[31mno\n"); });
  const std::string secrets = "/hooks/p4th-secret?key=qu3ry-secret";
  EXPECT_THAT(
      Post(server.endpoint() + secrets),
      IsError(ErrorKind::kUnavailable, AllOf(HasSubstr("host=127.0.0.1:"), Not(HasSubstr("s3cr3t")),
                                             Not(HasSubstr("secret")), Not(HasSubstr("\x1b")))));
  const std::string nowhere = "http://127.0.0.1:" + std::to_string(support::FreePort());
  EXPECT_THAT(
      Post(nowhere + secrets),
      IsError(ErrorKind::kUnavailable, AllOf(Not(HasSubstr("s3cr3t")), Not(HasSubstr("secret")))));
}

TEST(HttpReceiverTest, AnAnswerThatRepeatsTheRequestIsQuotedWithoutItsPathAndHeaders) {
  const ScriptedHttpServer server([](const ScriptedRequest& request, int) {
    return HttpReply(404, "Cannot POST " + request.target + " as " +
                              request.headers.at("authorization") + ": no qu3ry, no T0secret, " +
                              std::string(160, 'x') + request.target);
  });
  EXPECT_THAT(
      Post(server.endpoint() + "/services/T0secret?key=qu3ry"),
      IsError(ErrorKind::kInvalidArgument,
              AllOf(HasSubstr("answer=Cannot POST (hidden) as "), Not(HasSubstr("services")),
                    Not(HasSubstr("T0s")), Not(HasSubstr("qu3ry")), Not(HasSubstr("s3cr3t")))));
}

TEST(HttpReceiverTest, AReceiverThatNeverAnswersCostsTheBudget) {
  const ScriptedHttpServer server([](const ScriptedRequest&, int) {
    ScriptedReply reply = HttpReply(200, "");
    reply.wait_before = 1h;
    return reply;
  });
  EXPECT_THAT(Post(server.endpoint(), 50ms), IsError(ErrorKind::kUnavailable, _));
}

TEST(HttpReceiverTest, UrlsNameAHost) {
  for (const char* good : {"http://a", "https://a.b:1/c?d=e", "http://user:word@[::1]:9091/"})
    EXPECT_THAT(CheckHttpUrl(good), IsOk()) << good;
  for (const char* bad : {"", "a", "ftp://a", "http://", "http:///x", "http://:80", "http://a b",
                          "http://a\n", "HTTP//a"})
    EXPECT_THAT(CheckHttpUrl(bad), IsError(ErrorKind::kInvalidArgument, HasSubstr("a URL"))) << bad;
}

TEST(HttpReceiverTest, HeadersCannotBecomeTwo) {
  EXPECT_THAT(CheckHttpHeader("X-Token", "a b\tc"), IsOk());
  EXPECT_THAT(CheckHttpHeader("", "v"), IsError(ErrorKind::kInvalidArgument, HasSubstr("name")));
  EXPECT_THAT(CheckHttpHeader("a:b", "v"), IsError(ErrorKind::kInvalidArgument, HasSubstr("name")));
  EXPECT_THAT(CheckHttpHeader("a", ""), IsError(ErrorKind::kInvalidArgument, HasSubstr("value")));
  EXPECT_THAT(
      CheckHttpHeader("a", "s3cr3t\r\nb: c"),
      IsError(ErrorKind::kInvalidArgument, AllOf(HasSubstr("one line"), Not(HasSubstr("s3cr3t")))));
}

TEST(HttpReceiverTest, ASegmentOfAPathHoldsAnyText) {
  EXPECT_EQ(PathSegment("orders-1.2_3~"), "orders-1.2_3~");
  EXPECT_EQ(PathSegment("a b/c%?#\xC3\xA9"), "a%20b%2Fc%25%3F%23%C3%A9");
  EXPECT_EQ(PathSegment(""), "");
}

}  // namespace
}  // namespace tidemark::push
