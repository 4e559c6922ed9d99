#include "app/wake_up_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/config.h"
#include "support/config_file.h"

namespace tidemark::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr const char* kUrl = "https://sqs.eu-west-1.amazonaws.com/123456789012/lake";
constexpr const char* kSecret = "https://s3cr3t-host/9876543210/s3cr3t-queue";

class WakeUpConfigTest : public testing::Test {
 protected:
  LoadedConfig Load(const std::string& text) const { return file_.Load(text); }
  WakeUpsConfig Good(const std::string& text) const { return file_.Good(text).wake_ups; }
  std::vector<std::string> Mistakes(const std::string& text) const { return file_.Mistakes(text); }

  support::ConfigFile file_{{{"QUEUE", kSecret}}};
};

TEST_F(WakeUpConfigTest, AQueueNeedsItsUrlAlone) {
  EXPECT_THAT(Good("{}").queues, IsEmpty());
  EXPECT_THAT(Good("wake_ups: {}").queues, IsEmpty());
  const auto queues = Good("wake_ups: { sqs: [ { queue_url: \"" + std::string(kUrl) + "\" } ] }");
  ASSERT_THAT(queues.queues, SizeIs(1));
  EXPECT_EQ(queues.queues[0], (QueueConfig{.name = "lake", .match = "", .sqs = {.url = kUrl}}));
  EXPECT_EQ(queues.queues[0].sqs.wait, std::chrono::seconds(20));
}

TEST_F(WakeUpConfigTest, EverythingElseMayBeGiven) {
  const auto queues = Good(R"(
wake_ups:
  sqs:
    - queue_url: "http://127.0.0.1:9324/000000000000/lake"
      region: eu-central-1
      endpoint: "http://127.0.0.1:9325"
      match: "s3://lake/*"
    - { queue_url: "http://127.0.0.1:9324/111111111111/lake", name: other }
)");
  ASSERT_THAT(queues.queues, SizeIs(2));
  EXPECT_EQ(queues.queues[0], (QueueConfig{.name = "lake",
                                           .match = "s3://lake/*",
                                           .sqs = {.url = "http://127.0.0.1:9324/000000000000/lake",
                                                   .region = "eu-central-1",
                                                   .endpoint = "http://127.0.0.1:9325"}}));
  EXPECT_EQ(queues.queues[1].name, "other");
}

TEST_F(WakeUpConfigTest, EveryMistakeIsSaidWithItsPlace) {
  EXPECT_THAT(
      Mistakes(R"(wake_ups:
  sqs:
    - { region: eu-west-1 }
    - { queue_url: lake }
    - { queue_url: "http://h/1/q", region: "eu west", endpoint: "ftp://x" }
    - { queue_url: "http://h/1/q", name: q2 }
    - { queue_url: "http://h/2/q", queue: x }
    - 7
)"),
      ElementsAre(
          "3:7: wake_ups.sqs[0].queue_url: a URL such as "
          "https://sqs.eu-west-1.amazonaws.com/123456789012/lake is wanted",
          HasSubstr("4:20: wake_ups.sqs[1].queue_url: not the URL of a queue such as https"),
          "5:44: wake_ups.sqs[2].region: 'eu west' is no name of a region",
          HasSubstr("5:65: wake_ups.sqs[2].endpoint: not an endpoint"),
          "6:20: wake_ups.sqs[3].queue_url: this queue is given twice",
          "7:7: wake_ups.sqs[4].name: there is a queue 'q' already, give this one a name",
          HasSubstr("7:36: wake_ups.sqs[4]: unknown key 'queue'"),
          HasSubstr("8:7: wake_ups.sqs[5]"), HasSubstr("8:7: wake_ups.sqs[5].queue_url")));
  EXPECT_THAT(Mistakes("wake_ups: { sqs: { queue_url: x } }"),
              ElementsAre(HasSubstr("1:18: wake_ups.sqs: a list of queues is wanted")));
  EXPECT_THAT(Mistakes("wake_ups: { sns: [] }"),
              ElementsAre(HasSubstr("1:13: wake_ups: unknown key 'sns'")));
}

TEST_F(WakeUpConfigTest, WhatCameOutOfTheEnvironmentIsShownNowhere) {
  const auto queues = Good("wake_ups: { sqs: [ { queue_url: \"${env:QUEUE}\" } ] }");
  ASSERT_THAT(queues.queues, SizeIs(1));
  EXPECT_EQ(queues.queues[0].sqs.url, kSecret);
  EXPECT_EQ(queues.queues[0].name, "queue1");
  EXPECT_THAT(queues.hidden.Hide(std::string("no answer: host=s3cr3t-host")),
              Not(HasSubstr("s3cr3t")));
  for (const auto& mistake :
       Mistakes("wake_ups: { sqs: [ { queue_url: \"${env:QUEUE}?\", region: \"${env:QUEUE}\", "
                "endpoint: \"x:${env:QUEUE}\" } ] }"))
    EXPECT_THAT(mistake, Not(HasSubstr("s3cr3t")));
}

}  // namespace
}  // namespace tidemark::app
