#include "support/kafka_admin.h"

#include <fmt/core.h>
#include <librdkafka/rdkafka.h>

#include <array>
#include <chrono>
#include <numeric>

#include "base/budget.h"

namespace tidemark::support {

namespace {

constexpr int kTimeoutMs = 60'000;

struct Destroy {
  void operator()(rd_kafka_t* it) const { rd_kafka_destroy(it); }
  void operator()(rd_kafka_queue_t* it) const { rd_kafka_queue_destroy(it); }
  void operator()(rd_kafka_event_t* it) const { rd_kafka_event_destroy(it); }
  void operator()(rd_kafka_NewTopic_t* it) const { rd_kafka_NewTopic_destroy(it); }
  void operator()(rd_kafka_DeleteTopic_t* it) const { rd_kafka_DeleteTopic_destroy(it); }
  void operator()(rd_kafka_DeleteRecords_t* it) const { rd_kafka_DeleteRecords_destroy(it); }
  void operator()(rd_kafka_AdminOptions_t* it) const { rd_kafka_AdminOptions_destroy(it); }
  void operator()(rd_kafka_error_t* it) const { rd_kafka_error_destroy(it); }
  void operator()(rd_kafka_AclBinding_t* it) const { rd_kafka_AclBinding_destroy(it); }
  void operator()(rd_kafka_topic_partition_list_t* it) const {
    rd_kafka_topic_partition_list_destroy(it);
  }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

Status Checked(std::string_view what, rd_kafka_resp_err_t code) {
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  return Fail(ErrorKind::kUnavailable, fmt::format("{}: {}", what, rd_kafka_err2str(code)));
}

class OnRdKafka final : public KafkaAdmin {
 public:
  Status Open(const kafka::ClusterOptions& options) {
    std::array<char, 512> text{};
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", options.bootstrap_servers.c_str(), text.data(),
                      text.size());
    client_.reset(rd_kafka_new(RD_KAFKA_PRODUCER, conf, text.data(), text.size()));
    if (!client_) return Fail(ErrorKind::kInternal, text.data());
    queue_.reset(rd_kafka_queue_new(client_.get()));
    return {};
  }

  Status CreateTopic(const std::string& topic, int32_t partition_count,
                     const Configs& configs) override {
    std::array<char, 512> text{};
    const Owned<rd_kafka_NewTopic_t> wanted(
        rd_kafka_NewTopic_new(topic.c_str(), partition_count, 1, text.data(), text.size()));
    for (const auto& [name, value] : configs) {
      rd_kafka_NewTopic_set_config(wanted.get(), name.c_str(), value.c_str());
    }
    rd_kafka_NewTopic_t* list = wanted.get();
    rd_kafka_CreateTopics(client_.get(), &list, 1, nullptr, queue_.get());
    TRY_ASSIGN(const auto event, Answer("create a topic"));
    size_t count = 0;
    const auto* results = rd_kafka_CreateTopics_result_topics(
        rd_kafka_event_CreateTopics_result(event.get()), &count);
    if (count != 1) return Fail(ErrorKind::kInternal, "no result of the creation");
    TRY(Checked("create a topic", rd_kafka_topic_result_error(results[0])));
    return Eventually("the new topic's logs", [&] { return HasLogs(topic, partition_count); });
  }

  Status DeleteTopic(const std::string& topic) override {
    const Owned<rd_kafka_DeleteTopic_t> unwanted(rd_kafka_DeleteTopic_new(topic.c_str()));
    rd_kafka_DeleteTopic_t* list = unwanted.get();
    rd_kafka_DeleteTopics(client_.get(), &list, 1, nullptr, queue_.get());
    TRY_ASSIGN(const auto event, Answer("delete a topic"));
    return Eventually("the topic's end", [&] {
      const auto topics = ListTopics();
      return topics && !topics->contains(topic);
    });
  }

  Status DeleteRecordsBefore(const kafka::TopicPartition& partition,
                             kafka::Offset offset) override {
    const Owned<rd_kafka_topic_partition_list_t> list(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(list.get(), partition.topic.c_str(), partition.partition)
        ->offset = offset;
    const Owned<rd_kafka_DeleteRecords_t> wanted(rd_kafka_DeleteRecords_new(list.get()));
    rd_kafka_DeleteRecords_t* wishes = wanted.get();
    rd_kafka_DeleteRecords(client_.get(), &wishes, 1, nullptr, queue_.get());
    TRY_ASSIGN(const auto event, Answer("delete records"));
    const auto* offsets =
        rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event.get()));
    return Checked("delete records", offsets->elems[0].err);
  }

  Result<kafka::Offset> End(const kafka::TopicPartition& partition,
                            kafka::IsolationLevel isolation) override {
    TRY_ASSIGN(const auto ends, Ends(partition.topic, {partition.partition}, isolation));
    return ends[0];
  }

  Status AwaitEnd(const kafka::TopicPartition& partition, kafka::IsolationLevel isolation,
                  kafka::Offset offset) override {
    return Eventually("the log's end", [&] {
      const auto end = End(partition, isolation);
      return end && *end == offset;
    });
  }

  Result<std::set<std::string>> ListTopics() override {
    const rd_kafka_metadata_t* metadata = nullptr;
    TRY(Checked("list topics",
                rd_kafka_metadata(client_.get(), 1, nullptr, &metadata, kTimeoutMs)));
    std::set<std::string> names;
    for (int i = 0; i < metadata->topic_cnt; ++i) names.insert(metadata->topics[i].topic);
    rd_kafka_metadata_destroy(metadata);
    return names;
  }

  Result<std::set<std::string>> ListGroups() override {
    rd_kafka_ListConsumerGroups(client_.get(), nullptr, queue_.get());
    TRY_ASSIGN(const auto event, Answer("list groups"));
    size_t count = 0;
    const auto* groups = rd_kafka_ListConsumerGroups_result_valid(
        rd_kafka_event_ListConsumerGroups_result(event.get()), &count);
    std::set<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      names.insert(rd_kafka_ConsumerGroupListing_group_id(groups[i]));
    }
    return names;
  }

  Status Allow(const std::string& user, const std::string& topic, Right right) override {
    std::array<char, 512> text{};
    const auto operation =
        right == Right::kRead ? RD_KAFKA_ACL_OPERATION_READ : RD_KAFKA_ACL_OPERATION_DESCRIBE;
    const Owned<rd_kafka_AclBinding_t> binding(rd_kafka_AclBinding_new(
        RD_KAFKA_RESOURCE_TOPIC, topic.c_str(), RD_KAFKA_RESOURCE_PATTERN_LITERAL,
        ("User:" + user).c_str(), "*", operation, RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, text.data(),
        text.size()));
    if (!binding) return Fail(ErrorKind::kInternal, text.data());
    rd_kafka_AclBinding_t* list = binding.get();
    rd_kafka_CreateAcls(client_.get(), &list, 1, nullptr, queue_.get());
    TRY_ASSIGN(const auto event, Answer("create an ACL"));
    // The controller has it; the broker is about to learn it.
    return Eventually("the new right", [&] { return HasRight(binding.get()); });
  }

 private:
  Result<Owned<rd_kafka_event_t>> Answer(std::string_view what) {
    Owned<rd_kafka_event_t> event(rd_kafka_queue_poll(queue_.get(), kTimeoutMs));
    if (!event) return Fail(ErrorKind::kUnavailable, fmt::format("{}: no answer", what));
    TRY(Checked(what, rd_kafka_event_error(event.get())));
    return event;
  }

  Result<std::vector<kafka::Offset>> Ends(const std::string& topic,
                                          const std::vector<int32_t>& partitions,
                                          kafka::IsolationLevel isolation) {
    const Owned<rd_kafka_topic_partition_list_t> list(
        rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
    for (const int32_t p : partitions) {
      rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), p)->offset =
          RD_KAFKA_OFFSET_SPEC_LATEST;
    }
    const Owned<rd_kafka_AdminOptions_t> options(
        rd_kafka_AdminOptions_new(client_.get(), RD_KAFKA_ADMIN_OP_LISTOFFSETS));
    const Owned<rd_kafka_error_t> refused(rd_kafka_AdminOptions_set_isolation_level(
        options.get(), isolation == kafka::IsolationLevel::kReadCommitted
                           ? RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED
                           : RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED));
    rd_kafka_ListOffsets(client_.get(), list.get(), options.get(), queue_.get());
    TRY_ASSIGN(const auto event, Answer("list offsets"));
    size_t count = 0;
    const auto* infos =
        rd_kafka_ListOffsets_result_infos(rd_kafka_event_ListOffsets_result(event.get()), &count);
    if (count != partitions.size()) return Fail(ErrorKind::kInternal, "offsets are missing");
    std::vector<kafka::Offset> ends;
    for (size_t i = 0; i < count; ++i) {
      const auto* answer = rd_kafka_ListOffsetsResultInfo_topic_partition(infos[i]);
      TRY(Checked("list offsets", answer->err));
      if (answer->offset < 0) return Fail(ErrorKind::kUnavailable, "the log has no end yet");
      ends.push_back(answer->offset);
    }
    return ends;
  }

  // A topic is announced before its logs exist.
  bool HasLogs(const std::string& topic, int32_t partition_count) {
    if (!ListTopics()) return false;  // for the leaders
    std::vector<int32_t> all(static_cast<size_t>(partition_count));
    std::iota(all.begin(), all.end(), 0);
    return Ends(topic, all, kafka::IsolationLevel::kReadUncommitted).has_value();
  }

  bool HasRight(rd_kafka_AclBinding_t* binding) {
    rd_kafka_DescribeAcls(client_.get(), binding, nullptr, queue_.get());
    const auto event = Answer("describe ACLs");
    if (!event) return false;
    size_t count = 0;
    rd_kafka_DescribeAcls_result_acls(rd_kafka_event_DescribeAcls_result(event->get()), &count);
    return count > 0;
  }

  template <class Condition>
  static Status Eventually(std::string_view what, Condition condition) {
    Budget budget = Budget::For(std::chrono::milliseconds(kTimeoutMs));
    budget.tries_max = 1'000'000;
    budget.retry_delay = std::chrono::milliseconds(5);
    for (int next_try = 2; !condition(); ++next_try) {
      if (!budget.WaitForTry(next_try)) {
        return Fail(ErrorKind::kUnavailable, fmt::format("waited in vain for {}", what));
      }
    }
    return {};
  }

  Owned<rd_kafka_t> client_;
  Owned<rd_kafka_queue_t> queue_;
};

}  // namespace

Result<std::unique_ptr<KafkaAdmin>> KafkaAdmin::Open(const kafka::ClusterOptions& options) {
  auto admin = std::make_unique<OnRdKafka>();
  TRY(admin->Open(options));
  return admin;
}

}  // namespace tidemark::support
