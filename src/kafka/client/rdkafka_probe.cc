#include "kafka/client/rdkafka_probe.h"

#include <optional>
#include <span>
#include <vector>

#include "kafka/client/clients_internal.h"
#include "kafka/client/first_record_internal.h"
#include "kafka/client/time_look_up_internal.h"
#include "kafka/client/topic_facts_internal.h"
#include "kafka/client/watermarks_internal.h"

namespace tidemark::kafka::client {

namespace {

constexpr Milliseconds kClusterIdWait{100};

class RdKafkaAsker final : public ClusterAsker {
 public:
  RdKafkaAsker(std::unique_ptr<Client> client, ClusterOptions options)
      : askers_{.current = std::move(client), .former = {}}, options_(std::move(options)) {}

  // A new probe starts with a clean slate.
  void Begin() override {
    askers_.current->Poll();
    askers_.current->watch.errors.Clear();
  }
  void End() override {
    configs_.reset();
    askers_.former.clear();
  }

  Result<std::vector<DescribedTopic>> DescribeTopics(std::span<const std::string> topics,
                                                     std::map<int32_t, std::string>* addresses,
                                                     const Budget& budget) override {
    return client::DescribeTopics(askers_, options_, topics, addresses, budget);
  }
  void AskConfigs(const std::vector<std::string>& topics, Milliseconds limit) override {
    configs_.emplace(*askers_.current, topics, limit);
  }
  void CollectConfigs(std::span<TopicFacts> topics, Milliseconds limit) override {
    configs_->Collect(topics, limit);
  }
  std::optional<WallTime> AskWatermarks(IsolationLevel isolation,
                                        std::span<WatermarkTarget> targets, Milliseconds patience,
                                        const Budget& budget) override {
    return client::AskWatermarks(*askers_.current, isolation, targets, patience, budget);
  }
  void AskOffsetsAt(std::span<TimeTarget> targets, Milliseconds patience,
                    const Budget& budget) override {
    client::AskOffsetsAt(*askers_.current, targets, patience, budget);
  }
  Result<uint64_t> SearchFirstRecords(IsolationLevel isolation, std::span<SearchTarget> targets,
                                      Milliseconds patience, const Budget& budget) override {
    return client::SearchFirstRecords(options_, isolation, targets, patience, budget);
  }
  bool is_refused() const override { return askers_.current->watch.errors.refusal().has_value(); }
  std::string ClusterId() override {
    rd_kafka_t* handle = askers_.current->handle.get();
    char* id = rd_kafka_clusterid(handle, static_cast<int>(kClusterIdWait.count()));
    if (id == nullptr) return {};
    std::string text(id);
    rd_kafka_mem_free(handle, id);
    return text;
  }

 private:
  Askers askers_;
  ClusterOptions options_;
  std::optional<ConfigQuestion> configs_;
};

}  // namespace

Result<std::unique_ptr<PartitionProbe>> RdKafkaProbe::Open(const ClusterOptions& options) {
  TRY_ASSIGN(auto client, OpenAsker(options));
  return MakeProbe(std::make_unique<RdKafkaAsker>(std::move(client), options),
                   options.record_access);
}

}  // namespace tidemark::kafka::client
