#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "kafka/client/faults_internal.h"
#include "kafka/client/first_record_internal.h"

namespace tidemark::kafka::client {

namespace {

constexpr Milliseconds kServeSlice{20};
// A response is handed over partition by partition; a gap this long ends it.
constexpr Milliseconds kBurstGap{3};
constexpr size_t kMessagesPerRead = 1000;
// So many responses in a row that decide a partition each are a trickle, not chance. With this few
// partitions left it does not matter.
constexpr int kTrickleBursts = 3;
constexpr size_t kTrickleRestMin = 16;
// More than one broker may have answered within a burst.
constexpr size_t kTrickleBurstSize = 4;

class Search {
 public:
  Search(Client& client, std::span<SearchTarget> targets)
      : client_(client), targets_(targets), queue_(rd_kafka_queue_new(client.handle.get())) {}
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  ~Search() { StopAll(); }

  void Run(bool is_last_size, const Budget& budget) {
    Start();
    int trickle = 0;
    while (undecided_ > 0 && !budget.is_over() && !budget.is_stopped()) {
      const size_t decided = TakeBurst(kServeSlice);
      client_.Poll();
      if (client_.watch.errors.refusal()) return;
      if (decided == 0) continue;
      StopDecided();
      trickle = decided <= kTrickleBurstSize ? trickle + 1 : 0;
      if (!is_last_size && trickle >= kTrickleBursts && undecided_ >= kTrickleRestMin) return;
    }
  }

 private:
  struct Topic {
    Owned<rd_kafka_topic_t> handle;
    std::unordered_map<int32_t, size_t> targets;  // by partition
  };

  void Start() {
    for (size_t i = 0; i < targets_.size(); ++i) {
      SearchTarget& target = targets_[i];
      target.outcome = SearchTarget::Outcome::kUndecided;
      Topic& topic = topics_[target.partition.topic];
      if (!topic.handle) {
        topic.handle.reset(
            rd_kafka_topic_new(client_.handle.get(), target.partition.topic.c_str(), nullptr));
      }
      if (!topic.handle ||
          rd_kafka_consume_start_queue(topic.handle.get(), target.partition.partition, target.from,
                                       queue_.get()) != 0) {
        Blame(&target, rd_kafka_last_error());
        continue;
      }
      topic.targets[target.partition.partition] = i;
      ++undecided_;
    }
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
    decided_.push_back(static_cast<size_t>(target - targets_.data()));
  }

  SearchTarget* Find(const rd_kafka_message_t* message) {
    if (message->rkt == nullptr) return nullptr;
    const auto topic = topics_.find(rd_kafka_topic_name(message->rkt));
    if (topic == topics_.end()) return nullptr;
    const auto index = topic->second.targets.find(message->partition);
    return index == topic->second.targets.end() ? nullptr : &targets_[index->second];
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
        target->message = rd_kafka_message_errstr(message);
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

  // Every further batch of a decided partition would be fetched for nothing.
  void StopDecided() {
    for (const size_t index : decided_) Stop(targets_[index].partition);
    decided_.clear();
  }

  void StopAll() {
    StopDecided();
    for (const auto& [name, topic] : topics_) {
      for (const auto& [partition, index] : topic.targets) {
        if (targets_[index].outcome == SearchTarget::Outcome::kUndecided) {
          Stop(targets_[index].partition);
        }
      }
    }
  }

  void Stop(const TopicPartition& partition) {
    rd_kafka_consume_stop(topics_[partition.topic].handle.get(), partition.partition);
  }

  Client& client_;
  std::span<SearchTarget> targets_;
  std::unordered_map<std::string, Topic> topics_;
  Owned<rd_kafka_queue_t> queue_;
  std::vector<size_t> decided_;  // and still being fetched
  size_t undecided_ = 0;
};

}  // namespace

void SearchFirstRecords(Client& client, std::span<SearchTarget> targets, bool is_last_size,
                        const Budget& budget) {
  Search(client, targets).Run(is_last_size, budget);
}

}  // namespace tidemark::kafka::client
