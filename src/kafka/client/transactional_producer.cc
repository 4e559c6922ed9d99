#include "kafka/client/transactional_producer.h"

#include <fmt/core.h>

#include <algorithm>

#include "kafka/client/conf_internal.h"
#include "kafka/client/faults_internal.h"

namespace tidemark::kafka::client {

namespace {

constexpr int kFlushSliceMs = 20;
/// Records under the limit of the brokers' default are not held back here: what is too large is
/// said by those who know.
constexpr const char* kMessageBytesMax = "16000000";
/// A transaction that went wrong is taken back even when its time is over.
constexpr Milliseconds kAbortTime = std::chrono::seconds(5);
constexpr int64_t kWaitMax = 3'600'000;

int TimeoutOf(const Budget& budget) {
  return static_cast<int>(std::min<int64_t>(budget.Remaining().count(), kWaitMax));
}

bool IsFenced(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR__FENCED || code == RD_KAFKA_RESP_ERR_PRODUCER_FENCED ||
         code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH;
}

ErrorKind KindOf(rd_kafka_resp_err_t code) {
  if (IsFenced(code)) return ErrorKind::kConflict;
  switch (code) {
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE: return ErrorKind::kExhausted;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED: return ErrorKind::kDenied;
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART: return ErrorKind::kNotFound;
    default: return ErrorKind::kUnavailable;
  }
}

class OnRdKafka final : public TransactionalProducer {
 public:
  Status Open(const ClusterOptions& cluster, const TransactionalOptions& options,
              const Budget& budget) {
    cluster_ = cluster;
    name_ = options.transactional_id;
    const auto ms = [](Milliseconds duration) { return fmt::format("{}", duration.count()); };
    Properties ours = ProbeSettings();
    std::erase_if(ours, [](const auto& each) { return each.first != "enable.metrics.push"; });
    for (const auto& each : Properties{
             {"transactional.id", options.transactional_id},
             {"transaction.timeout.ms", ms(options.transaction_timeout)},
             {"message.timeout.ms", ms(options.delivery_timeout)},
             {"compression.type", options.compression == Compression::kZstd ? "zstd" : "gzip"},
             {"message.max.bytes", kMessageBytesMax},
             {"linger.ms", "1"},
             {"retry.backoff.ms", "20"},
         })
      ours.push_back(each);
    // What a probe may set, a producer may: how the cluster is reached and trusted.
    TRY_ASSIGN(Owned<rd_kafka_conf_t> conf, MakeConf(Role::kAsker, cluster, ours));
    rd_kafka_conf_set_dr_msg_cb(conf.get(), OnDelivery);
    TRY_ASSIGN(client_, OpenClient(Role::kProducer, std::move(conf), cluster.properties, &watch_));
    const Owned<rd_kafka_error_t> error(
        rd_kafka_init_transactions(client_.get(), TimeoutOf(budget)));
    if (error) return Failed("begin", error.get());
    is_usable_ = true;
    return {};
  }

  ~OnRdKafka() override {
    if (!client_) return;
    rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_poll(client_.get(), 0);
  }

  bool is_usable() const override { return is_usable_; }

  Status Send(std::span<const OutgoingRecord> records, const Budget& budget) override {
    if (!is_usable_) return Fail(ErrorKind::kInternal, "the producer must be opened anew");
    if (const Owned<rd_kafka_error_t> error(rd_kafka_begin_transaction(client_.get())); error)
      return GiveUp(Failed("begin", error.get()));
    Deliveries deliveries;
    Status status = Enqueue(records, budget, &deliveries);
    while (status && deliveries.waiting > 0) {
      rd_kafka_flush(client_.get(), kFlushSliceMs);
      if (deliveries.waiting > 0) status = budget.Check();
    }
    if (status && deliveries.error != RD_KAFKA_RESP_ERR_NO_ERROR)
      status = DeliveryFailed(deliveries.error);
    if (!status) {
      Purge(deliveries);
      return Abort(std::move(status));
    }
    return Commit(budget);
  }

 private:
  struct Deliveries {
    size_t waiting = 0;
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  };

  static void OnDelivery(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
    auto* deliveries = static_cast<Deliveries*>(message->_private);
    --deliveries->waiting;
    // The first error is the cause; those after it say that the queue was emptied.
    if (deliveries->error == RD_KAFKA_RESP_ERR_NO_ERROR) deliveries->error = message->err;
  }

  Status Enqueue(std::span<const OutgoingRecord> records, const Budget& budget,
                 Deliveries* deliveries) {
    for (const OutgoingRecord& record : records) {
      while (true) {
        const auto error = EnqueueOne(record, deliveries);
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR) break;
        if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL) return DeliveryFailed(error);
        rd_kafka_poll(client_.get(), kFlushSliceMs);
        TRY(budget.Check());
      }
      ++deliveries->waiting;
    }
    return {};
  }

  rd_kafka_resp_err_t EnqueueOne(const OutgoingRecord& record, Deliveries* deliveries) {
    rd_kafka_headers_t* headers = rd_kafka_headers_new(record.headers.size());
    for (const auto& [name, value] : record.headers) {
      rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                          static_cast<ssize_t>(value.size()));
    }
    // The client copies the bytes (F_COPY); its interface lacks the const.
    char* value = record.value ? const_cast<char*>(record.value->data()) : nullptr;
    const size_t value_size = record.value ? record.value->size() : 0;
    const auto error = rd_kafka_producev(
        client_.get(), RD_KAFKA_V_TOPIC(record.partition.topic.c_str()),
        RD_KAFKA_V_PARTITION(record.partition.partition),
        RD_KAFKA_V_KEY(record.key.data(), record.key.size()), RD_KAFKA_V_VALUE(value, value_size),
        RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_OPAQUE(deliveries), RD_KAFKA_V_END);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) rd_kafka_headers_destroy(headers);
    return error;
  }

  /// `deliveries` must not be called back after its end.
  void Purge(const Deliveries& deliveries) {
    if (deliveries.waiting == 0) return;
    rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    while (deliveries.waiting > 0) rd_kafka_poll(client_.get(), kFlushSliceMs);
  }

  Status Commit(const Budget& budget) {
    while (true) {
      const Owned<rd_kafka_error_t> error(
          rd_kafka_commit_transaction(client_.get(), TimeoutOf(budget)));
      if (!error) return {};
      if (rd_kafka_error_txn_requires_abort(error.get()))
        return Abort(Failed("commit", error.get()));
      // The request may have arrived: the same call goes on with it.
      if (rd_kafka_error_is_retriable(error.get()) && budget.Check()) continue;
      return GiveUp(Failed("commit", error.get()));
    }
  }

  /// The producer is given up all the same: after a failed delivery librdkafka takes a new epoch,
  /// and records that come meanwhile are purged. Aborted at once, readers need not wait.
  Status Abort(Status why) {
    if (char text[1];
        rd_kafka_fatal_error(client_.get(), text, sizeof text) != RD_KAFKA_RESP_ERR_NO_ERROR)
      return GiveUp(Fatal());
    const Owned<rd_kafka_error_t> error(
        rd_kafka_abort_transaction(client_.get(), static_cast<int>(kAbortTime.count())));
    if (error && rd_kafka_error_is_fatal(error.get())) return GiveUp(Failed("abort", error.get()));
    return GiveUp(std::move(why));
  }

  Status GiveUp(Status why) {
    is_usable_ = false;
    return why;
  }

  Status Fatal() const {
    char text[256] = "";
    const auto code = rd_kafka_fatal_error(client_.get(), text, sizeof text);
    return Fail(KindOf(code), Words(text));
  }

  Status DeliveryFailed(rd_kafka_resp_err_t code) const {
    if (code == RD_KAFKA_RESP_ERR__FATAL) return Fatal();
    // A time-out hides what the connections said.
    const auto heard = watch_.errors.transport();
    if (KindOf(code) == ErrorKind::kUnavailable && !heard.empty())
      return Fail(ErrorKind::kUnavailable, Words(heard));
    return Fail(KindOf(code), Words(WordsOf(code)));
  }

  Status Failed(std::string_view what, const rd_kafka_error_t* error) const {
    const auto code = rd_kafka_error_code(error);
    if (const auto refusal = watch_.errors.refusal(); refusal)
      return std::unexpected(ClusterError(watch_.errors, cluster_));
    const auto heard = watch_.errors.transport();
    if (code == RD_KAFKA_RESP_ERR__TIMED_OUT && !heard.empty())
      return Fail(ErrorKind::kUnavailable, Words(heard));
    return Fail(KindOf(code),
                Words(fmt::format("{}: {}", what, CauseOf(rd_kafka_error_string(error)))));
  }

  std::string Words(std::string_view words) const {
    return fmt::format("kafka transaction transactional.id={}: {}", name_, words);
  }

  ClusterOptions cluster_;
  std::string name_;
  bool is_usable_ = false;
  Watch watch_;  // outlives the client
  Owned<rd_kafka_t> client_;
};

}  // namespace

Result<std::unique_ptr<TransactionalProducer>> TransactionalProducer::Open(
    const ClusterOptions& cluster, const TransactionalOptions& options, const Budget& budget) {
  auto producer = std::make_unique<OnRdKafka>();
  TRY(producer->Open(cluster, options, budget));
  return producer;
}

}  // namespace tidemark::kafka::client
