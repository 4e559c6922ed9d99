#include "kafka/client/record_reader.h"

#include <fmt/core.h>

#include <array>
#include <map>

#include "kafka/client/clients_internal.h"
#include "kafka/client/faults_internal.h"

namespace tidemark::kafka::client {

namespace {

constexpr int64_t kFetchPartitionBytes = int64_t{4} << 20;
constexpr int kSliceMs = 50;
constexpr size_t kMessagesPerRead = 500;
/// How long one question for offsets may take before it is asked anew.
constexpr int64_t kQuestionMs = 2000;

IncomingRecord RecordOf(const rd_kafka_message_t* message) {
  IncomingRecord record{.partition = {rd_kafka_topic_name(message->rkt), message->partition},
                        .offset = message->offset};
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  record.timestamp_ms = rd_kafka_message_timestamp(message, &type);
  if (message->key != nullptr)
    record.key.assign(static_cast<const char*>(message->key), message->key_len);
  if (message->payload != nullptr)
    record.value.emplace(static_cast<const char*>(message->payload), message->len);
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return record;
  const char* name = nullptr;
  const void* value = nullptr;
  size_t size = 0;
  for (size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    record.headers.emplace_back(name, value == nullptr
                                          ? std::string()
                                          : std::string(static_cast<const char*>(value), size));
  }
  return record;
}

ErrorKind KindOf(rd_kafka_resp_err_t code) {
  switch (FaultOf(code).fault) {
    case ProbeFault::kTopicMissing:
    case ProbeFault::kPartitionMissing: return ErrorKind::kNotFound;
    case ProbeFault::kTopicDenied:
    case ProbeFault::kAuthentication:
    case ProbeFault::kTls: return ErrorKind::kDenied;
    default: return ErrorKind::kUnavailable;
  }
}

bool IsOutOfRange(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
         code == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE;
}

std::string Place(const TopicPartition& partition) {
  return fmt::format("topic={} partition={}", partition.topic, partition.partition);
}

class OnRdKafka final : public RecordReader {
 public:
  Status Open(const ClusterOptions& cluster, IsolationLevel isolation) {
    cluster_ = cluster;
    isolation_ = isolation;
    TRY_ASSIGN(asker_, OpenAsker(cluster));
    TRY_ASSIGN(follower_, OpenStream());
    return {};
  }

  ~OnRdKafka() override {
    if (!follower_) return;
    for (const auto& [partition, topic] : followed_) Stop(topic.get(), partition.partition);
  }

  Result<OffsetRange> RangeOf(const TopicPartition& partition, const Budget& budget) override {
    OffsetRange range;
    for (const bool is_end : {true, false}) {
      auto offset = Ask(partition, is_end, budget);
      if (!offset) return internal::Pass(offset);
      (is_end ? range.end : range.begin) = *offset;
    }
    return range;
  }

  Status Read(const TopicPartition& partition, Offset from, Offset end,
              const std::function<Status(IncomingRecord)>& take, const Budget& budget) override {
    if (from >= end) return {};
    // A client of its own: what is fetched ahead is dropped with it.
    TRY_ASSIGN(const auto stream, OpenStream());
    const Owned<rd_kafka_topic_t> topic(
        rd_kafka_topic_new(stream->client->handle.get(), partition.topic.c_str(), nullptr));
    TRY(Start(*stream, topic.get(), partition, from));
    Status status = ReadUntil(*stream, partition, end, take, budget);
    Stop(topic.get(), partition.partition);
    return status;
  }

  Status Follow(const TopicPartition& partition, Offset from) override {
    Forget(partition);
    Owned<rd_kafka_topic_t> topic(
        rd_kafka_topic_new(follower_->client->handle.get(), partition.topic.c_str(), nullptr));
    TRY(Start(*follower_, topic.get(), partition, from));
    followed_[partition] = std::move(topic);
    return {};
  }

  void Forget(const TopicPartition& partition) override {
    const auto found = followed_.find(partition);
    if (found == followed_.end()) return;
    Stop(found->second.get(), partition.partition);
    followed_.erase(found);
  }

  Result<std::vector<IncomingRecord>> Poll(size_t count_max, Milliseconds wait) override {
    if (pending_error_) {
      const Error error = *std::exchange(pending_error_, std::nullopt);
      return std::unexpected(error);
    }
    std::vector<IncomingRecord> records;
    int wait_ms = static_cast<int>(wait.count());
    while (records.size() < count_max) {
      const auto batch =
          Take(*follower_, wait_ms,
               std::min(count_max - records.size(), wait_ms > 0 ? 1 : kMessagesPerRead));
      wait_ms = 0;
      if (batch.empty()) break;
      for (const auto& message : batch) Sort(message.get(), records);
      if (pending_error_) break;
    }
    follower_->client->Poll();
    if (records.empty() && pending_error_) {
      const Error error = *std::exchange(pending_error_, std::nullopt);
      return std::unexpected(error);
    }
    return records;
  }

 private:
  struct Stream {
    std::unique_ptr<Client> client;
    Owned<rd_kafka_queue_t> queue;
  };

  Result<std::unique_ptr<Stream>> OpenStream() const {
    auto stream = std::make_unique<Stream>();
    auto settings = ReaderSettings(isolation_, kFetchPartitionBytes);
    for (auto& [name, value] : settings) {
      if (name == "queued.min.messages") value = "10000";
      if (name == "fetch.max.bytes") value = "52428800";
      if (name == "fetch.wait.max.ms") value = "500";
    }
    TRY_ASSIGN(stream->client, OpenRecordReader(cluster_, settings));
    stream->queue.reset(rd_kafka_queue_new(stream->client->handle.get()));
    return stream;
  }

  static Status Start(Stream& stream, rd_kafka_topic_t* topic, const TopicPartition& partition,
                      Offset from) {
    if (rd_kafka_consume_start_queue(topic, partition.partition, from, stream.queue.get()) == 0)
      return {};
    return Fail(ErrorKind::kUnavailable, fmt::format("cannot read kafka {}: {}", Place(partition),
                                                     WordsOf(rd_kafka_last_error())));
  }

  static void Stop(rd_kafka_topic_t* topic, PartitionId partition) {
    rd_kafka_consume_stop(topic, partition);
  }

  static std::vector<Owned<rd_kafka_message_t>> Take(Stream& stream, int wait_ms,
                                                     size_t count_max) {
    std::array<rd_kafka_message_t*, kMessagesPerRead> messages;
    const ssize_t count = rd_kafka_consume_batch_queue(stream.queue.get(), wait_ms, messages.data(),
                                                       std::min(count_max, messages.size()));
    std::vector<Owned<rd_kafka_message_t>> taken;
    for (ssize_t i = 0; i < count; ++i) taken.emplace_back(messages[static_cast<size_t>(i)]);
    return taken;
  }

  Status ReadUntil(Stream& stream, const TopicPartition& partition, Offset end,
                   const std::function<Status(IncomingRecord)>& take, const Budget& budget) {
    while (true) {
      // One at first: a larger read waits for all it asks for.
      auto batch = Take(stream, kSliceMs, 1);
      if (!batch.empty()) {
        for (auto& more : Take(stream, 0, kMessagesPerRead)) batch.push_back(std::move(more));
      }
      for (const auto& message : batch) {
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
          // Behind it there may be markers of transactions, which nobody is given.
          if (message->offset >= end) return {};
          continue;
        }
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
          TRY(Judge(message.get(), partition));
          continue;
        }
        if (message->offset >= end) return {};
        TRY(take(RecordOf(message.get())));
      }
      stream.client->Poll();
      if (stream.client->watch.errors.refusal())
        return std::unexpected(ClusterError(stream.client->watch.errors, cluster_));
      if (const auto checked = budget.Check(); !checked) {
        if (checked.error().kind == ErrorKind::kCancelled) return checked;
        return std::unexpected(ClusterError(stream.client->watch.errors, cluster_));
      }
    }
  }

  /// Ok: it passes by itself.
  static Status Judge(const rd_kafka_message_t* message, const TopicPartition& partition) {
    if (IsOutOfRange(message->err)) {
      return Fail(ErrorKind::kExhausted,
                  "kafka records are not there any more " + Place(partition));
    }
    if (FaultOf(message->err).is_passing) return {};
    if (message->err == RD_KAFKA_RESP_ERR__TRANSPORT ||
        message->err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
      return {};
    return Fail(KindOf(message->err), fmt::format("cannot read kafka {}: {}", Place(partition),
                                                  CauseOf(rd_kafka_message_errstr(message))));
  }

  void Sort(const rd_kafka_message_t* message, std::vector<IncomingRecord>& records) {
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      records.push_back(RecordOf(message));
      return;
    }
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF || message->rkt == nullptr) return;
    const TopicPartition partition{rd_kafka_topic_name(message->rkt), message->partition};
    const auto status = Judge(message, partition);
    if (status) return;
    if (status.error().kind == ErrorKind::kExhausted) {
      static_cast<void>(Follow(partition, RD_KAFKA_OFFSET_BEGINNING));
    }
    if (!pending_error_) pending_error_ = status.error();
  }

  Result<Offset> Ask(const TopicPartition& partition, bool is_end, const Budget& budget) {
    while (true) {
      const Owned<rd_kafka_topic_partition_list_t> list(rd_kafka_topic_partition_list_new(1));
      rd_kafka_topic_partition_list_add(list.get(), partition.topic.c_str(), partition.partition)
          ->offset = is_end ? RD_KAFKA_OFFSET_SPEC_LATEST : RD_KAFKA_OFFSET_SPEC_EARLIEST;
      const auto limit = Milliseconds(
          std::min<int64_t>(kQuestionMs, std::max<int64_t>(1, budget.Remaining().count())));
      const auto options = AdminOptions(*asker_, RD_KAFKA_ADMIN_OP_LISTOFFSETS, limit);
      const Owned<rd_kafka_error_t> ignored(rd_kafka_AdminOptions_set_isolation_level(
          options.get(), isolation_ == IsolationLevel::kReadCommitted
                             ? RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED
                             : RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED));
      const AnswerQueue answers(*asker_);
      rd_kafka_ListOffsets(asker_->handle.get(), list.get(), options.get(), answers.get());
      const auto event = answers.Next(limit + Milliseconds(kSliceMs));
      const auto code = event ? rd_kafka_event_error(event.get()) : RD_KAFKA_RESP_ERR__TIMED_OUT;
      if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        size_t count = 0;
        const auto* infos = rd_kafka_ListOffsets_result_infos(
            rd_kafka_event_ListOffsets_result(event.get()), &count);
        if (count == 1) {
          const auto* answer = rd_kafka_ListOffsetsResultInfo_topic_partition(infos[0]);
          if (answer->err == RD_KAFKA_RESP_ERR_NO_ERROR && answer->offset >= 0)
            return answer->offset;
          if (answer->err != RD_KAFKA_RESP_ERR_NO_ERROR && !FaultOf(answer->err).is_passing) {
            return Fail(KindOf(answer->err), fmt::format("cannot read kafka {}: {}",
                                                         Place(partition), WordsOf(answer->err)));
          }
        }
      }
      if (asker_->watch.errors.refusal())
        return std::unexpected(ClusterError(asker_->watch.errors, cluster_));
      if (code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC || code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION)
        return Fail(ErrorKind::kNotFound, "no such kafka partition " + Place(partition));
      if (budget.is_stopped()) return std::unexpected(budget.Check().error());
      Budget pause = budget;
      pause.tries_max = 2;
      if (!pause.WaitForTry(2))
        return std::unexpected(ClusterError(asker_->watch.errors, cluster_));
    }
  }

  ClusterOptions cluster_;
  IsolationLevel isolation_ = IsolationLevel::kReadCommitted;
  std::unique_ptr<Client> asker_;
  std::unique_ptr<Stream> follower_;
  std::map<TopicPartition, Owned<rd_kafka_topic_t>> followed_;  // before its client
  std::optional<Error> pending_error_;
};

}  // namespace

Result<std::unique_ptr<RecordReader>> RecordReader::Open(const ClusterOptions& cluster,
                                                         IsolationLevel isolation) {
  auto reader = std::make_unique<OnRdKafka>();
  TRY(reader->Open(cluster, isolation));
  return reader;
}

}  // namespace tidemark::kafka::client
