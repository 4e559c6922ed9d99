#include "feed/kafka_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace tidemark::feed {
namespace {

using kafka::client::TopicState;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// As PrepareTopics makes them.
std::vector<TopicState> Good(const FeedTopics& topics) {
  std::vector<TopicState> found;
  for (const auto& topic : MissingTopics(topics, {}))
    found.push_back({topic.topic, topic.partition_count, topic.settings});
  return found;
}

TEST(KafkaLogTest, TopicsAsTheyAreMadeFit) {
  const FeedTopics topics;
  EXPECT_EQ(Good(topics).size(), 5U);
  EXPECT_THAT(JudgeTopics(topics, Good(topics)), IsEmpty());
  EXPECT_THAT(MissingTopics(topics, Good(topics)), IsEmpty());
}

TEST(KafkaLogTest, EachThingThatIsWrongIsNamedWithItsTopicAndItsCure) {
  const FeedTopics topics;
  using Change = std::function<void(std::vector<TopicState>&)>;
  const auto set = [](size_t topic, const char* name, const char* value) -> Change {
    return [=](auto& found) { (*found[topic].settings)[name] = value; };
  };
  const std::pair<Change, const char*> cases[] = {
      {[](auto& found) { found[0].partition_count = 65; }, "it has 65 partitions"},
      {[](auto& found) { found[3].partition_count = 1; }, "it has 1 partitions"},
      {[](auto& found) { found[1].partition_count = 0; }, "it is missing"},
      {set(0, "cleanup.policy", "compact"), "must be 'delete'"},
      {set(1, "cleanup.policy", "delete"), "must be 'compact'"},
      {set(2, "cleanup.policy", "compact,delete"), "must be 'compact'"},
      {set(0, "max.message.bytes", "1048587"), "max.message.bytes is 1048587"},
      {set(0, "retention.ms", "604799999"), "retention.ms is 604799999"},
  };
  for (const auto& [change, words] : cases) {
    auto found = Good(topics);
    change(found);
    EXPECT_THAT(JudgeTopics(topics, found), ElementsAre(AllOf(HasSubstr("kafka topic=hudi.meta."),
                                                              HasSubstr(words))));
  }
}

TEST(KafkaLogTest, WhatIsAtTheLimitFits) {
  const FeedTopics topics;
  auto found = Good(topics);
  (*found[0].settings)["retention.ms"] = "-1";
  (*found[1].settings)["max.message.bytes"] = "1048588";
  found[4].partition_count = 7;  // of the dead letters anything goes
  EXPECT_THAT(JudgeTopics(topics, found), IsEmpty());
}

TEST(KafkaLogTest, SettingsThatMayNotBeSeenAreTakenForRight) {
  const FeedTopics topics;
  auto found = Good(topics);
  for (auto& topic : found) topic.settings.reset();
  EXPECT_THAT(JudgeTopics(topics, found), IsEmpty());
}

}  // namespace
}  // namespace tidemark::feed
