#include "app/cluster_questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tidemark::app {
namespace {

using kafka::ProbeRequest;
using kafka::ProbeResult;
using ::testing::SizeIs;

class ListeningProbe final : public kafka::PartitionProbe {
 public:
  Result<ProbeResult> Probe(const ProbeRequest& request, const Budget&) override {
    requests.push_back(request);
    return ProbeResult{};
  }
  std::vector<ProbeRequest> requests;
};

ProbeRequest::Topic Topic(kafka::Offset committed, int32_t known_epoch) {
  ProbeRequest::Topic topic{.name = "orders", .committed = {{0, committed}}};
  topic.wants_epochs = true;
  topic.known_topic_id = "id-1";
  topic.known_epochs[0] = {.epoch = known_epoch};
  return topic;
}

size_t RequestsFor(const std::vector<ProbeRequest::Topic>& topics) {
  std::vector<ClusterQuestion> questions;
  for (const auto& topic : topics) questions.push_back({topic});
  ListeningProbe probe;
  const auto answers = AskCluster(probe, HiddenValues(), kafka::IsolationLevel::kReadUncommitted,
                                  questions, Budget::For(std::chrono::seconds(5)));
  EXPECT_THAT(answers, SizeIs(topics.size()));
  return probe.requests.size();
}

TEST(ClusterQuestionsTest, PipelinesOnOneTopicShareARequestWhereTheyAskTheSame) {
  EXPECT_EQ(RequestsFor({Topic(5, 7), Topic(5, 7)}), 1u);
  EXPECT_EQ(RequestsFor({Topic(5, 7), Topic(6, 7)}), 2u);
}

TEST(ClusterQuestionsTest, WhatOneRemembersOfALeaderIsNotAskedForAnother) {
  EXPECT_EQ(RequestsFor({Topic(5, 7), Topic(5, 8)}), 2u);
  ProbeRequest::Topic is_new = Topic(5, 7);
  is_new.known_epochs.clear();
  EXPECT_EQ(RequestsFor({Topic(5, 7), is_new}), 2u);
  ProbeRequest::Topic of_another = Topic(5, 7);
  of_another.known_topic_id = "id-0";
  EXPECT_EQ(RequestsFor({Topic(5, 7), of_another}), 2u);
}

}  // namespace
}  // namespace tidemark::app
