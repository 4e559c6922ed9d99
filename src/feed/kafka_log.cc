#include "feed/kafka_log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <optional>

#include "kafka/client/record_reader.h"

namespace tidemark::feed {

namespace {

using kafka::client::IncomingRecord;
using kafka::client::NewTopic;
using kafka::client::OutgoingRecord;
using kafka::client::RecordReader;
using kafka::client::TopicState;
using kafka::client::TransactionalProducer;

/// An event is at most 512 KiB before compression but for a schema, which cannot be split; brokers
/// take 1,048,588 bytes by default, and less would refuse an event.
constexpr int64_t kMessageBytesMin = 1'048'588;
constexpr int64_t kEventRetentionMinMs = int64_t{7} * 24 * 3600 * 1000;
constexpr int64_t kDlqRetentionMs = int64_t{30} * 24 * 3600 * 1000;
constexpr size_t kPollMax = 1000;

struct TopicRule {
  std::string name;
  int32_t partition_count = 0;  // 0: any
  bool is_compacted = false;
  std::optional<int64_t> retention_min_ms{};
};

std::vector<TopicRule> RulesOf(const FeedTopics& topics) {
  const int32_t count = topics.partition_count;
  return {{topics.events, count, false, kEventRetentionMinMs},
          {topics.state, count, true},
          {topics.cursor, count, true},
          {topics.control, count, false},
          {topics.dlq, 0, false}};
}

std::optional<int64_t> NumberOf(const TopicState& topic, const char* name) {
  if (!topic.settings) return std::nullopt;
  const auto found = topic.settings->find(name);
  if (found == topic.settings->end()) return std::nullopt;
  int64_t number = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [rest, error] = std::from_chars(found->second.data(), end, number);
  return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

std::string Alter(const std::string& topic, const std::string& setting) {
  return fmt::format("kafka-configs --alter --entity-type topics --entity-name {} --add-config {}",
                     topic, setting);
}

void JudgePolicy(const TopicRule& rule, const TopicState& found, std::vector<std::string>& wrong) {
  if (!found.settings) return;
  const auto policy = found.settings->find("cleanup.policy");
  if (policy == found.settings->end()) return;
  const char* wanted = rule.is_compacted ? "compact" : "delete";
  if (policy->second == wanted) return;
  wrong.push_back(fmt::format(
      "kafka topic={}: cleanup.policy is '{}' and must be '{}', or {}; cure: {}", rule.name,
      policy->second, wanted,
      rule.is_compacted ? "what subscribers begin with is deleted by age"
                        : "events that subscribers have not read yet are compacted away",
      Alter(rule.name, fmt::format("cleanup.policy={}", wanted))));
}

void JudgeSizes(const TopicRule& rule, const TopicState& found, std::vector<std::string>& wrong) {
  if (const auto size = NumberOf(found, "max.message.bytes"); size && *size < kMessageBytesMin) {
    wrong.push_back(fmt::format(
        "kafka topic={}: max.message.bytes is {} and must be {} or more, or large events are "
        "refused; cure: {}",
        rule.name, *size, kMessageBytesMin,
        Alter(rule.name, fmt::format("max.message.bytes={}", kMessageBytesMin))));
  }
  const auto retention = NumberOf(found, "retention.ms");
  if (rule.retention_min_ms && retention && *retention >= 0 &&
      *retention < *rule.retention_min_ms) {
    wrong.push_back(fmt::format(
        "kafka topic={}: retention.ms is {} and must be {} (7 days) or more, or a subscriber that "
        "was away loses events; cure: {}",
        rule.name, *retention, *rule.retention_min_ms,
        Alter(rule.name, fmt::format("retention.ms={}", *rule.retention_min_ms))));
  }
}

ReadRecord ReadRecordOf(LogTopic topic, IncomingRecord record) {
  return {.topic = topic,
          .partition = record.partition.partition,
          .offset = record.offset,
          .key = std::move(record.key),
          .value = std::move(record.value),
          .headers = std::move(record.headers)};
}

class KafkaWriter final : public LogWriter {
 public:
  KafkaWriter(std::unique_ptr<TransactionalProducer> producer, FeedTopics topics,
              PartitionId partition)
      : producer_(std::move(producer)), topics_(std::move(topics)), partition_(partition) {}

  Status Send(std::span<const LogRecord> records, const Budget& budget) override {
    std::vector<OutgoingRecord> outgoing;
    outgoing.reserve(records.size());
    for (const auto& record : records) {
      outgoing.push_back({.partition = {topics_.NameOf(record.topic), partition_},
                          .key = record.key,
                          .value = record.value,
                          .headers = record.headers});
    }
    return producer_->Send(outgoing, budget);
  }
  bool is_usable() const override { return producer_->is_usable(); }

 private:
  std::unique_ptr<TransactionalProducer> producer_;
  FeedTopics topics_;
  PartitionId partition_;
};

class KafkaFollower final : public LogFollower {
 public:
  KafkaFollower(std::unique_ptr<RecordReader> reader, FeedTopics topics)
      : reader_(std::move(reader)), topics_(std::move(topics)) {}

  Result<Offset> FollowFrom(LogTopic topic, PartitionId partition, Offset from,
                            const Budget& budget) override {
    const kafka::TopicPartition place{topics_.NameOf(topic), partition};
    TRY_ASSIGN(const auto range, reader_->RangeOf(place, budget));
    TRY(reader_->Follow(place, std::clamp(from, range.begin, range.end)));
    return range.end;
  }
  void Forget(LogTopic topic, PartitionId partition) override {
    reader_->Forget({topics_.NameOf(topic), partition});
  }
  Result<std::vector<ReadRecord>> Poll(Milliseconds wait) override {
    TRY_ASSIGN(auto records, reader_->Poll(kPollMax, wait));
    std::vector<ReadRecord> read;
    for (auto& record : records) {
      for (const LogTopic topic : kLogTopics) {
        if (topics_.NameOf(topic) != record.partition.topic) continue;
        read.push_back(ReadRecordOf(topic, std::move(record)));
        break;
      }
    }
    return read;
  }

 private:
  std::unique_ptr<RecordReader> reader_;
  FeedTopics topics_;
};

class KafkaLog final : public EventLog {
 public:
  explicit KafkaLog(KafkaLogOptions options) : options_(std::move(options)) {}

  int32_t partition_count() const override { return options_.topics.partition_count; }

  Result<std::unique_ptr<LogWriter>> OpenWriter(PartitionId partition,
                                                const Budget& budget) override {
    TRY_ASSIGN(auto producer, TransactionalProducer::Open(
                                  options_.cluster,
                                  {.transactional_id = TransactionalId(options_.topics, partition),
                                   .compression = options_.compression,
                                   .delivery_timeout = options_.delivery_timeout},
                                  budget));
    return std::make_unique<KafkaWriter>(std::move(producer), options_.topics, partition);
  }

  Result<Offset> Read(LogTopic topic, PartitionId partition, Offset from,
                      const std::function<Status(ReadRecord)>& take,
                      const Budget& budget) override {
    // Readers are kept: a client that has asked once knows the leaders.
    auto reader = TakeReader();
    if (!reader) return internal::Pass(reader);
    const kafka::TopicPartition place{options_.topics.NameOf(topic), partition};
    TRY_ASSIGN(const auto range, (*reader)->RangeOf(place, budget));
    TRY((*reader)->Read(
        place, std::max(from, range.begin), range.end,
        [&](IncomingRecord record) { return take(ReadRecordOf(topic, std::move(record))); },
        budget));
    const std::lock_guard lock(mutex_);
    readers_.push_back(*std::move(reader));
    return range.end;
  }

  Result<std::unique_ptr<LogFollower>> OpenFollower() override {
    TRY_ASSIGN(auto reader,
               RecordReader::Open(options_.cluster, kafka::IsolationLevel::kReadCommitted));
    return std::make_unique<KafkaFollower>(std::move(reader), options_.topics);
  }

 private:
  Result<std::unique_ptr<RecordReader>> TakeReader() {
    {
      const std::lock_guard lock(mutex_);
      if (!readers_.empty()) {
        auto reader = std::move(readers_.back());
        readers_.pop_back();
        return reader;
      }
    }
    return RecordReader::Open(options_.cluster, kafka::IsolationLevel::kReadCommitted);
  }

  const KafkaLogOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<RecordReader>> readers_;  // guarded by mutex_
};

}  // namespace

const std::string& FeedTopics::NameOf(LogTopic topic) const {
  switch (topic) {
    case LogTopic::kEvents: return events;
    case LogTopic::kState: return state;
    case LogTopic::kCursor: return cursor;
    case LogTopic::kControl: break;
  }
  return control;
}

std::vector<std::string> TopicNames(const FeedTopics& topics) {
  std::vector<std::string> names;
  for (const auto& rule : RulesOf(topics)) names.push_back(rule.name);
  return names;
}

std::vector<std::string> TopicSettingNames() {
  return {"cleanup.policy", "max.message.bytes", "retention.ms"};
}

std::vector<std::string> JudgeTopics(const FeedTopics& topics,
                                     const std::vector<TopicState>& found) {
  std::vector<std::string> wrong;
  for (const auto& rule : RulesOf(topics)) {
    const auto topic = std::ranges::find(found, rule.name, &TopicState::topic);
    if (topic == found.end() || topic->partition_count == 0) {
      wrong.push_back(fmt::format("kafka topic={}: it is missing", rule.name));
      continue;
    }
    if (rule.partition_count != 0 && topic->partition_count != rule.partition_count) {
      wrong.push_back(fmt::format(
          "kafka topic={}: it has {} partitions and feed.partitions says {}; a feed's partitions "
          "are never changed, for order is lost while they are; cure: set feed.partitions to what "
          "all topics have, or begin a feed of other topics",
          rule.name, topic->partition_count, rule.partition_count));
    }
    JudgePolicy(rule, *topic, wrong);
    JudgeSizes(rule, *topic, wrong);
  }
  return wrong;
}

std::vector<NewTopic> MissingTopics(const FeedTopics& topics,
                                    const std::vector<TopicState>& found) {
  std::vector<NewTopic> missing;
  for (const auto& rule : RulesOf(topics)) {
    const auto topic = std::ranges::find(found, rule.name, &TopicState::topic);
    if (topic != found.end() && topic->partition_count > 0) continue;
    NewTopic wanted{.topic = rule.name,
                    .partition_count = rule.partition_count == 0 ? 1 : rule.partition_count,
                    .settings = {{"cleanup.policy", rule.is_compacted ? "compact" : "delete"},
                                 {"max.message.bytes", fmt::format("{}", kMessageBytesMin)}}};
    if (rule.retention_min_ms)
      wanted.settings["retention.ms"] = fmt::format("{}", *rule.retention_min_ms);
    if (rule.name == topics.dlq)
      wanted.settings["retention.ms"] = fmt::format("{}", kDlqRetentionMs);
    missing.push_back(std::move(wanted));
  }
  return missing;
}

Status PrepareTopics(const KafkaLogOptions& options, const Budget& budget) {
  TRY_ASSIGN(const auto admin, kafka::client::TopicAdmin::Open(options.cluster));
  const auto names = TopicNames(options.topics);
  const auto settings = TopicSettingNames();
  TRY_ASSIGN(auto found, admin->Describe(names, settings, budget));
  if (const auto missing = MissingTopics(options.topics, found); !missing.empty()) {
    TRY(admin->Create(missing, budget));
    TRY_ASSIGN(found, admin->Describe(names, settings, budget));
  }
  const auto wrong = JudgeTopics(options.topics, found);
  if (wrong.empty()) return {};
  return Fail(ErrorKind::kInvalidArgument, fmt::format("{}", fmt::join(wrong, "\n")));
}

std::string TransactionalId(const FeedTopics& topics, PartitionId partition) {
  return fmt::format("tidemark-publisher-{}-{}", topics.events, partition);
}

std::unique_ptr<EventLog> OpenKafkaLog(const KafkaLogOptions& options) {
  return std::make_unique<KafkaLog>(options);
}

}  // namespace tidemark::feed
