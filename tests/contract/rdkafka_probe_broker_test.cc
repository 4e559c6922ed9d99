#include <gtest/gtest.h>

#include "contract/partition_probe_contract.h"
#include "kafka/client/rdkafka_probe.h"
#include "support/kafka_admin.h"
#include "support/kafka_broker.h"
#include "support/result_matchers.h"

namespace tidemark::kafka {
namespace {

class KafkaUnderTest final : public BrokerUnderTest {
 public:
  KafkaUnderTest(std::unique_ptr<support::KafkaBroker> broker,
                 std::unique_ptr<support::KafkaAdmin> admin,
                 std::unique_ptr<client::Producer> producer)
      : broker_(std::move(broker)), admin_(std::move(admin)), producer_(std::move(producer)) {}

  static std::unique_ptr<ClusterUnderTest> Start() {
    auto broker = support::KafkaBroker::Start();
    EXPECT_THAT(broker, support::IsOk());
    if (!broker) return nullptr;
    auto admin = support::KafkaAdmin::Open((*broker)->plain());
    auto producer = client::Producer::Open((*broker)->plain());
    if (!admin || !producer) return nullptr;
    return std::make_unique<KafkaUnderTest>(*std::move(broker), *std::move(admin),
                                            *std::move(producer));
  }

  ClusterOptions options() const override { return broker_->plain(); }
  Status CreateTopic(const std::string& topic, int32_t partition_count,
                     const Configs& configs) override {
    return admin_->CreateTopic(topic, partition_count, configs);
  }
  Status DeleteTopic(const std::string& topic) override { return admin_->DeleteTopic(topic); }
  Status Append(const TopicPartition& partition, std::span<const client::Record> records) override {
    return producer_->Append(partition, records, Budget::For(std::chrono::seconds(60)));
  }
  Status DeleteRecordsBefore(const TopicPartition& partition, Offset offset) override {
    return admin_->DeleteRecordsBefore(partition, offset);
  }

  ClusterOptions LoginOptions(const std::string& mechanism,
                              const std::string& password) const override {
    return broker_->sasl(mechanism, password.empty() ? support::KafkaBroker::kPassword : password);
  }
  Status Allow(const std::string& topic, Right right) override {
    return admin_->Allow(support::KafkaBroker::kUser, topic,
                         right == Right::kRead ? support::KafkaAdmin::Right::kRead
                                               : support::KafkaAdmin::Right::kDescribe);
  }
  ClusterOptions TlsOptions() const override { return broker_->tls(broker_->ca_file()); }
  ClusterOptions TlsOptionsWithForeignAuthority() const override {
    return broker_->tls(broker_->other_ca_file());
  }
  Result<Offset> EndOf(const TopicPartition& partition) override {
    return admin_->End(partition, IsolationLevel::kReadUncommitted);
  }
  Status AwaitStableEnd(const TopicPartition& partition, Offset offset) override {
    TRY(admin_->AwaitEnd(partition, IsolationLevel::kReadUncommitted, offset));
    return admin_->AwaitEnd(partition, IsolationLevel::kReadCommitted, offset);
  }
  std::vector<std::string> ListTopics() override { return ListOf(admin_->ListTopics()); }
  std::vector<std::string> ListGroups() override { return ListOf(admin_->ListGroups()); }

 private:
  static std::vector<std::string> ListOf(const Result<std::set<std::string>>& names) {
    EXPECT_THAT(names, support::IsOk());
    if (!names) return {};
    return {names->begin(), names->end()};
  }

  std::unique_ptr<support::KafkaBroker> broker_;
  std::unique_ptr<support::KafkaAdmin> admin_;
  std::unique_ptr<client::Producer> producer_;
};

ClusterUnderTest* Kafka() {
  static const std::unique_ptr<ClusterUnderTest> kafka = KafkaUnderTest::Start();
  return kafka.get();
}

const ProbeUnderTest kRdKafka{
    .name = "rdkafka", .open = client::RdKafkaProbe::Open, .cluster = Kafka};
INSTANTIATE_TEST_SUITE_P(RdKafka, PartitionProbeContract, ::testing::Values(kRdKafka));
INSTANTIATE_TEST_SUITE_P(RdKafka, PartitionProbeBrokerContract, ::testing::Values(kRdKafka));

}  // namespace
}  // namespace tidemark::kafka
