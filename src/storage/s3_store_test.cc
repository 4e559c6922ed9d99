// How the S3 store takes what servers and networks do wrong. What it does right is shown against
// real servers in tests/contract.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <fstream>
#include <map>
#include <thread>

#include "storage/s3_service.h"
#include "support/child_process.h"
#include "support/result_matchers.h"
#include "support/scripted_http_server.h"

namespace tidemark::storage {
namespace {

using namespace std::chrono_literals;
using support::HttpReply;
using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using support::ScriptedHttpServer;
using support::ScriptedReply;
using support::ScriptedRequest;
using ::testing::_;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kSecret = "s3cr3t-key";

std::string S3Error(std::string_view code, std::string_view message = "because") {
  return fmt::format("<Error><Code>{}</Code><Message>{}</Message></Error>", code, message);
}

std::string Contents(std::string_view key) {
  return fmt::format(
      "<Contents><Key>{}</Key><LastModified>2026-11-30T00:00:00Z</LastModified><Size>1</Size>"
      "</Contents>",
      key);
}

std::string Page(std::string_view entries, std::string_view token = "") {
  return fmt::format("<ListBucketResult><IsTruncated>{}</IsTruncated>{}{}</ListBucketResult>",
                     !token.empty(),
                     token.empty() ? ""
                                   : fmt::format("<NextContinuationToken>{}"
                                                 "</NextContinuationToken>",
                                                 token),
                     entries);
}

class S3StoreTest : public ::testing::Test {
 protected:
  S3StoreTest() { budget_.retry_delay = 5ms; }

  void Serve(ScriptedHttpServer::Script script, StoreOptions options = {},
             std::string uri = "s3://lake/t") {
    server_ = std::make_unique<ScriptedHttpServer>(std::move(script));
    if (options.endpoint.empty()) options.endpoint = server_->endpoint();
    auto parsed = ParseStoreUri(uri);
    ASSERT_THAT(parsed, IsOk());
    auto store = OpenS3Store(*parsed, options, [variables = variables_](const char* name) {
      const auto it = variables.find(name);
      return it == variables.end() ? std::nullopt : std::optional(it->second);
    });
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
  }
  void AlwaysAnswer(const ScriptedReply& reply) {
    Serve([reply](const ScriptedRequest&, int) { return reply; });
  }
  size_t requests() const { return server_->Requests().size(); }

  std::map<std::string, std::string> variables_ = {
      {"AWS_ACCESS_KEY_ID", "AKIATEST"},
      {"AWS_SECRET_ACCESS_KEY", std::string(kSecret)},
      {"AWS_CONFIG_FILE", "/dev/null/none"},
      {"AWS_SHARED_CREDENTIALS_FILE", "/dev/null/none"},
      {"AWS_EC2_METADATA_DISABLED", "true"}};
  Budget budget_ = Budget::For(20s);
  std::unique_ptr<ScriptedHttpServer> server_;
  std::unique_ptr<ObjectStore> store_;
};

TEST_F(S3StoreTest, ABusyServerIsAskedAgain) {
  Serve([](const ScriptedRequest&, int number) {
    if (number == 1) return HttpReply(503, S3Error("SlowDown"));
    if (number == 2) return HttpReply(500, S3Error("InternalError"));
    return HttpReply(200, "bytes");
  });
  EXPECT_THAT(store_->Read("a", budget_), IsOkAnd(std::string("bytes")));
  EXPECT_EQ(requests(), 3u);
  EXPECT_EQ(server_->connections(), 1) << "the connection is used again";
}

TEST_F(S3StoreTest, WhatAnAnswerLeavesBehindOnAConnectionSpoilsNoOther) {
  Serve([](const ScriptedRequest&, int number) {
    ScriptedReply reply = HttpReply(200, "bytes");
    if (number > 1) return reply;
    reply.piece_bytes = reply.bytes.size();
    reply.wait_between = 50ms;
    reply.bytes += "more than was announced";
    return reply;
  });
  EXPECT_THAT(store_->Read("a", budget_), IsOkAnd(std::string("bytes")));
  ::poll(nullptr, 0, 300);
  EXPECT_THAT(store_->Read("b", budget_), IsOkAnd(std::string("bytes")));
}

TEST_F(S3StoreTest, AnAnswerThatIsNoHttpOnANewConnectionIsCorrupt) {
  AlwaysAnswer({.bytes = "this is no web server\n", .closes = true});
  EXPECT_THAT(store_->Read("a", budget_), IsError(ErrorKind::kCorrupt, HasSubstr("HTTP/0.9")));
  EXPECT_EQ(requests(), 1u);
}

TEST_F(S3StoreTest, AServerThatStaysBusyIsUnavailableAfterTheTries) {
  AlwaysAnswer(HttpReply(503, S3Error("SlowDown", "reduce your rate")));
  EXPECT_THAT(
      store_->Read("a", budget_),
      IsError(ErrorKind::kUnavailable, AllOf(HasSubstr("s3://lake/t/a"), HasSubstr("http=503"),
                                             HasSubstr("SlowDown"), HasSubstr("tries=3"))));
  EXPECT_EQ(requests(), 3u);
}

TEST_F(S3StoreTest, TheServersWaitIsHonoured) {
  Serve([](const ScriptedRequest&, int number) {
    return number == 1 ? HttpReply(429, "", "Retry-After: 1\r\n") : HttpReply(200, "x");
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(store_->Read("a", budget_), IsOk());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 1s);
}

TEST_F(S3StoreTest, AWaitThatDoesNotFitEndsAtOnce) {
  AlwaysAnswer(HttpReply(503, "", "Retry-After: 3600\r\n"));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(store_->Read("a", budget_),
              IsError(ErrorKind::kUnavailable, HasSubstr("retry_after=3600s")));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
}

TEST_F(S3StoreTest, ABodyCutShortIsNeverAShortObject) {
  ScriptedReply cut = HttpReply(200, "0123456789");
  cut.bytes.resize(cut.bytes.size() - 3);
  cut.closes = true;
  AlwaysAnswer(cut);
  EXPECT_THAT(store_->Read("a", budget_), IsError(ErrorKind::kUnavailable, HasSubstr("tries=3")));
  EXPECT_EQ(requests(), 3u);
}

TEST_F(S3StoreTest, ABodyCutShortOnceIsReadAgain) {
  Serve([](const ScriptedRequest&, int number) {
    ScriptedReply reply = HttpReply(200, "0123456789");
    if (number == 1) {
      reply.bytes.resize(reply.bytes.size() - 3);
      reply.closes = true;
    }
    return reply;
  });
  EXPECT_THAT(store_->Read("a", budget_), IsOkAnd(std::string("0123456789")));
}

TEST_F(S3StoreTest, AChunkedBodyCutShortIsUnavailable) {
  ScriptedReply cut;
  cut.bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
  cut.closes = true;
  AlwaysAnswer(cut);
  EXPECT_THAT(store_->Read("a", budget_), IsError(ErrorKind::kUnavailable, _));
}

TEST_F(S3StoreTest, ABodyWithoutAnyEndIsNotTrusted) {
  ScriptedReply reply;
  reply.bytes = "HTTP/1.1 200 OK\r\n\r\nhello";
  reply.closes = true;
  AlwaysAnswer(reply);
  EXPECT_THAT(store_->Read("a", budget_), IsError(ErrorKind::kCorrupt, HasSubstr("how long")));
}

TEST_F(S3StoreTest, ASlowBodyEndsWithTheBudget) {
  ScriptedReply slow = HttpReply(200, std::string(100'000, 'x'));
  slow.piece_bytes = 100;
  slow.wait_between = 50ms;
  AlwaysAnswer(slow);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(store_->Read("a", Budget::For(300ms)),
              IsError(ErrorKind::kUnavailable, HasSubstr("s3://lake/t/a")));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
}

TEST_F(S3StoreTest, AStopEndsARunningTransferPromptly) {
  ScriptedReply silent;
  silent.wait_before = 1min;
  AlwaysAnswer(silent);
  std::stop_source source;
  std::jthread stopper([&] {
    ::poll(nullptr, 0, 200);
    source.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(store_->Read("a", Budget::For(1h, source.get_token())),
              IsError(ErrorKind::kCancelled, _));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 700ms);
}

TEST_F(S3StoreTest, AStopEndsAWaitBetweenTries) {
  AlwaysAnswer(HttpReply(503, "", "Retry-After: 60\r\n"));
  std::stop_source source;
  std::jthread stopper([&] {
    ::poll(nullptr, 0, 200);
    source.request_stop();
  });
  EXPECT_THAT(store_->Read("a", Budget::For(1h, source.get_token())),
              IsError(ErrorKind::kCancelled, _));
}

TEST_F(S3StoreTest, RangesBehindTheFirstAskForTheSameObject) {
  const auto part = [](const std::string& tag) {
    return HttpReply(206, "0123", "Content-Range: bytes 0-3/10\r\nETag: " + tag + "\r\n");
  };
  const auto changed = IsError(ErrorKind::kConflict, AllOf(HasSubstr("changed while it was read"),
                                                           HasSubstr("s3://lake/t/a")));
  std::string into(4, '.');
  // One that knows the condition, one that does not.
  for (const int status : {412, 206}) {
    ObjectState state;
    Serve([&](const ScriptedRequest&, int number) {
      if (number < 3) return part("\"one\"");
      return status == 206 ? part("\"two\"") : HttpReply(status, S3Error("PreconditionFailed"));
    });
    EXPECT_THAT(store_->ReadInto("a", 0, into, state, budget_), IsOkAnd(4u));
    EXPECT_THAT(store_->ReadInto("a", 0, into, state, budget_), IsOkAnd(4u));
    EXPECT_THAT(store_->ReadInto("a", 0, into, state, budget_), changed);
    const auto requests = server_->Requests();
    // After a refused condition it is looked whether the object is gone.
    ASSERT_EQ(requests.size(), status == 412 ? 4u : 3u);
    EXPECT_FALSE(requests[0].headers.contains("if-match"));
    EXPECT_EQ(requests[1].headers.at("if-match"), "\"one\"");
    EXPECT_EQ(requests[2].headers.at("if-match"), "\"one\"");
  }
}

TEST_F(S3StoreTest, NobodyThereIsUnavailableAndNamesTheHost) {
  StoreOptions options;
  options.endpoint = "http://127.0.0.1:1";
  Serve([](const ScriptedRequest&, int) { return HttpReply(200, ""); }, options);
  EXPECT_THAT(store_->Read("a", budget_),
              IsError(ErrorKind::kUnavailable, AllOf(HasSubstr("127.0.0.1:1"), HasSubstr("tries=3"),
                                                     Not(HasSubstr(std::string(kSecret))))));
}

TEST_F(S3StoreTest, WhatIsNoHttpIsCorrupt) {
  ScriptedReply garbage;
  garbage.bytes = "SSH-2.0-OpenSSH_9.2\r\n";
  garbage.closes = true;
  AlwaysAnswer(garbage);
  EXPECT_THAT(store_->Read("a", budget_), IsError(ErrorKind::kCorrupt, HasSubstr("HTTP")));
}

TEST_F(S3StoreTest, EndlessHeadersAreABound) {
  ScriptedReply reply;
  reply.bytes = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 5000; ++i)
    reply.bytes += fmt::format("X-{}: {}\r\n", i, std::string(50, 'x'));
  reply.bytes += "\r\n";
  reply.closes = true;
  AlwaysAnswer(reply);
  EXPECT_THAT(store_->Read("a", budget_), IsError(ErrorKind::kExhausted, _));
}

TEST_F(S3StoreTest, ALongErrorBodyIsStillItsError) {
  AlwaysAnswer(HttpReply(404, S3Error("NoSuchKey") + std::string(500'000, ' ')));
  EXPECT_THAT(store_->Read("a", budget_), IsError(ErrorKind::kNotFound, _));
}

TEST_F(S3StoreTest, APageThatIsNoListingIsCorrupt) {
  for (const std::string& body :
       {std::string("<html>Sign in</html>"), std::string(), std::string("<ListBucketResult>"),
        std::string("<!DOCTYPE a [<!ENTITY b \"c\">]>") + Page(""),
        std::string("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>")}) {
    AlwaysAnswer(HttpReply(200, body));
    EXPECT_THAT(store_->List("", {}, budget_),
                IsError(ErrorKind::kCorrupt, HasSubstr("s3://lake/t")))
        << body;
    EXPECT_EQ(requests(), 1u);
  }
}

TEST_F(S3StoreTest, AFailingLaterPageIsNeverAShorterListing) {
  Serve([](const ScriptedRequest&, int number) {
    return number == 1 ? HttpReply(200, Page(Contents("t/a"), "more")) : HttpReply(503, "");
  });
  EXPECT_THAT(store_->List("", {}, budget_), IsError(ErrorKind::kUnavailable, _));
  Serve([](const ScriptedRequest&, int number) {
    return number == 1 ? HttpReply(200, Page(Contents("t/a"), "more"))
                       : HttpReply(403, S3Error("AccessDenied"));
  });
  EXPECT_THAT(store_->List("", {}, budget_), IsError(ErrorKind::kDenied, _));
  Serve([](const ScriptedRequest&, int) { return HttpReply(200, Page(Contents("t/a"), "more")); });
  EXPECT_THAT(store_->List("", {}, budget_), IsError(ErrorKind::kCorrupt, _));
}

TEST_F(S3StoreTest, PagesAreAskedForWithTheirTokens) {
  Serve([](const ScriptedRequest& request, int) {
    return request.target.contains("continuation-token=mo%2Bre")
               ? HttpReply(200, Page(Contents("t/b")))
               : HttpReply(200, Page(Contents("t/a"), "mo+re"));
  });
  ASSERT_OK_ASSIGN(const Listing listing,
                   store_->List("", {.start_after = "A b", .is_recursive = false}, budget_));
  EXPECT_EQ(listing.objects.size(), 2u);
  EXPECT_EQ(server_->Requests()[0].target,
            "/lake?delimiter=%2F&encoding-type=url&list-type=2&max-keys=1000&prefix=t%2F&"
            "start-after=t%2FA%20b");
}

TEST_F(S3StoreTest, ABucketElsewhereIsFollowedOnce) {
  Serve([](const ScriptedRequest& request, int) {
    return request.headers.at("authorization").contains("/eu-west-1/s3/")
               ? HttpReply(200, "x")
               : HttpReply(301, S3Error("PermanentRedirect"), "x-amz-bucket-region: eu-west-1\r\n");
  });
  EXPECT_THAT(store_->Read("a", budget_), IsOkAnd(std::string("x")));
  EXPECT_THAT(store_->Read("a", budget_), IsOk());
  EXPECT_EQ(requests(), 3u) << "the region is remembered";
}

TEST_F(S3StoreTest, ARegionInTheErrorIsFollowedToo) {
  Serve([](const ScriptedRequest& request, int) {
    return request.headers.at("authorization").contains("/eu-west-1/s3/")
               ? HttpReply(200, "x")
               : HttpReply(400,
                           "<Error><Code>AuthorizationHeaderMalformed</Code>"
                           "<Region>eu-west-1</Region></Error>");
  });
  EXPECT_THAT(store_->Read("a", budget_), IsOk());
}

TEST_F(S3StoreTest, ARedirectionThatGoesOnOrNowhereIsSaid) {
  Serve([](const ScriptedRequest&, int number) {
    return HttpReply(307, S3Error("TemporaryRedirect"),
                     fmt::format("x-amz-bucket-region: eu-west-{}\r\n", number));
  });
  EXPECT_THAT(store_->Read("a", budget_),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("another endpoint")));
  EXPECT_EQ(requests(), 2u);
  AlwaysAnswer(HttpReply(301, "", "Location: http://evil.example/\r\n"));
  EXPECT_THAT(store_->Read("a", budget_),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("another endpoint")));
  EXPECT_EQ(requests(), 1u);
  AlwaysAnswer(HttpReply(301, "", "x-amz-bucket-region: evil.example/\r\n"));
  EXPECT_THAT(store_->Read("a", budget_),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("another endpoint")));
}

TEST_F(S3StoreTest, EachRefusalSaysWhatToCheck) {
  const struct {
    int status;
    std::string_view code;
    std::string_view advice;
  } cases[] = {
      {403, "AccessDenied", "s3:ListBucket"},
      {403, "InvalidAccessKeyId", "does not know the access key id"},
      {403, "SignatureDoesNotMatch", "secret"},
      {403, "RequestTimeTooSkewed", "clock"},
      {400, "InvalidToken", "AWS_SESSION_TOKEN"},
      {403, "AllAccessDisabled", "disabled"},
      {401, "", "access refused"},
      {403, "", "access refused"},
  };
  for (const auto& [status, code, advice] : cases) {
    AlwaysAnswer(HttpReply(status, code.empty() ? "" : S3Error(code)));
    EXPECT_THAT(store_->Read("a", budget_),
                IsError(ErrorKind::kDenied,
                        AllOf(HasSubstr(std::string(advice)), HasSubstr(std::string(code)),
                              HasSubstr("access_key_id=AKIATEST"), HasSubstr("s3://lake/t/a"),
                              Not(HasSubstr(std::string(kSecret))))))
        << code;
    EXPECT_EQ(requests(), 1u);
  }
}

TEST_F(S3StoreTest, RefusedCredentialsAreLookedForAgain) {
  // Another program replaces them in the file, as single sign-on tools do.
  const support::TemporaryFolder folder;
  const std::string file = folder.path() + "/credentials";
  const auto write = [file](std::string_view id) {
    std::ofstream(file) << "[default]\naws_access_key_id=" << id << "\naws_secret_access_key=S\n";
  };
  write("OLD");
  variables_.erase("AWS_ACCESS_KEY_ID");
  variables_.erase("AWS_SECRET_ACCESS_KEY");
  variables_["AWS_SHARED_CREDENTIALS_FILE"] = file;
  Serve([&](const ScriptedRequest& request, int) {
    if (request.headers.at("authorization").contains("=NEW/")) return HttpReply(200, "x");
    write("NEW");
    return HttpReply(400, S3Error("ExpiredToken"));
  });
  EXPECT_THAT(store_->Read("a", budget_), IsOk());
  EXPECT_EQ(requests(), 2u);
}

TEST_F(S3StoreTest, TheSameCredentialsAreNotTriedAgain) {
  AlwaysAnswer(HttpReply(400, S3Error("ExpiredToken")));
  EXPECT_THAT(store_->Read("a", budget_), IsError(ErrorKind::kDenied, HasSubstr("expired")));
  EXPECT_EQ(requests(), 1u);
}

TEST_F(S3StoreTest, StoresShareWhatTheChainFound) {
  ScriptedHttpServer agent([](const ScriptedRequest&, int) {
    return HttpReply(200, R"({"AccessKeyId":"SHARED","SecretAccessKey":"S","Token":"T"})");
  });
  variables_.erase("AWS_ACCESS_KEY_ID");
  variables_.erase("AWS_SECRET_ACCESS_KEY");
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = agent.endpoint();
  for (const char* uri : {"s3://lake/t1", "s3://lake/t2", "s3://pond"}) {
    Serve([](const ScriptedRequest&, int) { return HttpReply(200, "x"); }, {}, uri);
    EXPECT_THAT(store_->Read("a", budget_), IsOk());
    EXPECT_TRUE(server_->Requests()[0].headers.at("authorization").contains("=SHARED/"));
  }
  EXPECT_EQ(agent.Requests().size(), 1u);
}

TEST_F(S3StoreTest, AMissingBucketIsToldFromAMissingObject) {
  AlwaysAnswer(HttpReply(404, S3Error("NoSuchBucket")));
  EXPECT_THAT(store_->Read("a", budget_), IsError(ErrorKind::kNotFound, HasSubstr("bucket")));
  EXPECT_THAT(store_->List("", {}, budget_), IsError(ErrorKind::kNotFound, HasSubstr("bucket")));
  AlwaysAnswer(HttpReply(404, S3Error("NoSuchKey")));
  EXPECT_THAT(store_->Read("a", budget_),
              IsError(ErrorKind::kNotFound, HasSubstr("no such object")));
}

TEST_F(S3StoreTest, AConditionalWriteSaysSoAndKnowsItsConflict) {
  Serve([](const ScriptedRequest&, int number) {
    return number == 1 ? HttpReply(409, S3Error("ConditionalRequestConflict"))
                       : HttpReply(412, S3Error("PreconditionFailed"));
  });
  EXPECT_THAT(store_->PutIfAbsent("a", "x", budget_),
              IsError(ErrorKind::kConflict, HasSubstr("s3://lake/t/a")));
  const auto sent = server_->Requests();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].headers.at("if-none-match"), "*");
  EXPECT_TRUE(sent[0].headers.at("authorization").contains("if-none-match"));
  EXPECT_EQ(sent[1].body, "x");
}

TEST_F(S3StoreTest, AConflictThatMayBeOurOwnIsUnavailable) {
  // The first try may have been carried out; nobody can say any more whose object it is.
  Serve([](const ScriptedRequest&, int number) {
    ScriptedReply lost;
    lost.closes = true;
    return number == 1 ? lost : HttpReply(412, S3Error("PreconditionFailed"));
  });
  EXPECT_THAT(store_->PutIfAbsent("a", "x", budget_),
              IsError(ErrorKind::kUnavailable, HasSubstr("earlier try")));
  Serve([](const ScriptedRequest&, int number) {
    return number == 1 ? HttpReply(500, "") : HttpReply(412, S3Error("PreconditionFailed"));
  });
  EXPECT_THAT(store_->PutIfAbsent("a", "x", budget_),
              IsError(ErrorKind::kUnavailable, HasSubstr("earlier try")));
  Serve([](const ScriptedRequest&, int number) {
    return number == 1 ? HttpReply(503, S3Error("SlowDown"))
                       : HttpReply(412, S3Error("PreconditionFailed"));
  });
  EXPECT_THAT(store_->PutIfAbsent("a", "x", budget_), IsError(ErrorKind::kConflict, _));
}

TEST_F(S3StoreTest, AServerWithoutConditionalWritesIsUnsupported) {
  AlwaysAnswer(HttpReply(501, S3Error("NotImplemented")));
  EXPECT_THAT(store_->PutIfAbsent("a", "x", budget_), IsError(ErrorKind::kUnsupported, _));
}

TEST_F(S3StoreTest, ARangeIsCheckedAgainstTheQuestion) {
  const auto answer = [&](int status, std::string body, const std::string& range) {
    AlwaysAnswer(HttpReply(status, std::move(body),
                           range.empty() ? "" : "Content-Range: " + range + "\r\n"));
    return store_->ReadRange("a", 2, 4, budget_);
  };
  EXPECT_THAT(answer(206, "2345", "bytes 2-5/10"), IsOkAnd(std::string("2345")));
  EXPECT_EQ(server_->Requests()[0].headers.at("range"), "bytes=2-5");
  EXPECT_THAT(answer(206, "2345", "bytes 2-5/*"), IsOkAnd(std::string("2345")));
  EXPECT_THAT(answer(206, "23", "bytes 2-3/4"), IsOkAnd(std::string("23")));
  EXPECT_THAT(answer(200, "0123456789", ""), IsOkAnd(std::string("2345")));
  EXPECT_THAT(answer(200, "01", ""), IsOkAnd(std::string()));
  EXPECT_THAT(answer(416, "", ""), IsOkAnd(std::string()));
  const auto corrupt = IsError(ErrorKind::kCorrupt, HasSubstr("not the range"));
  EXPECT_THAT(answer(206, "0123", "bytes 0-3/10"), corrupt);
  EXPECT_THAT(answer(206, "23", "bytes 2-3/10"), corrupt);
  EXPECT_THAT(answer(206, "23456", "bytes 2-6/10"), corrupt);
  EXPECT_THAT(answer(206, "234", "bytes 2-5/10"), corrupt);
  EXPECT_THAT(answer(206, "2345", ""), corrupt);
  EXPECT_THAT(answer(206, "2345", "bytes x-y/z"), corrupt);
}

TEST_F(S3StoreTest, AStatWithoutSizeOrTimeIsCorrupt) {
  AlwaysAnswer(HttpReply(200, "", "Last-Modified: Mon, 30 Nov 2026 02:58:21 GMT\r\n"));
  EXPECT_THAT(store_->Stat("a", budget_), IsOk());
  AlwaysAnswer(HttpReply(200, "", "Last-Modified: yesterday\r\n"));
  EXPECT_THAT(store_->Stat("a", budget_), IsError(ErrorKind::kCorrupt, _));
}

TEST_F(S3StoreTest, AnonymousRequestsAreNotSigned) {
  StoreOptions options;
  options.is_anonymous = true;
  Serve([](const ScriptedRequest&, int) { return HttpReply(403, S3Error("AccessDenied")); },
        options);
  EXPECT_THAT(store_->Read("a", budget_), IsError(ErrorKind::kDenied, HasSubstr("(anonymous)")));
  EXPECT_FALSE(server_->Requests()[0].headers.contains("authorization"));
}

TEST_F(S3StoreTest, TheEnvironmentNamesEndpointAndRegion) {
  ScriptedHttpServer other([](const ScriptedRequest&, int) { return HttpReply(200, "other"); });
  variables_["AWS_ENDPOINT_URL"] = "http://127.0.0.1:1";
  variables_["AWS_ENDPOINT_URL_S3"] = other.endpoint();
  variables_["AWS_REGION"] = "eu-central-1";
  auto store =
      OpenS3Store(*ParseStoreUri("s3://lake"), {}, [variables = variables_](const char* name) {
        const auto it = variables.find(name);
        return it == variables.end() ? std::nullopt : std::optional(it->second);
      });
  ASSERT_THAT(store, IsOk());
  EXPECT_THAT((*store)->Read("a", budget_), IsOkAnd(std::string("other")));
  EXPECT_TRUE(other.Requests()[0].headers.at("authorization").contains("/eu-central-1/s3/"));
  EXPECT_EQ(other.Requests()[0].target, "/lake/a");
}

TEST_F(S3StoreTest, VirtualHostStylePutsTheBucketIntoTheHost) {
  // Through a proxy one sees where a request would go.
  ScriptedHttpServer proxy([](const ScriptedRequest&, int) { return HttpReply(200, "x"); });
  StoreOptions options;
  options.endpoint = "http://s3.example.test";
  options.is_path_style = false;
  ::setenv("http_proxy", proxy.endpoint().c_str(), 1);
  Serve([](const ScriptedRequest&, int) { return HttpReply(500, ""); }, options);
  EXPECT_THAT(store_->Read("a b", budget_), IsOk());
  ::unsetenv("http_proxy");
  ASSERT_EQ(proxy.Requests().size(), 1u);
  EXPECT_EQ(proxy.Requests()[0].target, "http://lake.s3.example.test/t/a%20b");
  EXPECT_EQ(proxy.Requests()[0].headers.at("host"), "lake.s3.example.test");
}

TEST_F(S3StoreTest, BadOptionsAreSaidWhenTheStoreIsOpened) {
  StoreOptions options;
  options.endpoint = "ftp://x";
  EXPECT_THAT(OpenStore("s3://lake", options),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("endpoint")));
  options = {};
  options.region = "evil.example/";
  EXPECT_THAT(OpenStore("s3://lake", options),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("region")));
}

TEST_F(S3StoreTest, ManyThreadsShareTheStore) {
  std::atomic<int> good = 0;
  Serve([](const ScriptedRequest& request, int) { return HttpReply(200, request.target); });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        for (int j = 0; j < 20; ++j) {
          const std::string key = fmt::format("{}-{}", i, j);
          if (store_->Read(key, budget_).value_or("") == "/lake/t/" + key) ++good;
        }
      });
    }
  }
  EXPECT_EQ(good, 160);
  EXPECT_LE(server_->connections(), 8);
}

}  // namespace
}  // namespace tidemark::storage
