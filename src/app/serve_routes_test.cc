#include "app/serve_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "api/openapi.h"
#include "app/mirror_serve.h"
#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(NoticeTest, HudisCallbackNamesItsTable) {
  EXPECT_THAT(
      UrisOfNotice(R"({"commitTime":"20261130030557099","tableName":"t",)"
                   R"("basePath":"file:///warehouse/t","hoodieWriteStat":[{"path":"p0/x"}]})"),
      IsOkAnd(ElementsAre("file:///warehouse/t")));
}

// The form that the S3 user guide gives for event notifications (version 2.1).
constexpr const char* kS3Event =
    R"({"Records":[{"eventVersion":"2.1","eventSource":"aws:s3","eventName":"ObjectCreated:Put",)"
    R"("s3":{"s3SchemaVersion":"1.0","bucket":{"name":"lake","arn":"arn:aws:s3:::lake"},)"
    R"("object":{"key":"my+orders/.hoodie/2026%2B1.commit","size":1024}}}]})";

TEST(NoticeTest, AnS3EventNamesItsObjectDecoded) {
  EXPECT_THAT(UrisOfNotice(kS3Event),
              IsOkAnd(ElementsAre("s3://lake/my orders/.hoodie/2026+1.commit")));
}

std::string AsText(const std::string& json) {
  std::string text;
  for (const char c : json) text += c == '"' ? std::string("\\\"") : std::string(1, c);
  return text;
}

TEST(NoticeTest, AnS3EventInsideSnsOrSqsIsFound) {
  const std::string uri = "s3://lake/my orders/.hoodie/2026+1.commit";
  EXPECT_THAT(UrisOfNotice(R"({"Type":"Notification","Message":")" + AsText(kS3Event) + "\"}"),
              IsOkAnd(ElementsAre(uri)));
  EXPECT_THAT(UrisOfNotice(R"({"Records":[{"messageId":"1","body":")" + AsText(kS3Event) + "\"}]}"),
              IsOkAnd(ElementsAre(uri)));
}

TEST(NoticeTest, TheTestEventOfS3NamesNothing) {
  EXPECT_THAT(UrisOfNotice(R"({"Service":"Amazon S3","Event":"s3:TestEvent","Bucket":"lake"})"),
              IsOkAnd(IsEmpty()));
}

TEST(NoticeTest, AnyUriMayBeGivenPlainly) {
  EXPECT_THAT(UrisOfNotice(R"({"uri":"/data/orders"})"), IsOkAnd(ElementsAre("/data/orders")));
}

TEST(NoticeTest, WhatIsNoneOfTheseIsRefused) {
  for (const char* bad :
       {"", "[]", "null", "{}", "{\"basePath\":7}", R"({"Records":{}})", R"({"Records":[1]})",
        R"({"Records":[{"s3":{"bucket":"x"}}]})", R"({"Records":[{"body":"{"}]})",
        R"({"Records":[{"s3":{"bucket":{"name":"b"},"object":{"key":""}}}]})", R"({"Message":"x"})",
        "{\"uri\":"})
    EXPECT_THAT(UrisOfNotice(bad), IsError(ErrorKind::kInvalidArgument, HasSubstr("the body")))
        << bad;
}

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
