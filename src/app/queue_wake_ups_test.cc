#include "app/queue_wake_ups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "app/doctor.h"
#include "support/scripted_http_server.h"

namespace tidemark::app {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using support::HttpReply;
using support::ScriptedHttpServer;
using support::ScriptedReply;
using support::ScriptedRequest;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kInstant = "s3://lake/orders/.hoodie/20260101120000000.commit";

std::string EventOf(const std::string& key) {
  json event;
  event["Records"][0]["s3"] = {{"bucket", {{"name", "lake"}}}, {"object", {{"key", key}}}};
  return event.dump();
}

/// A queue that hides nothing: what was received comes again until it is deleted.
class QueueOfTest {
 public:
  void Put(const std::string& body) {
    const std::lock_guard lock(mutex_);
    messages_["r" + std::to_string(++count_)] = body;
  }
  /// Answers so instead.
  void SetRefusal(const std::string& operation, int status, const std::string& body) {
    const std::lock_guard lock(mutex_);
    refusals_[operation] = {status, body};
  }
  void ClearRefusals() {
    const std::lock_guard lock(mutex_);
    refusals_.clear();
  }
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return messages_.size();
  }

  ScriptedReply Answer(const ScriptedRequest& request) {
    const std::lock_guard lock(mutex_);
    const std::string target = request.headers.at("x-amz-target");
    const std::string operation = target.substr(target.find('.') + 1);
    if (const auto refused = refusals_.find(operation); refused != refusals_.end())
      return HttpReply(refused->second.first, refused->second.second);
    const json asked = json::parse(request.body);
    json answer = json::object();
    if (operation == "ReceiveMessage") {
      const auto most = asked["MaxNumberOfMessages"].get<size_t>();
      for (const auto& [receipt, body] : messages_) {
        if (answer["Messages"].size() < most)
          answer["Messages"].push_back(json{{"ReceiptHandle", receipt}, {"Body", body}});
      }
    } else if (operation == "DeleteMessageBatch") {
      for (const json& entry : asked["Entries"])
        messages_.erase(entry["ReceiptHandle"].get<std::string>());
    } else {
      answer["Attributes"]["ApproximateNumberOfMessages"] = std::to_string(messages_.size());
    }
    return HttpReply(200, answer.dump());
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> messages_;                  // by receipt
  std::map<std::string, std::pair<int, std::string>> refusals_;  // by operation
  int count_ = 0;
};

class QueueWakeUpsTest : public testing::Test {
 protected:
  QueueWakeUpsTest() {
    ::setenv("AWS_ACCESS_KEY_ID", "KEY", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t-key", 1);
    for (const char* const name : {"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SQS", "AWS_PROFILE",
                                   "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"})
      ::unsetenv(name);
  }
  ~QueueWakeUpsTest() override {
    wake_ups_.reset();
    ::unsetenv("AWS_ACCESS_KEY_ID");
    ::unsetenv("AWS_SECRET_ACCESS_KEY");
  }
  QueueConfig Configured(const std::string& name = "lake") const {
    return {.name = name,
            .match = "s3://" + name + "/*",
            .sqs = {.url = server_.endpoint() + "/1/" + name, .wait = 0s}};
  }
  void Start(std::vector<QueueConfig> queues) {
    wake_ups_ = std::make_unique<QueueWakeUps>(
        WakeUpsConfig{.queues = std::move(queues)},
        QueueTimes{.pause_first = 1ms, .pause_max = 5ms, .request = 10s, .empty_answer_min = 1ms});
    wake_ups_->Start([this](const std::string& uri) {
      const std::lock_guard lock(mutex_);
      ++woken_[uri];
      changed_.notify_all();
    });
  }
  bool Await(const std::function<bool()>& is_so) {
    std::unique_lock lock(mutex_);
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > until) return false;
      changed_.wait_for(lock, 5ms);
    }
    return true;
  }
  std::vector<std::string> Woken() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> uris;
    for (const auto& [uri, count] : woken_) uris.push_back(uri);
    return uris;
  }

  QueueOfTest queue_;
  ScriptedHttpServer server_{
      [this](const ScriptedRequest& request, int) { return queue_.Answer(request); }};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, int> woken_;
  std::unique_ptr<QueueWakeUps> wake_ups_;
};

TEST(QueuePauseTest, ItDoublesFromOneSecondToSixty) {
  const QueueTimes times;
  std::vector<int64_t> pauses;
  Milliseconds pause{0};
  for (int i = 0; i < 8; ++i) {
    pause = NextQueuePause(pause, times);
    pauses.push_back(pause.count());
  }
  EXPECT_THAT(pauses, ElementsAre(1000, 2000, 4000, 8000, 16'000, 32'000, 60'000, 60'000));
}

TEST_F(QueueWakeUpsTest, AMessageWakesItsTableAndIsGone) {
  queue_.Put(EventOf("orders/.hoodie/20260101120000000.commit"));
  queue_.Put(R"({"basePath":"s3://lake/clicks"})");
  Start({Configured()});
  ASSERT_TRUE(Await([&] { return queue_.size() == 0 && woken_.size() == 2; }));
  EXPECT_THAT(Woken(), ElementsAre("s3://lake/clicks", kInstant));
  EXPECT_EQ(wake_ups_->Health()[0].messages, 2U);
  EXPECT_EQ(wake_ups_->Health()[0].misunderstood, 0U);
}

TEST_F(QueueWakeUpsTest, MoreThanOneBatchIsTakenBatchByBatch) {
  for (int i = 0; i < 25; ++i)
    queue_.Put(EventOf("t" + std::to_string(i) + "/.hoodie/20260101120000000.commit"));
  Start({Configured()});
  ASSERT_TRUE(Await([&] { return queue_.size() == 0; }));
  EXPECT_EQ(Woken().size(), 25U);
}

TEST_F(QueueWakeUpsTest, WhatTellsOfNoCommitIsDeletedAndWakesNobody) {
  queue_.Put(EventOf("orders/dt=1/a_1-0-1_20260101120000000.parquet"));
  queue_.Put(R"({"Service":"Amazon S3","Event":"s3:TestEvent","Bucket":"lake"})");
  Start({Configured()});
  ASSERT_TRUE(Await([&] { return queue_.size() == 0; }));
  EXPECT_TRUE(Woken().empty());
  EXPECT_EQ(wake_ups_->Health()[0].misunderstood, 0U);
}

TEST_F(QueueWakeUpsTest, WhatIsNotUnderstoodIsSaidOnceAKindAndDeleted) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 12; ++i) queue_.Put("s3cr3t" + std::to_string(i));
  for (int i = 0; i < 12; ++i) queue_.Put(R"({"s3cr3t":1})");
  Start({Configured()});
  ASSERT_TRUE(Await([&] { return queue_.size() == 0; }));
  wake_ups_->Stop();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(log, '\n'), 2) << log;
  EXPECT_THAT(log, AllOf(HasSubstr("the body is no JSON object"), HasSubstr("the body is neither"),
                         Not(HasSubstr("s3cr3t"))));
  EXPECT_EQ(wake_ups_->Health()[0].misunderstood, 24U);
}

TEST_F(QueueWakeUpsTest, ATopicThatWantsToSendToTheQueueIsSaidOnceWithItsLink) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    queue_.Put(R"({"Type":"SubscriptionConfirmation","TopicArn":"arn:aws:sns:eu-west-1:1:lake",)"
               R"("SubscribeURL":"https://sns.eu-west-1.amazonaws.com/?Token=1"})");
  }
  Start({Configured()});
  ASSERT_TRUE(Await([&] { return queue_.size() == 0; }));
  wake_ups_->Stop();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(log, '\n'), 1) << log;
  EXPECT_THAT(log, AllOf(HasSubstr("queue=lake: "), HasSubstr("topic=arn:aws:sns:eu-west-1:1:lake"),
                         HasSubstr("link=https://sns.eu-west-1.amazonaws.com/?Token=1")));
  EXPECT_EQ(wake_ups_->Health()[0].misunderstood, 0U);
}

TEST_F(QueueWakeUpsTest, AQueueThatRefusesIsSaidOnceAndNothingIsToldUntilItIsBack) {
  testing::internal::CaptureStderr();
  queue_.SetRefusal("ReceiveMessage", 400, R"({"__type":"x#AccessDeniedException"})");
  Start({Configured()});
  ASSERT_TRUE(Await([&] { return wake_ups_->Health()[0].failures >= 5; }));
  EXPECT_EQ(wake_ups_->Health()[0].is_up, false);
  EXPECT_FALSE(wake_ups_->IsTold("s3://lake/orders"));
  queue_.Put(EventOf("orders/.hoodie/20260101120000000.commit"));
  queue_.ClearRefusals();
  ASSERT_TRUE(Await([&] { return queue_.size() == 0; }));
  ASSERT_TRUE(Await([&] { return wake_ups_->IsTold("s3://lake/orders"); }));
  EXPECT_FALSE(wake_ups_->IsTold("s3://other/orders"));
  wake_ups_->Stop();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(log, '\n'), 1) << log;  // "answers again" is for who logs more
  EXPECT_THAT(log, AllOf(HasSubstr("queue=lake"), HasSubstr("AccessDeniedException"),
                         Not(HasSubstr("s3cr3t"))));
}

TEST_F(QueueWakeUpsTest, WhereDeletingIsRefusedTablesAreWokenAllTheSameAndTheQueueIsNotUp) {
  queue_.SetRefusal("DeleteMessageBatch", 403, "");
  queue_.Put(EventOf("orders/.hoodie/20260101120000000.commit"));
  Start({Configured()});
  ASSERT_TRUE(Await([&] { return woken_[kInstant] >= 3; }));
  EXPECT_FALSE(wake_ups_->IsTold("s3://lake/orders"));
  queue_.ClearRefusals();
  ASSERT_TRUE(Await([&] { return wake_ups_->IsTold("s3://lake/orders"); }));
  EXPECT_EQ(queue_.size(), 0U);
}

TEST_F(QueueWakeUpsTest, AQueueThatDoesNotAnswerDelaysNoOther) {
  ScriptedHttpServer silent([](const ScriptedRequest&, int) {
    auto reply = HttpReply(200, "{}");
    reply.wait_before = 1h;
    return reply;
  });
  QueueConfig dead = Configured("dead");
  dead.sqs.url = silent.endpoint() + "/1/dead";
  dead.sqs.wait = 20s;
  queue_.Put(EventOf("orders/.hoodie/20260101120000000.commit"));
  Start({dead, Configured()});
  ASSERT_TRUE(Await([&] { return queue_.size() == 0 && silent.Requests().size() == 1; }));
  EXPECT_EQ(Woken().size(), 1U);
  EXPECT_FALSE(wake_ups_->Health()[0].is_up.has_value());
  wake_ups_.reset();  // waits for nobody
}

TEST_F(QueueWakeUpsTest, AQueueWithoutMatchPromisesNothing) {
  QueueConfig queue = Configured();
  queue.match.clear();
  Start({queue});
  ASSERT_TRUE(Await([&] { return wake_ups_->Health()[0].is_up == true; }));
  EXPECT_FALSE(wake_ups_->IsTold("s3://lake/orders"));
}

TEST_F(QueueWakeUpsTest, DoctorSaysWhetherAQueueAnswers) {
  EXPECT_TRUE(DiagnoseQueues({}, 10s, {}).checks.empty());
  Config config;
  config.wake_ups.queues = {Configured()};
  queue_.Put("x");
  auto diagnosis = DiagnoseQueues(config, 10s, {});
  EXPECT_EQ(diagnosis.subject, "(wake-ups)");
  ASSERT_EQ(diagnosis.checks.size(), 1U);
  EXPECT_EQ(diagnosis.checks[0].name, "lake");
  EXPECT_EQ(diagnosis.checks[0].outcome, CheckOutcome::kOk);
  EXPECT_THAT(diagnosis.checks[0].detail, HasSubstr("about 1"));
  EXPECT_EQ(queue_.size(), 1U);
  const struct {
    int status;
    const char* body;
    const char* cure;
  } cases[] = {
      {400, R"({"__type":"x#AccessDeniedException"})", "grant sqs:ReceiveMessage"},
      {400, R"({"__type":"x#QueueDoesNotExist"})", "queue_url"},
      {503, "", "check the address"},
      {400, R"({"__type":"x#InvalidAddress"})", "docs/serve.md"},
  };
  for (const auto& each : cases) {
    queue_.SetRefusal("GetQueueAttributes", each.status, each.body);
    diagnosis = DiagnoseQueues(config, 10s, {});
    ASSERT_EQ(diagnosis.checks.size(), 1U);
    EXPECT_EQ(diagnosis.checks[0].outcome, CheckOutcome::kFailed);
    EXPECT_THAT(diagnosis.checks[0].cure, HasSubstr(each.cure));
  }
}

}  // namespace
}  // namespace tidemark::app
