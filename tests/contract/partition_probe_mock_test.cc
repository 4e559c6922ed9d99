#include <gtest/gtest.h>

#include "contract/partition_probe_contract.h"
#include "kafka/client/mock_cluster.h"
#include "kafka/client/rdkafka_probe.h"
#include "support/result_matchers.h"

namespace tidemark::kafka {
namespace {

class MockUnderTest final : public ClusterUnderTest {
 public:
  explicit MockUnderTest(std::unique_ptr<client::MockCluster> mock) : mock_(std::move(mock)) {}

  ClusterOptions options() const override { return mock_->options(); }
  Status CreateTopic(const std::string& topic, int32_t partition_count,
                     const Configs& configs) override {
    EXPECT_TRUE(configs.empty()) << "the mock has no topic configuration";
    return mock_->CreateTopic(topic, partition_count);
  }
  Status DeleteTopic(const std::string& topic) override { return mock_->DeleteTopic(topic); }
  Status Append(const TopicPartition& partition, std::span<const client::Record> records) override {
    return mock_->Append(partition, records);
  }
  Status DeleteRecordsBefore(const TopicPartition& partition, Offset offset) override {
    return mock_->DeleteRecordsBefore(partition, offset);
  }

 private:
  std::unique_ptr<client::MockCluster> mock_;
};

ClusterUnderTest* Mock() {
  static const std::unique_ptr<ClusterUnderTest> mock = []() -> std::unique_ptr<ClusterUnderTest> {
    auto opened = client::MockCluster::Open(3);
    if (!opened) return nullptr;
    return std::make_unique<MockUnderTest>(*std::move(opened));
  }();
  return mock.get();
}

INSTANTIATE_TEST_SUITE_P(OnMock, PartitionProbeContract,
                         ::testing::Values(ProbeUnderTest{.name = "rdkafka",
                                                          .open = client::RdKafkaProbe::Open,
                                                          .cluster = Mock}),
                         NameOfProbe);

}  // namespace
}  // namespace tidemark::kafka
