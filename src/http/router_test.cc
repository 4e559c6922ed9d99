#include "http/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark::http {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Router::Handler Says(std::string text) {
  return [text](const Request&, const std::vector<std::string>& parameters) {
    Response response;
    response.body = text;
    for (const std::string& parameter : parameters) response.body += ":" + parameter;
    return response;
  };
}

Response Ask(const Router& router, std::string method, std::string_view path) {
  Request request;
  request.method = std::move(method);
  request.segments = ParseTarget(path)->segments;
  return router.Handle(request);
}

class RouterTest : public ::testing::Test {
 protected:
  RouterTest() {
    router_.Add("GET", "/", Says("root"));
    router_.Add("GET", "/pipelines", Says("all"));
    router_.Add("GET", "/pipelines/{name}", Says("one"));
    router_.Add("POST", "/pipelines/{name}", Says("changed"));
    router_.Add("GET", "/pipelines/{name}/partitions", Says("partitions"));
  }
  Router router_;
};

TEST_F(RouterTest, ARequestGoesToTheHandlerOfItsPathAndMethod) {
  EXPECT_EQ(Ask(router_, "GET", "/").body, "root");
  EXPECT_EQ(Ask(router_, "GET", "/pipelines").body, "all");
  EXPECT_EQ(Ask(router_, "GET", "/pipelines/orders").body, "one:orders");
  EXPECT_EQ(Ask(router_, "POST", "/pipelines/orders").body, "changed:orders");
  EXPECT_EQ(Ask(router_, "GET", "/pipelines/a%2Fb/partitions").body, "partitions:a/b");
}

TEST_F(RouterTest, HeadIsAnsweredAsGet) {
  EXPECT_EQ(Ask(router_, "HEAD", "/pipelines").body, "all");
}

TEST_F(RouterTest, WhatIsNotThereIs404) {
  for (const char* path : {"/pipeline", "/pipelines/a/b", "/pipelines/a/partitions/0"}) {
    const Response response = Ask(router_, "GET", path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_THAT(response.body, HasSubstr(R"({"error":{"status":404,"message":)"));
  }
}

TEST_F(RouterTest, AnotherMethodIs405AndNamesThoseThereAre) {
  const Response response = Ask(router_, "DELETE", "/pipelines/orders");
  EXPECT_EQ(response.status, 405);
  EXPECT_THAT(response.headers, Contains(Pair("Allow", "GET, POST")));
}

TEST_F(RouterTest, WhetherARequestMayWaitIsKnownBeforeItIsAnswered) {
  router_.Add("GET", "/slow/{name}", Says("slow"), Pace::kMayWait);
  Request request;
  request.method = "HEAD";
  request.segments = {"slow", "x"};
  EXPECT_EQ(router_.Choose(request).pace, Pace::kMayWait);
  EXPECT_EQ(router_.Choose(request).answer(request).body, "slow:x");
  for (const char* path : {"pipelines", "nowhere"}) {
    request.segments = {path};
    EXPECT_EQ(router_.Choose(request).pace, Pace::kAtOnce) << path;
  }
  request.method = "POST";
  request.segments = {"slow", "x"};
  EXPECT_EQ(router_.Choose(request).pace, Pace::kAtOnce);
  EXPECT_TRUE(router_.Choose(request).is_refusal);
}

TEST_F(RouterTest, ItsPatternsAreThoseThatWereAdded) {
  EXPECT_THAT(router_.Patterns(),
              ElementsAre("GET /", "GET /pipelines", "GET /pipelines/{name}",
                          "POST /pipelines/{name}", "GET /pipelines/{name}/partitions"));
}

TEST(KnowingTest, AParameterThatIsNotKnownIsRefused) {
  Router router;
  router.Add("GET", "/all", Knowing({"limit"}, Says("all")));
  const auto ask = [&](std::string_view target) {
    Request request;
    request.method = "GET";
    request.segments = ParseTarget(target)->segments;
    request.query = ParseTarget(target)->query;
    return router.Handle(request);
  };
  EXPECT_EQ(ask("/all").body, "all");
  EXPECT_EQ(ask("/all?limit=1").body, "all");
  EXPECT_EQ(ask("/all?limt=1").status, 400);
  EXPECT_THAT(ask("/all?limt=1").body, HasSubstr("'limt'"));
}

TEST(ErrorResponseTest, TheMessageIsValidJsonWhateverItHolds) {
  EXPECT_EQ(ErrorResponse(400, "a \"b\"\n\\").body,
            "{\"error\":{\"status\":400,\"message\":\"a \\\"b\\\"\\u000a\\\\\"}}\n");
}

}  // namespace
}  // namespace tidemark::http
