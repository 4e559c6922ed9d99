#include "api/notice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/result_matchers.h"

namespace tidemark::api {

static void PrintTo(const Notice& notice, std::ostream* out) {
  *out << testing::PrintToString(notice.tables) << ' ' << testing::PrintToString(notice.objects);
  if (notice.subscription)
    *out << ' ' << notice.subscription->topic << ' ' << notice.subscription->confirm_url;
}

namespace {

using support::IsError;
using support::IsOkAnd;
using ::testing::HasSubstr;

Notice Tables(const std::string& uri) {
  return {.tables = {uri}};
}
Notice Objects(const std::string& uri) {
  return {.objects = {uri}};
}

TEST(NoticeTest, HudisCallbackNamesItsTable) {
  EXPECT_THAT(
      ParseNotice(R"({"commitTime":"20261130030557099","tableName":"t",)"
                  R"("basePath":"file:///warehouse/t","hoodieWriteStat":[{"path":"p0/x"}]})"),
      IsOkAnd(Tables("file:///warehouse/t")));
}

// The form that the S3 user guide gives for event notifications (version 2.1).
constexpr const char* kS3Event =
    R"({"Records":[{"eventVersion":"2.1","eventSource":"aws:s3","eventName":"ObjectCreated:Put",)"
    R"("s3":{"s3SchemaVersion":"1.0","bucket":{"name":"lake","arn":"arn:aws:s3:::lake"},)"
    R"("object":{"key":"my+orders/.hoodie/2026%2B1.commit","size":1024}}}]})";

TEST(NoticeTest, AnS3EventNamesItsObjectDecoded) {
  EXPECT_THAT(ParseNotice(kS3Event), IsOkAnd(Objects("s3://lake/my orders/.hoodie/2026+1.commit")));
}

std::string AsText(const std::string& json) {
  std::string text;
  for (const char c : json) text += c == '"' ? std::string("\\\"") : std::string(1, c);
  return text;
}

TEST(NoticeTest, AnS3EventInsideSnsOrSqsIsFound) {
  const std::string uri = "s3://lake/my orders/.hoodie/2026+1.commit";
  EXPECT_THAT(ParseNotice(R"({"Type":"Notification","Message":")" + AsText(kS3Event) + "\"}"),
              IsOkAnd(Objects(uri)));
  EXPECT_THAT(ParseNotice(R"({"Records":[{"messageId":"1","body":")" + AsText(kS3Event) + "\"}]}"),
              IsOkAnd(Objects(uri)));
}

TEST(NoticeTest, TheTestEventOfS3NamesNothing) {
  EXPECT_THAT(ParseNotice(R"({"Service":"Amazon S3","Event":"s3:TestEvent","Bucket":"lake"})"),
              IsOkAnd(Notice()));
}

TEST(NoticeTest, AnyUriMayBeGivenPlainly) {
  EXPECT_THAT(ParseNotice(R"({"uri":"/data/orders"})"), IsOkAnd(Tables("/data/orders")));
}

TEST(NoticeTest, WhatIsNoneOfTheseIsRefused) {
  for (const char* bad :
       {"", "[]", "null", "{}", "{\"basePath\":7}", R"({"Records":{}})", R"({"Records":[1]})",
        R"({"Records":[{"s3":{"bucket":"x"}}]})", R"({"Records":[{"body":"{"}]})",
        R"({"Records":[{"s3":{"bucket":{"name":"b"},"object":{"key":""}}}]})", R"({"Message":"x"})",
        R"({"Message":"[]"})", R"({"detail":{"bucket":{"name":"b"},"object":{"key":"k"}}})",
        R"({"source":"aws.s3","detail":{"bucket":{"name":"b"},"object":{}}})", "{\"uri\":"})
    EXPECT_THAT(ParseNotice(bad), IsError(ErrorKind::kInvalidArgument, HasSubstr("the body")))
        << bad;
}

// The example of "Amazon S3 event message structure for EventBridge", shortened; keys are plain.
constexpr const char* kEventBridge =
    R"({"version":"0","id":"17793124","detail-type":"Object Created","source":"aws.s3",)"
    R"("account":"111122223333","time":"2021-11-12T00:00:00Z","region":"ca-central-1",)"
    R"("resources":["arn:aws:s3:::amzn-s3-demo-bucket1"],"detail":{"version":"0",)"
    R"("bucket":{"name":"amzn-s3-demo-bucket1"},"object":{"key":"a+b%2Bc/x","size":5},)"
    R"("reason":"PutObject"}})";

TEST(NoticeTest, AnEventOfEventBridgeNamesItsObjectAsItIs) {
  EXPECT_THAT(ParseNotice(kEventBridge), IsOkAnd(Objects("s3://amzn-s3-demo-bucket1/a+b%2Bc/x")));
}

TEST(NoticeTest, ACallbackOrATestInsideSnsIsFound) {
  EXPECT_THAT(ParseNotice(R"({"Type":"Notification","Message":"{\"basePath\":\"s3://lake/t\"}"})"),
              IsOkAnd(Tables("s3://lake/t")));
  EXPECT_THAT(ParseNotice(R"({"Message":"{\"Event\":\"s3:TestEvent\"}"})"), IsOkAnd(Notice()));
}

// The examples of "Parsing Amazon SNS message formats", shortened.
constexpr const char* kSubscriptionConfirmation =
    R"({"Type":"SubscriptionConfirmation","MessageId":"165545c9","Token":"2336412f37",)"
    R"("TopicArn":"arn:aws:sns:us-west-2:123456789012:MyTopic","Message":"You have chosen to )"
    R"(subscribe to the topic arn:aws:sns:us-west-2:123456789012:MyTopic.\nTo confirm the )"
    R"(subscription, visit the SubscribeURL included in this message.","SubscribeURL":)"
    R"("https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37",)"
    R"("Timestamp":"2012-04-26T20:45:04.751Z","SignatureVersion":"1","Signature":"EXAMPLE"})";
constexpr const char* kUnsubscribeConfirmation =
    R"({"Type":"UnsubscribeConfirmation","MessageId":"47138184","Token":"2336412f37",)"
    R"("TopicArn":"arn:aws:sns:us-west-2:123456789012:MyTopic","Message":"You have chosen to )"
    R"(deactivate subscription arn:aws:sns:us-west-2:123456789012:MyTopic:2bcfbf39.\nTo cancel )"
    R"(this operation and restore the subscription, visit the SubscribeURL included in this )"
    R"(message.","SubscribeURL":"https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription",)"
    R"("Timestamp":"2012-04-26T20:06:41.581Z","SignatureVersion":"1","Signature":"EXAMPLE"})";

TEST(NoticeTest, WhatSnsSaysOfASubscriptionNamesItsTopic) {
  const std::string topic = "arn:aws:sns:us-west-2:123456789012:MyTopic";
  EXPECT_THAT(ParseNotice(kSubscriptionConfirmation),
              IsOkAnd(Notice{.subscription = Subscription{
                                 .topic = topic,
                                 .confirm_url = "https://sns.us-west-2.amazonaws.com/"
                                                "?Action=ConfirmSubscription&Token=2336412f37"}}));
  EXPECT_THAT(ParseNotice(kUnsubscribeConfirmation),
              IsOkAnd(Notice{.subscription = Subscription{.topic = topic}}));
}

TEST(NoticeTest, ASubscriptionWithoutItsTopicOrLinkIsRefused) {
  for (const char* bad :
       {R"({"Type":"SubscriptionConfirmation","SubscribeURL":"https://x"})",
        R"({"Type":"SubscriptionConfirmation","TopicArn":"arn:x"})",
        R"({"Type":"SubscriptionConfirmation","TopicArn":"arn:x","SubscribeURL":7})",
        R"({"Type":"UnsubscribeConfirmation"})",
        R"({"Type":"Notification","TopicArn":"arn:x","SubscribeURL":"https://x"})"})
    EXPECT_THAT(ParseNotice(bad), IsError(ErrorKind::kInvalidArgument, HasSubstr("the body")))
        << bad;
}

// What MinIO sends: the record of S3 beside two names of its own.
TEST(NoticeTest, AnEventOfMinioIsOneOfS3) {
  EXPECT_THAT(ParseNotice(R"({"EventName":"s3:ObjectCreated:Put","Key":"lake/t/x","Records":[)"
                          R"({"eventSource":"minio:s3","s3":{"bucket":{"name":"lake"},)"
                          R"("object":{"key":"t%2Fx"}}}]})"),
              IsOkAnd(Objects("s3://lake/t/x")));
}

TEST(NoticeTest, DamagedEventsAreRefusedInTheSameWords) {
  const auto is_known = [](const std::string& message) {
    return message == "the body is no JSON object" || message.starts_with("the body is neither a");
  };
  for (const char* const event :
       {kS3Event, kEventBridge, kSubscriptionConfirmation, kUnsubscribeConfirmation}) {
    const std::string whole = event;
    for (size_t length = 0; length < whole.size(); ++length)
      EXPECT_THAT(ParseNotice(whole.substr(0, length)),
                  IsError(ErrorKind::kInvalidArgument, "the body is no JSON object"));
    for (size_t at = 0; at < whole.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
        const auto notice = ParseNotice(damaged);
        if (!notice) {
          EXPECT_TRUE(is_known(notice.error().message)) << notice.error().message;
        }
      }
    }
  }
}

TEST(NoticeTest, OnlyInstantsThatCompletedTellOfACommit) {
  const struct {
    const char* uri;
    bool tells;
  } cases[] = {
      {"s3://lake/orders/.hoodie/20260101120000000.commit", true},
      {"s3://lake/orders/.hoodie/timeline/20260101120000000_20260101120001000.deltacommit", true},
      {"s3://lake/orders/.hoodie/20260101120000000.restore", true},
      {"s3://lake/orders/.hoodie/20260101120000000.deltacommit.inflight", false},
      {"s3://lake/orders/.hoodie/20260101120000000.commit.requested", false},
      {"s3://lake/orders/.hoodie/hoodie.properties", false},
      {"s3://lake/orders/.hoodie/", false},
      {"s3://lake/orders/.hoodie/metadata/.hoodie/20260101120000000.deltacommit", false},
      {"s3://lake/orders/.hoodie/metadata/.hoodie/timeline/20260101120000000_20260101120001000."
       "deltacommit",
       false},
      {"s3://lake/orders/.hoodie/archived/20260101120000000.commit", false},
      {"s3://lake/orders/dt=1/20260101120000000.commit", false},
      {"s3://lake/orders/timeline/20260101120000000.commit", false},
      {"s3://lake/orders/dt=1/abc_1-0-1_20260101120000000.parquet", false},
      {".hoodie/20260101120000000.commit", false},
      {"", false},
  };
  for (const auto& each : cases) EXPECT_EQ(TellsOfCommit(each.uri), each.tells) << each.uri;
}

}  // namespace
}  // namespace tidemark::api
