#include <fmt/core.h>

#include <utility>

#include "kafka/client/faults_internal.h"
#include "kafka/client/group_topic_internal.h"
#include "kafka/client/topic_facts_internal.h"

namespace tidemark::kafka::client {

namespace {

/// As many replicas as the brokers give by default (2.4 and later).
constexpr int kReplicationDefault = -1;

ErrorKind KindOf(rd_kafka_resp_err_t code) {
  if (code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
      code == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED)
    return ErrorKind::kDenied;
  if (code == RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT || code == RD_KAFKA_RESP_ERR__TIMED_OUT ||
      code == RD_KAFKA_RESP_ERR_NOT_CONTROLLER)
    return ErrorKind::kUnavailable;
  return ErrorKind::kInvalidArgument;
}

struct DestroyNewTopic {
  void operator()(rd_kafka_NewTopic_t* it) const { rd_kafka_NewTopic_destroy(it); }
};

}  // namespace

Status CreateGroupTopic(Client& client, const GroupOptions& options, TopicCreation creation,
                        const Budget& budget) {
  char text[512] = "";
  const std::unique_ptr<rd_kafka_NewTopic_t, DestroyNewTopic> topic(rd_kafka_NewTopic_new(
      options.topic.c_str(), options.partition_count, kReplicationDefault, text, sizeof text));
  if (!topic) return Fail(ErrorKind::kInvalidArgument, text);
  const auto how = AdminOptions(client, RD_KAFKA_ADMIN_OP_CREATETOPICS, budget.Remaining());
  if (creation == TopicCreation::kOnlyTry)
    rd_kafka_AdminOptions_set_validate_only(how.get(), 1, text, sizeof text);
  const AnswerQueue answers(client);
  rd_kafka_NewTopic_t* topics[] = {topic.get()};
  rd_kafka_CreateTopics(client.handle.get(), topics, 1, how.get(), answers.get());
  const Owned<rd_kafka_event_t> event = answers.Next(budget.Remaining());
  if (!event) return Fail(ErrorKind::kUnavailable, "no answer in time");
  rd_kafka_resp_err_t code = rd_kafka_event_error(event.get());
  std::string words = code == 0 ? "" : rd_kafka_event_error_string(event.get());
  size_t count = 0;
  const auto* result = rd_kafka_event_CreateTopics_result(event.get());
  const auto* created = code == 0 && result != nullptr
                            ? rd_kafka_CreateTopics_result_topics(result, &count)
                            : nullptr;
  if (count == 1) {
    code = rd_kafka_topic_result_error(created[0]);
    if (const char* more = rd_kafka_topic_result_error_string(created[0])) words = more;
  }
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
    return {};
  return Fail(KindOf(code), words.empty() ? WordsOf(code) : words);
}

Result<TopicFacts> DescribeGroupTopic(Askers& askers, const ClusterOptions& cluster,
                                      const GroupOptions& options, const Budget& budget) {
  std::map<int32_t, std::string> addresses;
  TRY_ASSIGN(auto described,
             DescribeTopics(askers, cluster, {&options.topic, 1}, &addresses, budget));
  return std::move(described.front().facts);
}

Status EnsureGroupTopic(Askers& askers, const ClusterOptions& cluster, const GroupOptions& options,
                        const Budget& budget) {
  bool is_created = false;
  for (int attempt = 1;; ++attempt) {
    TRY_ASSIGN(const TopicFacts facts, DescribeGroupTopic(askers, cluster, options, budget));
    if (facts.exists && facts.partition_count >= options.partition_count) return {};
    if (facts.exists) {
      return Fail(ErrorKind::kInvalidArgument,
                  fmt::format("the topic has too few partitions topic={} partitions={} wanted={}",
                              options.topic, facts.partition_count, options.partition_count));
    }
    if (facts.fault != ProbeFault::kTopicMissing) {
      return Fail(
          facts.fault == ProbeFault::kTopicDenied ? ErrorKind::kDenied : ErrorKind::kUnavailable,
          fmt::format("topic={}: {}", options.topic, facts.fault_message));
    }
    if (!options.creates_topic) {
      return Fail(ErrorKind::kNotFound,
                  fmt::format("there is no topic, or DESCRIBE is missing topic={} wanted "
                              "partitions={}",
                              options.topic, options.partition_count));
    }
    if (!is_created) {
      auto created = CreateGroupTopic(*askers.current, options, TopicCreation::kDo, budget);
      if (!created) {
        return std::unexpected(std::move(created).error().With(
            fmt::format("the topic is missing and cannot be created topic={} wanted partitions={}",
                        options.topic, options.partition_count)));
      }
      is_created = true;
    }
    // Brokers hear of it a little later.
    Budget patient = budget;
    patient.tries_max = attempt + 1;
    if (!patient.WaitForTry(2))
      return Fail(ErrorKind::kUnavailable,
                  fmt::format("no answer in time topic={}", options.topic));
  }
}

}  // namespace tidemark::kafka::client
