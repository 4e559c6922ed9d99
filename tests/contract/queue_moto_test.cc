// Queues that wake us up against moto, somebody else's idea of SQS, and of what S3 tells it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "app/queue_wake_ups.h"
#include "storage/aws_json.h"
#include "storage/object_store.h"
#include "storage/sqs_queue.h"
#include "support/result_matchers.h"
#include "support/s3_server.h"

namespace tidemark::app {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

// Started by main(): a child ends with the thread that started it.
std::unique_ptr<support::S3Server> server;

constexpr const char* kAccount = "123456789012";

class QueueMotoTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = storage::AwsJsonService::Make({.service = "sqs",
                                               .endpoint = server->endpoint(),
                                               .region = "us-east-1",
                                               .protocol = "1.0"});
    ASSERT_THAT(made, IsOk());
    service_ = *std::move(made);
  }
  void TearDown() override { wake_ups_.reset(); }

  static Budget Ample() { return Budget::For(2min); }
  static storage::SqsQueueOptions Options(const std::string& name = "lake") {
    return {
        .url = server->endpoint() + "/" + kAccount + "/" + name, .region = "us-east-1", .wait = 1s};
  }
  json Ask(const std::string& operation, json request) {
    request["QueueUrl"] = Options().url;
    const auto answer = service_->Send("AmazonSQS." + operation, request.dump(), Ample());
    EXPECT_THAT(answer, IsOk());
    EXPECT_EQ(answer->status, 200) << answer->body;
    return json::parse(answer->body);
  }
  void Put(const std::string& body) { Ask("SendMessage", {{"MessageBody", body}}); }
  static int CountOf(const json& text) {
    const auto& digits = text.get_ref<const std::string&>();
    int count = -1;
    std::from_chars(digits.data(), digits.data() + digits.size(), count);
    return count;
  }
  /// Those that wait and those that were received and not deleted.
  int Messages() {
    const json said = Ask("GetQueueAttributes", {{"AttributeNames", {"All"}}})["Attributes"];
    return CountOf(said["ApproximateNumberOfMessages"]) +
           CountOf(said["ApproximateNumberOfMessagesNotVisible"]);
  }
  void Start() {
    QueueConfig queue{.name = "lake", .match = "s3://lake/*", .sqs = Options()};
    wake_ups_ = std::make_unique<QueueWakeUps>(WakeUpsConfig{.queues = {queue}});
    wake_ups_->Start([this](const std::string& uri) {
      const std::lock_guard lock(mutex_);
      woken_.insert(uri);
    });
  }
  static bool Await(const std::function<bool()>& is_so) {
    Budget budget = Ample();
    budget.retry_delay = 20ms;
    budget.tries_max = 1'000'000;
    while (!is_so() && budget.WaitForTry(2)) {
    }
    return is_so();
  }
  std::set<std::string> Woken() {
    const std::lock_guard lock(mutex_);
    return woken_;
  }

  std::unique_ptr<storage::AwsJsonService> service_;
  std::mutex mutex_;
  std::set<std::string> woken_;
  std::unique_ptr<QueueWakeUps> wake_ups_;
};

TEST_F(QueueMotoTest, WhatABucketTellsWakesTheTableAndIsGone) {
  // S3's own test event waits since the notifications were switched on.
  Start();
  auto store = storage::OpenStore("s3://lake/my orders", server->Options());
  ASSERT_THAT(store, IsOk());
  for (const char* const key :
       {".hoodie/20260101120000000.commit.requested", "dt=1/a_1-0-1_20260101120000000.parquet",
        ".hoodie/20260101120000000.commit",
        ".hoodie/timeline/20260101130000000_20260101130001000.deltacommit"})
    ASSERT_THAT((*store)->Put(key, "{}", Ample()), IsOk());
  ASSERT_TRUE(Await([&] { return Woken().size() == 2 && Messages() == 0; }));
  EXPECT_THAT(Woken(), UnorderedElementsAre("s3://lake/my orders/.hoodie/20260101120000000.commit",
                                            "s3://lake/my orders/.hoodie/timeline/"
                                            "20260101130000000_20260101130001000.deltacommit"));
  EXPECT_TRUE(Await([&] { return wake_ups_->IsTold("s3://lake/my orders"); }));
  EXPECT_EQ(wake_ups_->Health()[0].misunderstood, 0U);
  EXPECT_EQ(wake_ups_->Health()[0].failures, 0U);
}

TEST_F(QueueMotoTest, WhatIsNotUnderstoodIsGoneToo) {
  for (int i = 0; i < 15; ++i) Put("no event " + std::to_string(i));
  Put(R"({"basePath":"s3://lake/clicks"})");
  Start();
  ASSERT_TRUE(Await([&] { return Woken().size() == 1 && Messages() == 0; }));
  EXPECT_EQ(wake_ups_->Health()[0].misunderstood, 15U);
}

TEST_F(QueueMotoTest, MessagesThatWaitAreCountedAndNotReceived) {
  Put("one");
  auto queue = storage::SqsQueue::Make(Options());
  ASSERT_THAT(queue, IsOk());
  EXPECT_THAT((*queue)->CountWaiting(Ample()), IsOkAnd(1U));
  ASSERT_OK_ASSIGN(const auto messages, (*queue)->Receive(Ample()));
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].body, "one");
  EXPECT_THAT((*queue)->Delete(messages, Ample()), IsOk());
  EXPECT_EQ(Messages(), 0);
}

TEST_F(QueueMotoTest, AQueueThatIsNotThereIsSaidToBeMissing) {
  auto queue = storage::SqsQueue::Make(Options("nowhere"));
  ASSERT_THAT(queue, IsOk());
  EXPECT_THAT((*queue)->Receive(Ample()),
              IsError(ErrorKind::kNotFound, HasSubstr("operation=ReceiveMessage")));
}

TEST_F(QueueMotoTest, AWrongSignatureIsDenied) {
  ::setenv("AWS_SECRET_ACCESS_KEY", "wrong", 1);
  auto queue = storage::SqsQueue::Make(Options());
  EXPECT_THAT(queue, IsOk());
  const auto received = (*queue)->Receive(Ample());
  server->ExportKeys();
  EXPECT_THAT(received, IsError(ErrorKind::kDenied, HasSubstr("operation=ReceiveMessage")));
}

}  // namespace
}  // namespace tidemark::app

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  auto started = tidemark::support::S3Server::StartMoto({"lake"}, {}, {"lake"});
  if (!started) {
    std::cerr << started.error().message << '\n';
    return 1;
  }
  tidemark::app::server = *std::move(started);
  tidemark::app::server->ExportKeys();
  const int code = RUN_ALL_TESTS();
  tidemark::app::server.reset();
  return code;
}
