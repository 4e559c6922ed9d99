#include "kafka/client/topic_admin.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "kafka/client/clients_internal.h"
#include "kafka/client/faults_internal.h"

namespace tidemark::kafka::client {

namespace {

/// The replication factor that asks for the brokers' own.
constexpr int kDefaultReplication = -1;
/// A question is asked anew after so long.
constexpr Milliseconds kQuestionTime = std::chrono::seconds(5);

class OnRdKafka final : public TopicAdmin {
 public:
  Status Open(const ClusterOptions& cluster) {
    cluster_ = cluster;
    TRY_ASSIGN(client_, OpenAsker(cluster));
    return {};
  }

  Result<std::vector<TopicState>> Describe(std::span<const std::string> topics,
                                           std::span<const std::string> settings,
                                           const Budget& budget) override {
    std::vector<TopicState> states;
    for (const auto& topic : topics) {
      TRY_ASSIGN(const int32_t count, CountPartitions(topic, budget));
      states.push_back({.topic = topic, .partition_count = count});
    }
    for (auto& state : states) {
      if (state.partition_count == 0 || settings.empty()) continue;
      TRY_ASSIGN(state.settings, SettingsOf(state.topic, settings, budget));
    }
    return states;
  }

  Status Create(std::span<const NewTopic> topics, const Budget& budget) override {
    std::vector<Owned<rd_kafka_NewTopic_t>> owned;
    std::vector<rd_kafka_NewTopic_t*> wanted;
    std::array<char, 512> text{};
    for (const auto& topic : topics) {
      owned.emplace_back(rd_kafka_NewTopic_new(topic.topic.c_str(), topic.partition_count,
                                               kDefaultReplication, text.data(), text.size()));
      if (!owned.back()) return Fail(ErrorKind::kInvalidArgument, text.data());
      for (const auto& [name, value] : topic.settings)
        rd_kafka_NewTopic_set_config(owned.back().get(), name.c_str(), value.c_str());
      wanted.push_back(owned.back().get());
    }
    const auto limit = LimitOf(budget);
    const auto options = AdminOptions(*client_, RD_KAFKA_ADMIN_OP_CREATETOPICS, limit);
    const AnswerQueue answers(*client_);
    rd_kafka_CreateTopics(client_->handle.get(), wanted.data(), wanted.size(), options.get(),
                          answers.get());
    const auto event = answers.Next(limit);
    TRY(Checked(event.get()));
    size_t count = 0;
    const auto* results = rd_kafka_CreateTopics_result_topics(
        rd_kafka_event_CreateTopics_result(event.get()), &count);
    for (size_t i = 0; i < count; ++i) TRY(CheckCreated(results[i]));
    return AwaitLeaders(topics, budget);
  }

 private:
  static Milliseconds LimitOf(const Budget& budget) {
    return std::clamp(budget.Remaining(), Milliseconds(1), kQuestionTime);
  }

  /// The error of an answer as a whole.
  Status Checked(rd_kafka_event_t* event) const {
    const auto code = event != nullptr ? rd_kafka_event_error(event) : RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    return std::unexpected(ClusterError(client_->watch.errors, cluster_));
  }

  static Status CheckCreated(const rd_kafka_topic_result_t* result) {
    const auto code = rd_kafka_topic_result_error(result);
    const std::string name(rd_kafka_topic_result_name(result));
    const char* words = rd_kafka_topic_result_error_string(result);
    const std::string why = words != nullptr ? words : WordsOf(code);
    switch (code) {
      case RD_KAFKA_RESP_ERR_NO_ERROR:
      case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS: return {};
      case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
        return Fail(ErrorKind::kDenied,
                    fmt::format("may not create kafka topic={}: {}", name, why));
      case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
      case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
      case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
      case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        return Fail(ErrorKind::kInvalidArgument,
                    fmt::format("the cluster refuses kafka topic={}: {}", name, why));
      default:
        return Fail(ErrorKind::kUnavailable,
                    fmt::format("cannot create kafka topic={}: {}", name, why));
    }
  }

  /// A topic is announced before its partitions have leaders.
  Status AwaitLeaders(std::span<const NewTopic> topics, const Budget& budget) {
    for (const auto& topic : topics) {
      while (true) {
        TRY_ASSIGN(const int32_t count, CountPartitions(topic.topic, budget));
        if (count > 0) break;
        Budget pause = budget;
        pause.tries_max = 2;
        if (!pause.WaitForTry(2))
          return Fail(ErrorKind::kUnavailable, "no leaders yet of kafka topic=" + topic.topic);
      }
    }
    return {};
  }

  /// 0: not there, or not all of it yet.
  Result<int32_t> CountPartitions(const std::string& topic, const Budget& budget) {
    while (true) {
      std::array<const char*, 1> names{topic.c_str()};
      rd_kafka_TopicCollection_t* collection =
          rd_kafka_TopicCollection_of_topic_names(names.data(), names.size());
      const Owned<rd_kafka_TopicCollection_t> owned(collection);
      const auto limit = LimitOf(budget);
      const auto options = AdminOptions(*client_, RD_KAFKA_ADMIN_OP_DESCRIBETOPICS, limit);
      const AnswerQueue answers(*client_);
      rd_kafka_DescribeTopics(client_->handle.get(), collection, options.get(), answers.get());
      const auto event = answers.Next(limit);
      if (const auto good = Checked(event.get()); !good) {
        if (good.error().kind == ErrorKind::kDenied || !budget.Check())
          return std::unexpected(good.error());
        continue;
      }
      size_t count = 0;
      const auto* found = rd_kafka_DescribeTopics_result_topics(
          rd_kafka_event_DescribeTopics_result(event.get()), &count);
      if (count == 0) return 0;
      return CountOf(found[0]);
    }
  }

  static Result<int32_t> CountOf(const rd_kafka_TopicDescription_t* description) {
    const auto code = rd_kafka_error_code(rd_kafka_TopicDescription_error(description));
    if (FaultOf(code).fault == ProbeFault::kTopicDenied) {
      return Fail(ErrorKind::kDenied,
                  fmt::format("may not describe kafka topic={}: {}",
                              rd_kafka_TopicDescription_name(description), WordsOf(code)));
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return 0;
    size_t count = 0;
    const auto* partitions = rd_kafka_TopicDescription_partitions(description, &count);
    for (size_t i = 0; i < count; ++i)
      if (rd_kafka_TopicPartitionInfo_leader(partitions[i]) == nullptr) return 0;
    return static_cast<int32_t>(count);
  }

  /// nullopt: not permitted.
  Result<std::optional<std::map<std::string, std::string>>> SettingsOf(
      const std::string& topic, std::span<const std::string> settings, const Budget& budget) {
    const Owned<rd_kafka_ConfigResource_t> resource(
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
    // Only the names count in a question; the interface wants a value.
    for (const auto& name : settings)
      rd_kafka_ConfigResource_set_config(resource.get(), name.c_str(), "?");
    const auto limit = LimitOf(budget);
    const auto options = AdminOptions(*client_, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, limit);
    const AnswerQueue answers(*client_);
    rd_kafka_ConfigResource_t* list = resource.get();
    rd_kafka_DescribeConfigs(client_->handle.get(), &list, 1, options.get(), answers.get());
    const auto event = answers.Next(limit);
    TRY(Checked(event.get()));
    size_t count = 0;
    const auto* resources = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(event.get()), &count);
    if (count != 1 || rd_kafka_ConfigResource_error(resources[0]) != RD_KAFKA_RESP_ERR_NO_ERROR)
      return std::optional<std::map<std::string, std::string>>();
    std::map<std::string, std::string> found;
    size_t entry_count = 0;
    const auto* entries = rd_kafka_ConfigResource_configs(resources[0], &entry_count);
    for (size_t i = 0; i < entry_count; ++i) {
      const char* name = rd_kafka_ConfigEntry_name(entries[i]);
      const char* value = rd_kafka_ConfigEntry_value(entries[i]);
      if (value == nullptr || std::ranges::find(settings, std::string(name)) == settings.end())
        continue;
      found.emplace(name, value);
    }
    return std::optional(std::move(found));
  }

  ClusterOptions cluster_;
  std::unique_ptr<Client> client_;
};

}  // namespace

Result<std::unique_ptr<TopicAdmin>> TopicAdmin::Open(const ClusterOptions& cluster) {
  auto admin = std::make_unique<OnRdKafka>();
  TRY(admin->Open(cluster));
  return admin;
}

}  // namespace tidemark::kafka::client
