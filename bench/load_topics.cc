// Fills topics with batches of a known size and known timestamps, and writes down what a probe is
// asked and what the truth is. The truth is computed, not read back.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>

#include "bench/contest.h"
#include "bench/rdkafka_client.h"

namespace tidemark::bench {
namespace {

constexpr int kAdminTimeoutMs = 120'000;
/// A controller refuses a request that makes over 10,000 records, of which each topic and setting
/// is one more.
constexpr int32_t kPartitionsAtOnce = 5'000;
constexpr int kFlushTimeoutMs = 1'200'000;
constexpr int64_t kAgeMinMs = 60'000;
constexpr int64_t kAgeSpanMs = 3'540'000;

struct Options {
  std::string bootstrap;
  std::string prefix;
  std::string topic_name;  ///< of the only topic, instead of a prefix
  std::string folder;
  int32_t topics = 1;
  int32_t partitions = 1;  ///< of each topic
  int64_t batches = 2;
  int64_t batch_records = 1;
  int64_t committed_batches = 1;
  kafka::Offset first_offset = 0;  ///< where the partitions end already
  size_t record_bytes = 1024;
  bool wants_topics = true;

  std::string TopicName(int32_t topic) const {
    return topic_name.empty() ? fmt::format("{}-{:03}", prefix, topic) : topic_name;
  }
  int64_t RecordsPerPartition() const { return batches * batch_records; }
  kafka::Offset Committed() const { return first_offset + committed_batches * batch_records; }
  kafka::Offset End() const { return first_offset + RecordsPerPartition(); }
};

/// Ages that look random and are the same in every run (the finalizer of splitmix64).
int64_t AgeMs(int32_t topic, int32_t partition) {
  uint64_t x =
      (static_cast<uint64_t>(topic) << 32 | static_cast<uint32_t>(partition)) + 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  x ^= x >> 31;
  return kAgeMinMs + static_cast<int64_t>(x % static_cast<uint64_t>(kAgeSpanMs));
}

/// One millisecond a record, ending a minute to an hour ago.
int64_t TimestampMs(int64_t now_ms, int32_t topic, int32_t partition, kafka::Offset offset) {
  return now_ms - AgeMs(topic, partition) + offset;
}

/// What came back of the records sent.
struct Deliveries {
  int64_t delivered = 0;
  std::string failure;  ///< of the first that failed
};

/// The offset a record must get travels with it as its opaque.
void OnDelivery(rd_kafka_t* /*client*/, const rd_kafka_message_t* message, void* opaque) {
  auto& deliveries = *static_cast<Deliveries*>(opaque);
  const auto expected = static_cast<int64_t>(reinterpret_cast<intptr_t>(message->_private));
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR && message->offset == expected) {
    ++deliveries.delivered;
  } else if (deliveries.failure.empty()) {
    deliveries.failure = fmt::format("topic={} partition={} offset={} expected={} reason={}",
                                     rd_kafka_topic_name(message->rkt), message->partition,
                                     message->offset, expected, rd_kafka_err2str(message->err));
  }
}

Status CheckCreated(rd_kafka_event_t* event) {
  size_t count = 0;
  const auto* result = rd_kafka_event_CreateTopics_result(event);
  const auto* const* topics = rd_kafka_CreateTopics_result_topics(result, &count);
  for (size_t i = 0; i < count; ++i) {
    if (rd_kafka_topic_result_error(topics[i]) == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    return Fail(
        ErrorKind::kUnavailable,
        fmt::format("topic not created topic={} reason={}", rd_kafka_topic_result_name(topics[i]),
                    rd_kafka_topic_result_error_string(topics[i])));
  }
  return {};
}

Status CreateTopics(rd_kafka_t* client, const Options& options, int32_t begin, int32_t end) {
  std::vector<rd_kafka_NewTopic_t*> topics;
  std::array<char, 256> reason{};
  for (int32_t topic = begin; topic < end; ++topic) {
    topics.push_back(rd_kafka_NewTopic_new(options.TopicName(topic).c_str(), options.partitions, 1,
                                           reason.data(), reason.size()));
    rd_kafka_NewTopic_set_config(topics.back(), "retention.ms", "-1");
  }
  rd_kafka_AdminOptions_t* admin = rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_ANY);
  rd_kafka_AdminOptions_set_request_timeout(admin, kAdminTimeoutMs, reason.data(), reason.size());
  const Queue queue(rd_kafka_queue_new(client));
  rd_kafka_CreateTopics(client, topics.data(), topics.size(), admin, queue.get());
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue.get(), kAdminTimeoutMs);
  const Status status = event == nullptr ? Fail(ErrorKind::kUnavailable, "no topics: no answer")
                        : rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR
                            ? Fail(ErrorKind::kUnavailable, rd_kafka_event_error_string(event))
                            : CheckCreated(event);
  if (event != nullptr) rd_kafka_event_destroy(event);
  rd_kafka_AdminOptions_destroy(admin);
  rd_kafka_NewTopic_destroy_array(topics.data(), topics.size());
  return status;
}

/// Appends one batch to one partition, waiting where the client's queue is full.
Status SendBatch(rd_kafka_t* client, const Options& options, const std::string& topic_name,
                 int32_t topic, int32_t partition, int64_t batch, int64_t now_ms) {
  static const std::string value(options.record_bytes, 'x');
  for (int64_t i = 0; i < options.batch_records; ++i) {
    const kafka::Offset offset = options.first_offset + batch * options.batch_records + i;
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    do {
      error = rd_kafka_producev(
          client, RD_KAFKA_V_TOPIC(topic_name.c_str()), RD_KAFKA_V_PARTITION(partition),
          RD_KAFKA_V_TIMESTAMP(TimestampMs(now_ms, topic, partition, offset)),
          RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
          RD_KAFKA_V_OPAQUE(reinterpret_cast<void*>(static_cast<intptr_t>(offset))),
          RD_KAFKA_V_END);
      rd_kafka_poll(client, error == RD_KAFKA_RESP_ERR__QUEUE_FULL ? 10 : 0);
    } while (error == RD_KAFKA_RESP_ERR__QUEUE_FULL);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return Fail(ErrorKind::kUnavailable, fmt::format("record refused topic={} reason={}",
                                                       topic_name, rd_kafka_err2str(error)));
    }
  }
  return {};
}

Status SendAll(rd_kafka_t* client, const Options& options, int64_t now_ms,
               const Deliveries& deliveries) {
  for (int64_t batch = 0; batch < options.batches; ++batch) {
    for (int32_t topic = 0; topic < options.topics; ++topic) {
      const std::string name = options.TopicName(topic);
      for (int32_t partition = 0; partition < options.partitions; ++partition) {
        TRY(SendBatch(client, options, name, topic, partition, batch, now_ms));
      }
    }
    // A round at a time, so that the batches of a partition are spread over its log.
    rd_kafka_flush(client, kFlushTimeoutMs);
    if (!deliveries.failure.empty()) {
      return Fail(ErrorKind::kUnavailable, "record not delivered " + deliveries.failure);
    }
  }
  const int64_t wanted =
      options.RecordsPerPartition() * int64_t{options.topics} * options.partitions;
  if (deliveries.delivered == wanted) return {};
  return Fail(ErrorKind::kUnavailable,
              fmt::format("records missing delivered={} wanted={}", deliveries.delivered, wanted));
}

Status WriteTruth(const Options& options, int64_t now_ms) {
  std::vector<Question> lagging;
  std::vector<Question> caught_up;
  std::vector<Answer> truth;
  for (int32_t topic = 0; topic < options.topics; ++topic) {
    for (int32_t partition = 0; partition < options.partitions; ++partition) {
      const kafka::TopicPartition place{options.TopicName(topic), partition};
      lagging.push_back({place, options.Committed()});
      caught_up.push_back({place, options.End()});
      truth.push_back({place, TimestampMs(now_ms, topic, partition, options.Committed())});
    }
  }
  TRY(WriteQuestions(options.folder + "/lagging.tsv", lagging));
  TRY(WriteQuestions(options.folder + "/caught_up.tsv", caught_up));
  return WriteAnswers(options.folder + "/truth.tsv", truth);
}

Status Run(const Options& options) {
  Deliveries deliveries;
  // Only whole batches are sent: the wait for more records is longer than loading takes.
  TRY_ASSIGN(
      const Client client,
      OpenClient({.type = RD_KAFKA_PRODUCER,
                  .properties = {{"bootstrap.servers", options.bootstrap},
                                 {"enable.idempotence", "true"},
                                 {"linger.ms", "600000"},
                                 {"message.timeout.ms", "1500000"},
                                 {"batch.num.messages", std::to_string(options.batch_records)},
                                 // 100,000 new partitions take many minutes to get their leaders.
                                 {"topic.metadata.propagation.max.ms", "1200000"},
                                 // New topics have no leaders at first, which it warns of.
                                 {"log_level", "3"},
                                 {"queue.buffering.max.kbytes", "131072"}},
                  .on_delivery = OnDelivery,
                  .opaque = &deliveries}));
  const int32_t at_once = std::max(1, kPartitionsAtOnce / options.partitions);
  for (int32_t begin = 0; options.wants_topics && begin < options.topics; begin += at_once) {
    TRY(CreateTopics(client.get(), options, begin, std::min(begin + at_once, options.topics)));
  }
  const int64_t now_ms = MillisOf(SystemClock().Now());
  TRY(SendAll(client.get(), options, now_ms, deliveries));
  return WriteTruth(options, now_ms);
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  tidemark::bench::Options options;
  CLI::App app("fills topics with known batches and timestamps");
  app.add_option("--bootstrap", options.bootstrap)->required();
  auto* names = app.add_option_group("names")->require_option(1);
  names->add_option("--prefix", options.prefix, "topics are PREFIX-000, PREFIX-001, …");
  names->add_option("--topic", options.topic_name, "the name of the only topic");
  app.add_option("--folder", options.folder, "gets lagging.tsv, caught_up.tsv and truth.tsv")
      ->required();
  app.add_option("--topics", options.topics);
  app.add_option("--partitions", options.partitions, "of each topic");
  app.add_option("--batches", options.batches, "in each partition");
  app.add_option("--batch-records", options.batch_records);
  app.add_option("--committed-batches", options.committed_batches);
  app.add_option("--record-bytes", options.record_bytes);
  app.add_option("--first-offset", options.first_offset, "where the partitions end already");
  app.add_flag("!--no-create", options.wants_topics, "the topics exist");
  CLI11_PARSE(app, argc, argv);
  const auto status = tidemark::bench::Run(options);
  if (!status) fmt::print(stderr, "load_topics: {}\n", status.error().message);
  return status ? 0 : 1;
}
