#include "app/serve_routes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "api/openapi.h"
#include "app/mirror_serve.h"
#include "app/subscription_notes.h"
#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::HasSubstr;

class BearerTokensTest : public ::testing::Test {
 protected:
  BearerTokensTest() {
    std::string name = std::filesystem::temp_directory_path() / "tidemark-tokens-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~BearerTokensTest() override { std::filesystem::remove_all(folder_); }
  Status Read(const std::string& text) {
    std::ofstream(folder_ + "/tokens") << text;
    return tokens_.Read(folder_ + "/tokens");
  }
  bool Allow(const std::string& authorization, const std::string& path = "metrics") {
    http::Request request;
    request.method = "GET";
    request.segments = {path};
    if (!authorization.empty()) request.headers["authorization"] = authorization;
    return tokens_.Allow(request);
  }

  std::string folder_;
  BearerTokens tokens_;
};

TEST_F(BearerTokensTest, HoldersOfAnyTokenMayAsk) {
  ASSERT_THAT(Read("first-token\nsecond-token\r\n\n"), IsOk());
  EXPECT_TRUE(Allow("Bearer first-token"));
  EXPECT_TRUE(Allow("bearer second-token"));
  for (const char* wrong :
       {"", "first-token", "Bearer", "Bearer ", "Bearer first", "Basic first-token",
        "Bearer first-tokenX", "Bearer first-token second-token", "Bearer  first-token"})
    EXPECT_FALSE(Allow(wrong)) << wrong;
}

TEST_F(BearerTokensTest, ProbesOfHealthNeedNone) {
  ASSERT_THAT(Read("token\n"), IsOk());
  EXPECT_TRUE(Allow("", "healthz"));
  EXPECT_TRUE(Allow("", "readyz"));
}

TEST_F(BearerTokensTest, AFileThatChangedAndRestsIsReadAgain) {
  tokens_.ReadWhenChanged();  // there is none yet
  ASSERT_THAT(Read("revoked-token\nother-token\n"), IsOk());
  tokens_.ReadWhenChanged();
  EXPECT_TRUE(Allow("Bearer revoked-token"));
  std::ofstream(folder_ + "/tokens") << "other-token\nnew-token\n";
  tokens_.ReadWhenChanged();
  EXPECT_TRUE(Allow("Bearer revoked-token"));  // it may be half written
  tokens_.ReadWhenChanged();
  EXPECT_FALSE(Allow("Bearer revoked-token"));
  EXPECT_TRUE(Allow("Bearer new-token"));
  std::ofstream(folder_ + "/tokens") << "";
  tokens_.ReadWhenChanged();
  tokens_.ReadWhenChanged();
  EXPECT_TRUE(Allow("Bearer new-token"));
}

TEST_F(BearerTokensTest, AFileWithoutTokensIsRefusedAndTheOldOnesStay) {
  EXPECT_FALSE(Allow("Bearer "));
  ASSERT_THAT(Read("token\n"), IsOk());
  EXPECT_THAT(Read("\n \n"), IsError(ErrorKind::kInvalidArgument, HasSubstr("/tokens")));
  EXPECT_TRUE(Allow("Bearer token"));
}

/// "GET /api/v1/tables" of the document.
std::set<std::string> DescribedOperations() {
  std::set<std::string> operations;
  const auto document = nlohmann::json::parse(api::OpenApiDocument());
  for (const auto& [path, methods] : document.at("paths").items()) {
    for (const auto& [method, operation] : methods.items())
      operations.insert((method == "get" ? "GET " : method == "post" ? "POST " : method) + path);
  }
  return operations;
}

std::set<std::string> Answered(const http::Router& router) {
  const auto patterns = router.Patterns();
  return {patterns.begin(), patterns.end()};
}

/// What routes refer to and nobody asks here.
class NoSinks final : public MirrorSinks {
 public:
  void Take(const feed::TableNews&) override {}
  void TakeAll() override {}
  Status Resume(const std::string&, const std::string&) override { return {}; }
  std::vector<metrics::SinkHealth> Health() const override { return {}; }
  std::vector<SinkState> States(bool) const override { return {}; }
};
class NoMirror final : public MirrorRun {
 public:
  const feed::MirrorTables& tables() const override { return tables_; }
  bool is_ready() const override { return false; }
  metrics::MirrorReport Report() const override { return {}; }
  void SetListener(std::function<void(const feed::TableNews&)>) override {}

 private:
  feed::MirrorTables tables_{{}};
};

class RoutesTest : public ::testing::Test {
 protected:
  RoutesTest() {
    edges_.clock = &clock_;
    watch_ = std::make_unique<Watch>(Config{}, std::vector<Remembered>{}, WatchOptions{}, edges_,
                                     [](const Look&) {});
  }
  http::Router ServeRouter() {
    return MakeRouter({.watch = *watch_, .edges = edges_, .metrics = {}, .config = {}});
  }

  SystemClock clock_;
  FreshnessEdges edges_;
  std::unique_ptr<Watch> watch_;
};

TEST_F(RoutesTest, TheDocumentDescribesWhatServeAnswersAndNothingElse) {
  EXPECT_EQ(Answered(ServeRouter()), DescribedOperations());
}

TEST_F(RoutesTest, TheDocumentDescribesAllThatAMirrorAnswers) {
  const NoMirror mirror;
  NoSinks sinks;
  EXPECT_THAT(Answered(MakeMirrorRouter(mirror, sinks, 1, clock_)),
              ::testing::IsSubsetOf(DescribedOperations()));
}

TEST_F(RoutesTest, WhatAsksAStoreOrTheStateOrAwaitsACommitMayWaitAndNothingElse) {
  const http::Router router = ServeRouter();
  std::vector<std::string> may_wait;
  for (const std::string& pattern : router.Patterns()) {
    http::Request request;
    request.method = pattern.substr(0, pattern.find(' '));
    request.segments = http::ParseTarget(pattern.substr(pattern.find(' ') + 1))->segments;
    if (router.Choose(request).pace == http::Pace::kMayWait) may_wait.push_back(pattern);
  }
  EXPECT_THAT(may_wait, ::testing::UnorderedElementsAre(
                            "GET /api/v1/pipelines/{name}/history", "GET /api/v1/incidents",
                            "GET /api/v1/timeline", "GET /api/v1/tables/{table}/wait"));
}

TEST_F(RoutesTest, ASubscriptionOfSnsIsAnsweredAndItsLinkIsLoggedOnce) {
  const http::Router router = ServeRouter();
  const auto wake = [&](const std::string& body) {
    http::Request request;
    request.method = "POST";
    request.segments = {"api", "v1", "wake"};
    request.body = body;
    return router.Handle(request).status;
  };
  const auto confirmation = [](size_t number) {
    return fmt::format(R"({{"Type":"SubscriptionConfirmation","TopicArn":"arn:aws:sns:x:1:lake",)"
                       R"("SubscribeURL":"https://sns.x.amazonaws.com/?Token={}"}})",
                       number);
  };
  testing::internal::CaptureStderr();
  EXPECT_EQ(wake(confirmation(0)), 200);
  EXPECT_EQ(wake(confirmation(0)), 200);
  EXPECT_EQ(wake(R"({"Type":"UnsubscribeConfirmation","TopicArn":"arn:aws:sns:x:1:lake"})"), 200);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(log, '\n'), 1) << log;
  EXPECT_THAT(log, HasSubstr("topic=arn:aws:sns:x:1:lake "));
  EXPECT_THAT(log, HasSubstr("link=https://sns.x.amazonaws.com/?Token=0"));
  // Whoever may post fills no log with them.
  testing::internal::CaptureStderr();
  for (size_t i = 0; i < 2 * kSubscriptionsLogged; ++i) EXPECT_EQ(wake(confirmation(i)), 200);
  EXPECT_EQ(std::ranges::count(testing::internal::GetCapturedStderr(), '\n'),
            kSubscriptionsLogged - 1);
}

TEST_F(RoutesTest, SinksWithoutAMirrorAreNotThere) {
  http::Request request;
  request.method = "GET";
  request.segments = {"api", "v1", "sinks"};
  const auto response = ServeRouter().Handle(request);
  EXPECT_EQ(response.status, 404);
  EXPECT_THAT(response.body, HasSubstr("there is no mirror"));
}

}  // namespace
}  // namespace tidemark::app
