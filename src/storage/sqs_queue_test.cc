#include "storage/sqs_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "support/result_matchers.h"
#include "support/scripted_http_server.h"

namespace tidemark::storage {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using support::HttpReply;
using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using support::ScriptedHttpServer;
using support::ScriptedRequest;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Forms of addresses: "Amazon SQS endpoints and quotas", AWS General Reference; those of LocalStack
// and ElasticMQ from their documentation.
TEST(SqsQueueUrlTest, RegionAndNameAreFoundInEveryForm) {
  const struct {
    const char* url;
    SqsQueueUrl parts;
  } cases[] = {
      {"https://sqs.eu-west-1.amazonaws.com/123456789012/lake",
       {"https://sqs.eu-west-1.amazonaws.com", "eu-west-1", "lake"}},
      {"https://sqs.cn-north-1.amazonaws.com.cn/123456789012/lake",
       {"https://sqs.cn-north-1.amazonaws.com.cn", "cn-north-1", "lake"}},
      {"https://sqs-fips.us-gov-west-1.amazonaws.com/123456789012/a_b-c",
       {"https://sqs-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1", "a_b-c"}},
      {"https://sqs.us-east-2.api.aws/123456789012/lake.fifo",
       {"https://sqs.us-east-2.api.aws", "us-east-2", "lake.fifo"}},
      {"https://vpce-0a1-b2.sqs.us-east-1.vpce.amazonaws.com/123456789012/lake",
       {"https://vpce-0a1-b2.sqs.us-east-1.vpce.amazonaws.com", "us-east-1", "lake"}},
      {"https://eu-central-1.queue.amazonaws.com/123456789012/lake",
       {"https://eu-central-1.queue.amazonaws.com", "eu-central-1", "lake"}},
      {"https://queue.amazonaws.com/123456789012/lake",
       {"https://queue.amazonaws.com", "us-east-1", "lake"}},
      {"http://localhost:9324/000000000000/lake", {"http://localhost:9324", "", "lake"}},
      {"http://sqs.us-east-1.localhost.localstack.cloud:4566/000000000000/lake",
       {"http://sqs.us-east-1.localhost.localstack.cloud:4566", "us-east-1", "lake"}},
      {"http://localhost:4566/queue/us-east-1/000000000000/lake",
       {"http://localhost:4566", "", "lake"}},
      {"http://sqs:9324/1/lake", {"http://sqs:9324", "", "lake"}},
  };
  for (const auto& each : cases) {
    const auto parts = ParseSqsQueueUrl(each.url);
    ASSERT_THAT(parts, IsOk()) << each.url;
    EXPECT_EQ(*parts, each.parts) << each.url << ' ' << parts->region;
  }
}

TEST(SqsQueueUrlTest, WhatIsNoQueueIsRefusedWithoutRepeatingIt) {
  for (const char* bad :
       {"", "lake", "sqs.eu-west-1.amazonaws.com/123456789012/lake", "https://h", "https://h/",
        "https://h/lake", "https://h//", "ftp://h/1/lake", "https://h/1/lake?x=1",
        "https:///1/lake", "https://user:secret@h/1/lake", "https://h/1/la%20ke",
        "https://h/1/.fifo", "arn:aws:sqs:eu-west-1:123456789012:lake", "s3://lake/orders"})
    EXPECT_THAT(ParseSqsQueueUrl(bad),
                IsError(ErrorKind::kInvalidArgument,
                        AllOf(HasSubstr("URL of a queue"), Not(HasSubstr("secret")))))
        << bad;
}

// The example of the API reference (ReceiveMessage, JSON protocol), shortened.
constexpr std::string_view kReceived =
    R"({"Messages":[{"Attributes":{"SenderId":"AIDA"},"Body":"This is a test message",)"
    R"("MD5OfBody":"fafb00f5732ab283681e124bf8747ed1","MessageId":"219f8380",)"
    R"("ReceiptHandle":"AQEBaZ+j5qUo"},{"ReceiptHandle":"B"}]})";

TEST(SqsMessagesTest, EachHasItsReceiptAndBody) {
  EXPECT_THAT(ParseSqsMessages(kReceived),
              IsOkAnd(ElementsAre(SqsMessage{"AQEBaZ+j5qUo", "This is a test message"},
                                  SqsMessage{"B", ""})));
  for (const char* none : {"{}", R"({"Messages":[]})", R"({"Messages":null})"})
    EXPECT_THAT(ParseSqsMessages(none), IsOkAnd(IsEmpty())) << none;
  for (const char* bad : {"", "[]", "<html>", R"({"Messages":{}})", R"({"Messages":[1]})",
                          R"({"Messages":[{"Body":"x"}]})"})
    EXPECT_THAT(ParseSqsMessages(bad), IsError(ErrorKind::kCorrupt, "no answer to ReceiveMessage"))
        << bad;
}

TEST(SqsMessagesTest, DamagedAnswersAreAnErrorOrMessages) {
  for (size_t length = 0; length < kReceived.size(); ++length)
    EXPECT_THAT(ParseSqsMessages(kReceived.substr(0, length)),
                IsError(ErrorKind::kCorrupt, HasSubstr("no answer")))
        << length;
  for (size_t at = 0; at < kReceived.size(); ++at) {
    for (const int bit : {0, 1, 2, 3, 4, 5, 6, 7}) {
      std::string damaged(kReceived);
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const auto messages = ParseSqsMessages(damaged);
      if (!messages) {
        EXPECT_EQ(messages.error().kind, ErrorKind::kCorrupt);
      }
    }
  }
}

TEST(SqsDeletionTest, WhatStaysIsSaid) {
  EXPECT_THAT(CheckSqsDeletion(R"({"Successful":[{"Id":"0"}]})"), IsOk());
  EXPECT_THAT(CheckSqsDeletion(R"({"Successful":[{"Id":"0"}],"Failed":[]})"), IsOk());
  EXPECT_THAT(CheckSqsDeletion(R"({"Successful":[],"Failed":[{"Id":"1","SenderFault":true,)"
                               R"("Code":"ReceiptHandleIsInvalid"},{"Id":"2"}]})"),
              IsError(ErrorKind::kUnavailable, HasSubstr("count=2 code=ReceiptHandleIsInvalid")));
  for (const char* bad : {"", "1", R"({"Failed":1})"})
    EXPECT_THAT(CheckSqsDeletion(bad), IsError(ErrorKind::kCorrupt, HasSubstr("Delete"))) << bad;
}

class SqsQueueTest : public ::testing::Test {
 protected:
  SqsQueueTest() {
    ::setenv("AWS_ACCESS_KEY_ID", "KEY", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t-key", 1);
    for (const char* const name : {"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SQS", "AWS_PROFILE",
                                   "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"})
      ::unsetenv(name);
    ::setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
  }
  ~SqsQueueTest() override {
    ::unsetenv("AWS_ACCESS_KEY_ID");
    ::unsetenv("AWS_SECRET_ACCESS_KEY");
  }
  std::unique_ptr<SqsQueue> Open(int status, const std::string& body) {
    server_ = std::make_unique<ScriptedHttpServer>(
        [=](const ScriptedRequest&, int) { return HttpReply(status, body); });
    auto queue = SqsQueue::Make({.url = Url(), .region = "eu-west-1"});
    EXPECT_THAT(queue, IsOk());
    return *std::move(queue);
  }
  std::string Url() const { return server_->endpoint() + "/123456789012/lake"; }
  static Budget Ample() { return Budget::For(1min); }

  std::unique_ptr<ScriptedHttpServer> server_;
};

TEST_F(SqsQueueTest, ARequestIsThatOfTheJsonProtocolAndGoesToTheQueuesOwnHost) {
  const auto queue = Open(200, std::string(kReceived));
  EXPECT_THAT(queue->Receive(Ample()), IsOkAnd(::testing::SizeIs(2)));
  const auto requests = server_->Requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].target, "/");
  EXPECT_EQ(requests[0].headers.at("content-type"), "application/x-amz-json-1.0");
  EXPECT_EQ(requests[0].headers.at("x-amz-target"), "AmazonSQS.ReceiveMessage");
  EXPECT_THAT(requests[0].headers.at("authorization"), HasSubstr("/eu-west-1/sqs/aws4_request"));
  EXPECT_EQ(json::parse(requests[0].body),
            (json{{"QueueUrl", Url()}, {"MaxNumberOfMessages", 10}, {"WaitTimeSeconds", 20}}));
}

TEST_F(SqsQueueTest, MessagesAreDeletedByTheirReceipts) {
  const auto queue = Open(200, R"({"Successful":[{"Id":"0"},{"Id":"1"}]})");
  const SqsMessage messages[] = {{"A", "x"}, {"B\xff", "y"}};
  EXPECT_THAT(queue->Delete(messages, Ample()), IsOk());
  EXPECT_THAT(queue->Delete({}, Ample()), IsOk());
  const auto requests = server_->Requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].headers.at("x-amz-target"), "AmazonSQS.DeleteMessageBatch");
  const json entries = json::parse(requests[0].body)["Entries"];
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0], (json{{"Id", "0"}, {"ReceiptHandle", "A"}}));
  EXPECT_EQ(entries[1]["Id"], "1");
}

TEST_F(SqsQueueTest, MoreMessagesThanABatchHoldsAreDeletedInSeveral) {
  const auto queue = Open(200, R"({"Successful":[]})");
  EXPECT_THAT(queue->Delete(std::vector<SqsMessage>(21), Ample()), IsOk());
  std::vector<size_t> sizes;
  for (const auto& request : server_->Requests())
    sizes.push_back(json::parse(request.body)["Entries"].size());
  EXPECT_THAT(sizes, ElementsAre(10U, 10U, 1U));
}

TEST_F(SqsQueueTest, WaitingMessagesAreCountedByAnAttribute) {
  const auto queue = Open(200, R"({"Attributes":{"ApproximateNumberOfMessages":"17"}})");
  EXPECT_THAT(queue->CountWaiting(Ample()), IsOkAnd(17U));
  for (const char* bad : {"{}", "[]", R"({"Attributes":{"ApproximateNumberOfMessages":"x"}})"})
    EXPECT_THAT(Open(200, bad)->CountWaiting(Ample()),
                IsError(ErrorKind::kCorrupt, HasSubstr("no")))
        << bad;
}

// Codes: "Common Error Types" and ReceiveMessage in the API reference; the query name of a queue
// that is not there from the service's model (awsQueryError).
TEST_F(SqsQueueTest, WhatAnErrorMeans) {
  const struct {
    int status;
    const char* body;
    ErrorKind kind;
    const char* message;
  } cases[] = {
      {400,
       R"({"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"The queue is not there."})",
       ErrorKind::kNotFound, "QueueDoesNotExist: The queue is not there."},
      {400, R"({"__type":"AWS.SimpleQueueService.NonExistentQueue"})", ErrorKind::kNotFound, ""},
      {400, R"({"__type":"com.amazon.coral.service#AccessDeniedException","Message":"no"})",
       ErrorKind::kDenied, "AccessDeniedException: no"},
      {403, "<ErrorResponse/>", ErrorKind::kDenied, "Http403"},
      {400, R"({"__type":"x#UnrecognizedClientException"})", ErrorKind::kDenied, ""},
      {400, R"({"__type":"x#KmsAccessDenied"})", ErrorKind::kDenied, ""},
      {400, R"({"__type":"x#ThrottlingException"})", ErrorKind::kUnavailable, ""},
      {400, R"({"__type":"x#RequestThrottled"})", ErrorKind::kUnavailable, ""},
      {400, R"({"__type":"x#OverLimit"})", ErrorKind::kUnavailable, ""},
      {429, "", ErrorKind::kUnavailable, "Http429"},
      {500, R"({"__type":"x#InternalFailure"})", ErrorKind::kUnavailable, ""},
      {503, "down", ErrorKind::kUnavailable, "Http503"},
      {400, R"({"__type":"x#InvalidAddress"})", ErrorKind::kInvalidArgument, "InvalidAddress"},
      {302, "", ErrorKind::kInvalidArgument, "Http302"},
  };
  for (const auto& each : cases)
    EXPECT_THAT(
        Open(each.status, each.body)->Receive(Ample()),
        IsError(each.kind, AllOf(HasSubstr(each.message), HasSubstr("operation=ReceiveMessage"),
                                 Not(HasSubstr("s3cr3t")))))
        << each.status << each.body;
}

TEST_F(SqsQueueTest, CredentialsThatAreOverAreAskedForOnceMore) {
  const auto queue = Open(400, R"({"__type":"x#ExpiredTokenException"})");
  EXPECT_THAT(queue->Receive(Ample()), IsError(ErrorKind::kDenied, HasSubstr("ExpiredToken")));
  EXPECT_EQ(server_->Requests().size(), 2U);
}

TEST_F(SqsQueueTest, AWaitForMessagesEndsWhenItIsStopped) {
  std::stop_source stop;
  server_ = std::make_unique<ScriptedHttpServer>([&](const ScriptedRequest&, int) {
    stop.request_stop();
    auto reply = HttpReply(200, "{}");
    reply.wait_before = 10min;
    return reply;
  });
  auto queue = SqsQueue::Make({.url = Url()});
  ASSERT_THAT(queue, IsOk());
  EXPECT_THAT((*queue)->Receive(Budget::For(1h, stop.get_token())),
              IsError(ErrorKind::kCancelled, HasSubstr("operation=ReceiveMessage")));
}

TEST_F(SqsQueueTest, AnEndpointOfTheConfigurationOrTheEnvironmentComesFirst) {
  server_ = std::make_unique<ScriptedHttpServer>(
      [](const ScriptedRequest&, int) { return HttpReply(200, "{}"); });
  const std::string url = "http://sqs.eu-west-1.nowhere.invalid/123456789012/lake";
  auto queue = SqsQueue::Make({.url = url, .endpoint = server_->endpoint()});
  ASSERT_THAT(queue, IsOk());
  EXPECT_THAT((*queue)->Receive(Ample()), IsOkAnd(IsEmpty()));
  ::setenv("AWS_ENDPOINT_URL_SQS", server_->endpoint().c_str(), 1);
  queue = SqsQueue::Make({.url = url});
  ASSERT_THAT(queue, IsOk());
  EXPECT_THAT((*queue)->Receive(Ample()), IsOkAnd(IsEmpty()));
  ::unsetenv("AWS_ENDPOINT_URL_SQS");
  for (const auto& request : server_->Requests()) {
    EXPECT_EQ(json::parse(request.body)["QueueUrl"], url);
    EXPECT_THAT(request.headers.at("authorization"), HasSubstr("/eu-west-1/sqs/"));
  }
}

}  // namespace
}  // namespace tidemark::storage
