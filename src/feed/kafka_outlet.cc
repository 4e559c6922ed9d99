#include "feed/kafka_outlet.h"

#include <fmt/format.h>

#include <utility>

#include "kafka/client/producer.h"

namespace tidemark::feed {

namespace {

using kafka::client::Producer;
using kafka::client::Record;

/// A write that is not acknowledged in it is tried again in a later round.
constexpr Milliseconds kWriteTimeout{5'000};

class KafkaOutlet final : public MirrorOutlet {
 public:
  KafkaOutlet(std::unique_ptr<Producer> producer, FeedTopics topics)
      : producer_(std::move(producer)), topics_(std::move(topics)) {}

  Status Ask(PartitionId partition, const ControlRequest& request,
             const Budget& budget) override {
    const Record record{.key = request.uid, .value = ControlJson(request), .timestamp_ms = {}};
    return producer_->Append({topics_.control, partition}, {&record, 1},
                             budget.Within(kWriteTimeout));
  }

  Status Bury(const ReadRecord& record, const Error& why, const Budget& budget) override {
    Record dead{.key = record.key, .value = record.value, .timestamp_ms = {},
                .headers = record.headers};
    dead.headers.emplace_back("tidemark-error", why.message);
    dead.headers.emplace_back("tidemark-topic", topics_.NameOf(record.topic));
    dead.headers.emplace_back("tidemark-partition", fmt::format("{}", record.partition));
    dead.headers.emplace_back("tidemark-offset", fmt::format("{}", record.offset));
    return producer_->Append({topics_.dlq, 0}, {&dead, 1}, budget.Within(kWriteTimeout));
  }

 private:
  std::unique_ptr<Producer> producer_;
  FeedTopics topics_;
};

}  // namespace

Result<std::unique_ptr<MirrorOutlet>> OpenKafkaOutlet(const kafka::ClusterOptions& cluster,
                                                      const FeedTopics& topics) {
  TRY_ASSIGN(auto producer, Producer::Open(cluster));
  return std::unique_ptr<MirrorOutlet>(
      std::make_unique<KafkaOutlet>(std::move(producer), topics));
}

}  // namespace tidemark::feed
