#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "kafka/client/faults_internal.h"
#include "kafka/client/first_record_internal.h"

namespace tidemark::kafka::client {

namespace {

// Bytes asked of a partition per request, from the first try on. A broker fills a request up to
// this, so a small one does not download the log. But a batch that does not fit is only sent for
// one partition per request, so what comes in like that moves on to the next size. Half as much
// again as what producers send most: one record of 1 KB, a full batch.size of 16 KB; the last takes
// the largest batch that brokers allow by default.
constexpr std::array<int64_t, 4> kFetchSizes = {3 << 9, 24 << 10, 768 << 10, 1'048'588};

// Partitions of one client: whatever happens on a connection, librdkafka looks at all of them.
constexpr size_t kPartitionsPerClient = 2'500;
constexpr Milliseconds kServeSlice{20};
// A response is handed over partition by partition; a gap this long ends it.
constexpr Milliseconds kBurstGap{3};
// What is read at once, and then paused: the rest stays in the queue, and while it does nothing
// more is fetched.
constexpr size_t kMessagesPerRead = 200;
// So many responses in a row that decide a partition each are a trickle, not chance. With this few
// partitions left it does not matter.
constexpr int kTrickleBursts = 3;
constexpr size_t kTrickleRestMin = 16;
// More than one broker may have answered within a burst.
constexpr size_t kTrickleBurstSize = 4;

class Search {
 public:
  Search(Client& client, const ClusterOptions& options, const std::vector<SearchTarget*>& targets)
      : client_(client),
        options_(options),
        targets_(targets),
        queue_(rd_kafka_queue_new(client.handle.get())) {}

  /// With `is_last_size` false it also returns when the rest trickles in.
  void Run(bool is_last_size, Milliseconds patience, const Budget& budget) {
    Start();
    int trickle = 0;
    MonoTime last_decided = std::chrono::steady_clock::now();
    while (undecided_ > 0 && !budget.is_over() && !budget.is_stopped()) {
      const size_t decided = TakeBurst(kServeSlice);
      client_.Poll();
      if (client_.watch.errors.refusal()) return;
      const MonoTime now = std::chrono::steady_clock::now();
      if (decided == 0) {
        if (now - last_decided >= patience) return;
        continue;
      }
      last_decided = now;
      trickle = decided <= kTrickleBurstSize ? trickle + 1 : 0;
      if (!is_last_size && trickle >= kTrickleBursts && undecided_ >= kTrickleRestMin) return;
    }
  }

 private:
  struct Topic {
    Owned<rd_kafka_topic_t> handle;
    std::unordered_map<int32_t, SearchTarget*> targets;  // by partition
  };

  void Start() {
    for (SearchTarget* target : targets_) {
      const auto& [name, partition] = target->facts->partition;
      Topic& topic = topics_[name];
      if (!topic.handle) {
        topic.handle.reset(rd_kafka_topic_new(client_.handle.get(), name.c_str(), nullptr));
      }
      if (!topic.handle || rd_kafka_consume_start_queue(topic.handle.get(), partition, target->from,
                                                        queue_.get()) != 0) {
        Blame(target, rd_kafka_last_error());
        continue;
      }
      topic.targets[partition] = target;
      ++undecided_;
    }
    rd_kafka_brokers_add(client_.handle.get(), options_.bootstrap_servers.c_str());
  }

  // Everything that arrives until a gap; the number of partitions it decided.
  size_t TakeBurst(Milliseconds wait) {
    const size_t before = undecided_;
    std::array<rd_kafka_message_t*, kMessagesPerRead> messages;
    // A read waits for all it asks for, so the first one asks for one.
    ssize_t count = rd_kafka_consume_batch_queue(queue_.get(), static_cast<int>(wait.count()),
                                                 messages.data(), 1);
    while (count > 0) {
      for (ssize_t i = 0; i < count; ++i) {
        const Owned<rd_kafka_message_t> message(messages[static_cast<size_t>(i)]);
        Take(message.get());
      }
      PauseDecided();
      count = rd_kafka_consume_batch_queue(queue_.get(), static_cast<int>(kBurstGap.count()),
                                           messages.data(), messages.size());
    }
    return before - undecided_;
  }

  void Take(const rd_kafka_message_t* message) {
    SearchTarget* target = Find(message);
    if (target == nullptr || target->outcome != SearchTarget::Outcome::kUndecided) return;
    Decide(message, target);
    if (target->outcome == SearchTarget::Outcome::kUndecided) return;
    --undecided_;
    decided_.push_back(target);
  }

  SearchTarget* Find(const rd_kafka_message_t* message) {
    if (message->rkt == nullptr) return nullptr;
    const auto topic = topics_.find(rd_kafka_topic_name(message->rkt));
    if (topic == topics_.end()) return nullptr;
    const auto target = topic->second.targets.find(message->partition);
    return target == topic->second.targets.end() ? nullptr : target->second;
  }

  static void Decide(const rd_kafka_message_t* message, SearchTarget* target) {
    switch (message->err) {
      case RD_KAFKA_RESP_ERR_NO_ERROR: DecideByRecord(message, target); return;
      case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        target->outcome = message->offset >= target->end ? SearchTarget::Outcome::kEnd
                                                         : SearchTarget::Outcome::kOutOfRange;
        return;
      case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
      case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        target->outcome = SearchTarget::Outcome::kOutOfRange;
        return;
      default:
        Blame(target, message->err);
        target->message = CauseOf(rd_kafka_message_errstr(message));
        return;
    }
  }

  static void DecideByRecord(const rd_kafka_message_t* message, SearchTarget* target) {
    if (message->offset < target->from) return;
    if (message->offset >= target->end) {
      target->outcome = SearchTarget::Outcome::kEnd;
      return;
    }
    target->outcome = SearchTarget::Outcome::kRecord;
    target->first.offset = message->offset;
    rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
    const int64_t timestamp = rd_kafka_message_timestamp(message, &type);
    switch (type) {
      case RD_KAFKA_TIMESTAMP_CREATE_TIME:
        target->first.timestamp_type = TimestampType::kCreate;
        break;
      case RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME:
        target->first.timestamp_type = TimestampType::kAppend;
        break;
      case RD_KAFKA_TIMESTAMP_NOT_AVAILABLE: break;
    }
    // A producer that sent none leaves -1 under whatever type the topic has.
    if (timestamp < 0) target->first.timestamp_type = TimestampType::kNone;
    const bool has_stamp = target->first.timestamp_type != TimestampType::kNone;
    target->first.timestamp_ms = has_stamp ? timestamp : -1;
  }

  static void Blame(SearchTarget* target, rd_kafka_resp_err_t code) {
    const FaultOfCode meaning = FaultOf(code);
    target->outcome =
        meaning.is_passing ? SearchTarget::Outcome::kAgain : SearchTarget::Outcome::kFault;
    target->fault = meaning.fault;
    target->message = WordsOf(code);
  }

  // Every further batch of a decided partition would be fetched for nothing. Paused, not stopped:
  // that waits for no other thread, and what is under way is dropped instead of being kept.
  void PauseDecided() {
    if (decided_.empty()) return;
    const Owned<rd_kafka_topic_partition_list_t> list(
        rd_kafka_topic_partition_list_new(static_cast<int>(decided_.size())));
    for (const SearchTarget* target : decided_) {
      const auto& [name, partition] = target->facts->partition;
      rd_kafka_topic_partition_list_add(list.get(), name.c_str(), partition);
    }
    rd_kafka_pause_partitions(client_.handle.get(), list.get());
    decided_.clear();
  }

  Client& client_;
  const ClusterOptions& options_;
  const std::vector<SearchTarget*>& targets_;
  std::unordered_map<std::string, Topic> topics_;
  Owned<rd_kafka_queue_t> queue_;
  std::vector<SearchTarget*> decided_;  // and still being fetched
  size_t undecided_ = 0;
};

// At most kPartitionsPerClient of them.
Result<uint64_t> SearchSome(const ClusterOptions& options, IsolationLevel isolation,
                            std::span<SearchTarget> targets, Milliseconds patience,
                            const Budget& budget) {
  uint64_t received = 0;
  std::vector<SearchTarget*> open;
  for (SearchTarget& target : targets) open.push_back(&target);
  for (const int64_t size : kFetchSizes) {
    if (open.empty() || budget.is_over() || budget.is_stopped()) break;
    TRY_ASSIGN(const auto client, OpenReader(options, isolation, size));
    Search(*client, options, open).Run(size == kFetchSizes.back(), patience, budget);
    received += client->watch.meter.received();
    std::erase_if(open, [](const SearchTarget* target) {
      return target->outcome != SearchTarget::Outcome::kUndecided;
    });
    for (SearchTarget* target : open) {
      SilenceReason silence = SilenceOf(client->watch.errors, *target->place.address);
      target->fault = silence.fault;
      target->message = std::move(silence.message);
    }
  }
  return received;
}

}  // namespace

Result<uint64_t> SearchFirstRecords(const ClusterOptions& options, IsolationLevel isolation,
                                    std::span<SearchTarget> targets, Milliseconds patience,
                                    const Budget& budget) {
  uint64_t received = 0;
  while (!targets.empty()) {
    const auto some = targets.first(std::min(targets.size(), kPartitionsPerClient));
    targets = targets.subspan(some.size());
    TRY_ASSIGN(const uint64_t more, SearchSome(options, isolation, some, patience, budget));
    received += more;
  }
  return received;
}

}  // namespace tidemark::kafka::client
