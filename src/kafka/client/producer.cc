#include "kafka/client/producer.h"

#include <fmt/core.h>

#include "kafka/client/conf_internal.h"

namespace tidemark::kafka::client {

namespace {

constexpr auto kPollSlice = std::chrono::milliseconds(50);

int TimeoutOf(const Budget& budget) {
  constexpr int64_t kMax = 60 * 60 * 1000;
  return static_cast<int>(std::min<int64_t>(budget.Remaining().count(), kMax));
}

class RdKafkaProducer final : public Producer {
 public:
  /// What became of the records of one Append(): the delivery callback fills it.
  struct Deliveries {
    size_t waiting = 0;
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  };

  Status Open(const ClusterOptions& options) {
    // A batch goes out when Append() asks for it, whole.
    const Properties ours = {{"linger.ms", "1000"}, {"enable.metrics.push", "false"}};
    TRY_ASSIGN(Owned<rd_kafka_conf_t> conf, MakeConf(Role::kProducer, options, ours));
    rd_kafka_conf_set_dr_msg_cb(conf.get(), OnDelivery);
    TRY_ASSIGN(client_, OpenClient(Role::kProducer, std::move(conf), options.properties, &watch_));
    return {};
  }

  ~RdKafkaProducer() override {
    if (!client_) return;
    // An unfinished Append() must not keep the process: its records are given up.
    rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_poll(client_.get(), 0);
  }

  Status Append(const TopicPartition& partition, std::span<const Record> records,
                const Budget& budget) override {
    Deliveries deliveries;
    Status status = Enqueue(partition, records, budget, &deliveries);
    while (deliveries.waiting > 0 && status) {
      // Flush, not poll: it also ends the wait for a fuller batch.
      rd_kafka_flush(client_.get(), static_cast<int>(kPollSlice.count()));
      status = budget.Check();
    }
    if (deliveries.waiting > 0) {
      // `deliveries` must not be called back after its end.
      rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
      while (deliveries.waiting > 0) rd_kafka_poll(client_.get(), 10);
      return Failed("append", partition, watch_.errors.transport());
    }
    if (deliveries.error != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return Failed("append", partition, rd_kafka_err2str(deliveries.error));
    }
    return status;
  }

  Status BeginTransaction(const Budget& budget) override {
    if (!is_initialised_) {
      TRY(Checked("init_transactions",
                  rd_kafka_init_transactions(client_.get(), TimeoutOf(budget))));
      is_initialised_ = true;
    }
    return Checked("begin_transaction", rd_kafka_begin_transaction(client_.get()));
  }
  Status CommitTransaction(const Budget& budget) override {
    return Checked("commit_transaction",
                   rd_kafka_commit_transaction(client_.get(), TimeoutOf(budget)));
  }
  Status AbortTransaction(const Budget& budget) override {
    return Checked("abort_transaction",
                   rd_kafka_abort_transaction(client_.get(), TimeoutOf(budget)));
  }

 private:
  static void OnDelivery(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
    auto* deliveries = static_cast<Deliveries*>(message->_private);
    --deliveries->waiting;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) deliveries->error = message->err;
  }

  Status Enqueue(const TopicPartition& partition, std::span<const Record> records,
                 const Budget& budget, Deliveries* deliveries) {
    for (const Record& record : records) {
      while (true) {
        const rd_kafka_resp_err_t error = EnqueueOne(partition, record, deliveries);
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR) break;
        if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
          return Failed("append", partition, rd_kafka_err2str(error));
        }
        rd_kafka_poll(client_.get(), static_cast<int>(kPollSlice.count()));
        TRY(budget.Check());
      }
      ++deliveries->waiting;
    }
    return {};
  }

  rd_kafka_resp_err_t EnqueueOne(const TopicPartition& partition, const Record& record,
                                 Deliveries* deliveries) {
    // The client copies the bytes (F_COPY); its interface lacks the const.
    const char* key = record.key ? record.key->data() : nullptr;
    const size_t key_size = record.key ? record.key->size() : 0;
    char* value = record.value ? const_cast<char*>(record.value->data()) : nullptr;
    const size_t value_size = record.value ? record.value->size() : 0;
    // The client takes them over when it takes the record.
    rd_kafka_headers_t* headers = rd_kafka_headers_new(record.headers.size());
    for (const auto& [name, text] : record.headers) {
      rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()), text.data(),
                          static_cast<ssize_t>(text.size()));
    }
    const auto error = rd_kafka_producev(
        client_.get(), RD_KAFKA_V_TOPIC(partition.topic.c_str()),
        RD_KAFKA_V_PARTITION(partition.partition), RD_KAFKA_V_KEY(key, key_size),
        RD_KAFKA_V_VALUE(value, value_size), RD_KAFKA_V_TIMESTAMP(record.timestamp_ms.value_or(0)),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_OPAQUE(deliveries),
        RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) rd_kafka_headers_destroy(headers);
    return error;
  }

  static Status Failed(std::string_view what, const TopicPartition& partition,
                       std::string_view why) {
    return Fail(ErrorKind::kUnavailable,
                fmt::format("cannot {} to kafka topic={} partition={}: {}", what, partition.topic,
                            partition.partition, why.empty() ? "no answer" : why));
  }
  static Status Checked(std::string_view what, rd_kafka_error_t* raw) {
    const Owned<rd_kafka_error_t> error(raw);
    if (!error) return {};
    return Fail(ErrorKind::kUnavailable,
                fmt::format("kafka {}: {}", what, CauseOf(rd_kafka_error_string(error.get()))));
  }

  Watch watch_;  // outlives the client
  Owned<rd_kafka_t> client_;
  bool is_initialised_ = false;
};

}  // namespace

Result<std::unique_ptr<Producer>> Producer::Open(const ClusterOptions& options) {
  auto producer = std::make_unique<RdKafkaProducer>();
  TRY(producer->Open(options));
  return producer;
}

}  // namespace tidemark::kafka::client
