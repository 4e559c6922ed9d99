#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "kafka/client/faults_internal.h"
#include "kafka/client/topic_facts_internal.h"

namespace tidemark::kafka::client {

namespace {

// librdkafka looks a topic up in the request's list for every topic of the answer.
constexpr size_t kTopicsPerRequest = 500;
// A request goes to the broker last known as the controller; when that one stays silent this long,
// another one is asked too, then again after twice the time.
constexpr Milliseconds kSilenceMax{500};
// Part of that time for finding the other one over a connection that is there already.
constexpr int kSameClientShare = 2;
constexpr Milliseconds kServeSlice{20};
constexpr Milliseconds kOtherBrokerWait{1000};
// How long other brokers of the bootstrap list get after one has refused us.
constexpr Milliseconds kRefusalGrace{300};
// How long brokers that are all down get to come back.
constexpr Milliseconds kAllDownMax{3000};

MonoTime Now() {
  return std::chrono::steady_clock::now();
}

// Whether to stop waiting for a first answer, and with what. `spare` may be null.
std::optional<Error> GiveUp(const Client& client, const Client* spare,
                            const ClusterOptions& options, const Budget& budget) {
  // A connection that has fallen silent has nothing to complain of.
  const bool is_silent =
      spare != nullptr && client.watch.errors.transport().empty() && !client.watch.errors.refusal();
  const ErrorLog& errors = is_silent ? spare->watch.errors : client.watch.errors;
  if (budget.is_stopped()) return Error{ErrorKind::kCancelled, "stopped"};
  const auto refusal = errors.refusal();
  const auto down_since = errors.all_down_since();
  const bool is_refused = refusal && Now() - refusal->since >= kRefusalGrace;
  const bool is_down = down_since && Now() - *down_since >= kAllDownMax;
  if (is_refused || is_down || budget.is_over()) return ClusterError(errors, options);
  return std::nullopt;
}

// How long `patience` may block: not beyond the moment at which GiveUp() would say so.
Milliseconds WaitMax(const Client& client, const Budget& budget, Milliseconds patience) {
  const ErrorLog& errors = client.watch.errors;
  Milliseconds wait = std::min({patience, kOtherBrokerWait, budget.Remaining()});
  const auto end_at = [&](MonoTime end) {
    wait = std::min(wait, std::chrono::ceil<Milliseconds>(std::max(end - Now(), {})));
  };
  if (const auto refusal = errors.refusal()) end_at(refusal->since + kRefusalGrace);
  if (const auto down_since = errors.all_down_since()) end_at(*down_since + kAllDownMax);
  return wait;
}

// A broker that answers now, which the client's idea of the controller may not.
std::optional<int32_t> AnsweringBroker(Client& client, const std::string& topic, size_t attempt,
                                       Milliseconds wait) {
  const Owned<rd_kafka_topic_t> handle(
      rd_kafka_topic_new(client.handle.get(), topic.c_str(), nullptr));
  const rd_kafka_metadata_t* metadata = nullptr;
  if (!handle || rd_kafka_metadata(client.handle.get(), 0, handle.get(), &metadata,
                                   static_cast<int>(wait.count())) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return std::nullopt;
  }
  std::optional<int32_t> broker;
  if (metadata->orig_broker_id >= 0) {
    broker = metadata->orig_broker_id;
  } else if (metadata->broker_cnt > 0) {
    broker = metadata->brokers[attempt % static_cast<size_t>(metadata->broker_cnt)].id;
  }
  rd_kafka_metadata_destroy(metadata);
  return broker;
}

void Send(Client& client, std::span<const std::string> topics, std::optional<int32_t> broker,
          Milliseconds limit, const AnswerQueue& answers) {
  std::vector<const char*> names;
  names.reserve(topics.size());
  for (const std::string& topic : topics) names.push_back(topic.c_str());
  const Owned<rd_kafka_TopicCollection_t> collection(
      rd_kafka_TopicCollection_of_topic_names(names.data(), names.size()));
  const auto options = AdminOptions(client, RD_KAFKA_ADMIN_OP_DESCRIBETOPICS, limit);
  if (broker) {
    char text[256];
    rd_kafka_AdminOptions_set_broker(options.get(), *broker, text, sizeof text);
  }
  rd_kafka_DescribeTopics(client.handle.get(), collection.get(), options.get(), answers.get());
}

DescribedTopic FromDescription(const rd_kafka_TopicDescription_t* description,
                               std::map<int32_t, std::string>* addresses) {
  DescribedTopic topic;
  topic.facts.topic = rd_kafka_TopicDescription_name(description);
  const rd_kafka_error_t* error = rd_kafka_TopicDescription_error(description);
  const auto code = error ? rd_kafka_error_code(error) : RD_KAFKA_RESP_ERR_NO_ERROR;
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    const ProbeFault fault = FaultOf(code).fault;
    topic.facts.fault = fault == ProbeFault::kPartitionMissing ? ProbeFault::kTopicMissing : fault;
    topic.facts.fault_message = WordsOf(code);
    return topic;
  }
  topic.facts.exists = true;
  if (const rd_kafka_Uuid_t* id = rd_kafka_TopicDescription_topic_id(description)) {
    const bool is_set = rd_kafka_Uuid_most_significant_bits(id) != 0 ||
                        rd_kafka_Uuid_least_significant_bits(id) != 0;
    if (is_set) topic.facts.topic_id = rd_kafka_Uuid_base64str(id);
  }
  size_t count = 0;
  const auto* partitions = rd_kafka_TopicDescription_partitions(description, &count);
  topic.facts.partition_count = static_cast<int32_t>(count);
  topic.leaders.assign(count, kNoBroker);
  for (size_t i = 0; i < count; ++i) {
    const int partition = rd_kafka_TopicPartitionInfo_partition(partitions[i]);
    const rd_kafka_Node_t* leader = rd_kafka_TopicPartitionInfo_leader(partitions[i]);
    if (partition < 0 || static_cast<size_t>(partition) >= count || leader == nullptr) continue;
    const int id = rd_kafka_Node_id(leader);
    topic.leaders[static_cast<size_t>(partition)] = id;
    // A leader may be named that is not among the brokers.
    const char* host = rd_kafka_Node_host(leader);
    if (host == nullptr || addresses->contains(id)) continue;
    addresses->emplace(id, fmt::format("{}:{}", host, rd_kafka_Node_port(leader)));
  }
  return topic;
}

Owned<rd_kafka_event_t> GoodAnswer(const AnswerQueue& answers) {
  Owned<rd_kafka_event_t> event = answers.Next(kServeSlice);
  if (event && rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) event.reset();
  return event;
}

// At most kTopicsPerRequest legal names. A silent broker's request stays open while others are
// asked: the first answer counts.
Result<Owned<rd_kafka_event_t>> AskOnce(Askers& askers, const ClusterOptions& options,
                                        std::span<const std::string> topics, const Budget& budget) {
  Client& client = *askers.current;
  const AnswerQueue answers(client);
  std::unique_ptr<Client> spare;
  std::optional<AnswerQueue> spare_answers;
  Send(client, topics, std::nullopt, budget.Remaining(), answers);
  Milliseconds patience = kSilenceMax;
  for (size_t attempt = 0;; ++attempt, patience *= 2) {
    for (const MonoTime end = Now() + patience; Now() < end;) {
      if (auto event = GoodAnswer(answers)) return event;
      if (spare) {
        if (auto event = GoodAnswer(*spare_answers)) {
          spare_answers.reset();
          askers.ReplaceBy(std::move(spare));
          return event;
        }
      }
      if (auto error = GiveUp(client, spare.get(), options, budget)) {
        return std::unexpected(*std::move(error));
      }
    }
    if (const auto broker = AnsweringBroker(client, topics.front(), attempt,
                                            WaitMax(client, budget, patience / kSameClientShare))) {
      Send(client, topics, broker, budget.Remaining(), answers);
      continue;
    }
    // A client sends everything over a connection that has once come about, also when nothing comes
    // back. Another one cannot even begin with a broker that is silent now, and takes the next.
    if (!spare) {
      TRY_ASSIGN(spare, OpenAsker(options));
      spare_answers.emplace(*spare);
    }
    const auto broker = AnsweringBroker(
        *spare, topics.front(), attempt,
        std::min(WaitMax(client, budget, patience), WaitMax(*spare, budget, patience)));
    Send(*spare, topics, broker, budget.Remaining(), *spare_answers);
  }
}

std::optional<Milliseconds> RetentionOf(std::string_view text) {
  int64_t ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (error != std::errc{} || end != text.data() + text.size() || ms < 0) return std::nullopt;
  return Milliseconds(ms);
}

void TakeConfig(const rd_kafka_ConfigResource_t* resource, TopicFacts* facts) {
  size_t count = 0;
  const auto* entries = rd_kafka_ConfigResource_configs(resource, &count);
  for (size_t i = 0; i < count; ++i) {
    const char* value = rd_kafka_ConfigEntry_value(entries[i]);
    if (value == nullptr) continue;
    const std::string_view name(rd_kafka_ConfigEntry_name(entries[i]));
    if (name == "retention.ms") facts->retention = RetentionOf(value);
    if (name == "message.timestamp.type") facts->stamped_by = StampedBy(value);
    if (name == "cleanup.policy") {
      const std::string_view policy(value);
      facts->is_config_known = true;
      facts->is_compacted = policy.contains("compact");
      facts->is_also_deleted = facts->is_compacted && policy.contains("delete");
    }
  }
}

}  // namespace

Result<std::vector<DescribedTopic>> DescribeTopics(Askers& askers, const ClusterOptions& options,
                                                   std::span<const std::string> topics,
                                                   std::map<int32_t, std::string>* addresses,
                                                   const Budget& budget) {
  std::vector<DescribedTopic> described(topics.size());
  for (size_t begin = 0; begin < topics.size(); begin += kTopicsPerRequest) {
    const auto chunk = topics.subspan(begin, std::min(kTopicsPerRequest, topics.size() - begin));
    TRY_ASSIGN(const Owned<rd_kafka_event_t> event, AskOnce(askers, options, chunk, budget));
    size_t count = 0;
    const auto* result = rd_kafka_event_DescribeTopics_result(event.get());
    const auto* answers = rd_kafka_DescribeTopics_result_topics(result, &count);
    for (size_t i = 0; i < std::min(count, chunk.size()); ++i) {
      described[begin + i] = FromDescription(answers[i], addresses);
    }
  }
  return described;
}

ConfigQuestion::ConfigQuestion(Client& client, const std::vector<std::string>& topics,
                               Milliseconds limit)
    : answers_(client) {
  if (topics.empty()) return;
  std::vector<Owned<rd_kafka_ConfigResource_t>> owned;
  std::vector<rd_kafka_ConfigResource_t*> resources;
  for (const std::string& topic : topics) {
    owned.emplace_back(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
    // Only the names count in a question; the interface wants a value.
    rd_kafka_ConfigResource_set_config(owned.back().get(), "retention.ms", "?");
    rd_kafka_ConfigResource_set_config(owned.back().get(), "cleanup.policy", "?");
    rd_kafka_ConfigResource_set_config(owned.back().get(), "message.timestamp.type", "?");
    resources.push_back(owned.back().get());
  }
  const auto options = AdminOptions(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, limit);
  rd_kafka_DescribeConfigs(client.handle.get(), resources.data(), resources.size(), options.get(),
                           answers_.get());
  is_sent_ = true;
}

void ConfigQuestion::Collect(std::span<TopicFacts> topics, Milliseconds limit) {
  if (!is_sent_) return;
  const Owned<rd_kafka_event_t> event = answers_.Next(limit);
  if (!event || rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  size_t count = 0;
  const auto* result = rd_kafka_event_DescribeConfigs_result(event.get());
  const auto* resources = rd_kafka_DescribeConfigs_result_resources(result, &count);
  for (size_t i = 0; i < count; ++i) {
    if (rd_kafka_ConfigResource_error(resources[i]) != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    const std::string_view name(rd_kafka_ConfigResource_name(resources[i]));
    const auto found = std::ranges::find(topics, name, &TopicFacts::topic);
    if (found != topics.end()) TakeConfig(resources[i], &*found);
  }
}

}  // namespace tidemark::kafka::client
