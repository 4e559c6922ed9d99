#include "sink/trino_session.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "support/result_matchers.h"
#include "support/scripted_http_server.h"

namespace tidemark::sink {
namespace {

using support::HttpReply;
using support::IsError;
using support::IsOk;
using support::ScriptedHttpServer;
using support::ScriptedReply;
using support::ScriptedRequest;
using testing::HasSubstr;

Budget Short() {
  Budget budget = Budget::For(std::chrono::seconds(10));
  budget.retry_delay = std::chrono::milliseconds(1);
  return budget;
}

class TrinoSessionTest : public testing::Test {
 protected:
  void Answer(ScriptedHttpServer::Script script) {
    server_ = std::make_unique<ScriptedHttpServer>(std::move(script));
  }
  TrinoSession Session(TrinoDialect dialect = TrinoDialect::kTrino) const {
    return TrinoSession({.dialect = dialect,
                         .url = server_->endpoint() + "/",
                         .headers = {{"Authorization", "Basic c2VjcmV0"}}});
  }
  std::string Next(const std::string& path) const {
    return fmt::format(R"({{"id":"q","nextUri":"{}{}","stats":{{"state":"RUNNING"}}}})",
                       server_->endpoint(), path);
  }
  static std::string Last() { return R"({"id":"q","stats":{"state":"FINISHED"}})"; }

  std::unique_ptr<ScriptedHttpServer> server_;
};

TEST_F(TrinoSessionTest, AStatementIsFollowedToItsEnd) {
  Answer([this](const ScriptedRequest& request, int number) {
    if (number == 1) return HttpReply(200, Next("/v1/statement/queued/q/1"));
    if (number == 2) return HttpReply(503, "");
    if (request.target == "/v1/statement/queued/q/1")
      return HttpReply(200, Next("/v1/statement/executing/q/2"));
    return HttpReply(200, Last());
  });
  EXPECT_THAT(Session().Run("CALL x()", Short()), IsOk());
  const auto requests = server_->Requests();
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].target, "/v1/statement");
  EXPECT_EQ(requests[0].body, "CALL x()");
  EXPECT_EQ(requests[0].headers.at("x-trino-user"), "tidemark");
  EXPECT_EQ(requests[0].headers.at("x-trino-source"), "tidemark");
  EXPECT_EQ(requests[3].method, "GET");
  EXPECT_EQ(requests[3].target, "/v1/statement/executing/q/2");
  EXPECT_EQ(requests[3].headers.at("authorization"), "Basic c2VjcmV0");
}

TEST_F(TrinoSessionTest, PrestoHasHeadersOfItsOwn) {
  Answer([](const ScriptedRequest&, int) { return HttpReply(200, Last()); });
  EXPECT_THAT(Session(TrinoDialect::kPresto).Run("CALL x()", Short()), IsOk());
  EXPECT_EQ(server_->Requests()[0].headers.at("x-presto-user"), "tidemark");
}

TEST_F(TrinoSessionTest, ErrorsOfTheEngineHaveTheirKind) {
  struct Case {
    const char* name;
    const char* type;
    ErrorKind kind;
  };
  for (const auto& [name, type, kind] :
       {Case{"SYNTAX_ERROR", "USER_ERROR", ErrorKind::kInvalidArgument},
        Case{"TABLE_NOT_FOUND", "USER_ERROR", ErrorKind::kNotFound},
        Case{"PERMISSION_DENIED", "USER_ERROR", ErrorKind::kDenied},
        Case{"GENERIC_INTERNAL_ERROR", "INTERNAL_ERROR", ErrorKind::kUnavailable},
        Case{"CLUSTER_OUT_OF_MEMORY", "INSUFFICIENT_RESOURCES", ErrorKind::kUnavailable}}) {
    Answer([&](const ScriptedRequest&, int) {
      return HttpReply(200, fmt::format(R"({{"id":"q","error":{{"message":"line 1\nbad",)"
                                        R"("errorName":"{}","errorType":"{}"}}}})",
                                        name, type));
    });
    EXPECT_THAT(Session().Run("CALL x()", Short()),
                IsError(kind, HasSubstr(fmt::format("error={} message=line 1", name))));
  }
}

TEST_F(TrinoSessionTest, AnotherHostIsNotFollowedForOurHeadersWouldGoThere) {
  Answer([](const ScriptedRequest&, int) {
    return HttpReply(200, R"({"id":"q","nextUri":"http://elsewhere:80/v1/statement/q/1"})");
  });
  EXPECT_THAT(Session().Run("CALL x()", Short()),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("host=elsewhere")));
  EXPECT_EQ(server_->Requests().size(), 1U);
}

TEST_F(TrinoSessionTest, ACoordinatorThatIsBusyForGoodAndNonsenseAreUnavailable) {
  Answer([](const ScriptedRequest&, int) { return HttpReply(503, "busy"); });
  EXPECT_THAT(Session().Run("CALL x()", Short()),
              IsError(ErrorKind::kUnavailable, HasSubstr("status=503")));
  for (const char* const body : {"", "[]", "{", "<html>"}) {
    Answer([&](const ScriptedRequest&, int) { return HttpReply(200, body); });
    EXPECT_THAT(Session().Run("CALL x()", Short()),
                IsError(ErrorKind::kUnavailable, HasSubstr("no JSON object")));
  }
}

TEST_F(TrinoSessionTest, ARefusedLoginIsDenied) {
  Answer([](const ScriptedRequest&, int) { return HttpReply(401, "Unauthorized"); });
  EXPECT_THAT(Session().Run("CALL x()", Short()),
              IsError(ErrorKind::kDenied, testing::Not(HasSubstr("c2VjcmV0"))));
}

}  // namespace
}  // namespace tidemark::sink
