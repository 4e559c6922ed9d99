#include "kafka/client/mock_cluster.h"

#include <fmt/core.h>
#include <librdkafka/rdkafka.h>
// It uses what the header above defines.
#include <librdkafka/rdkafka_mock.h>

#include <map>
#include <vector>

#include "kafka/client/conf_internal.h"

namespace tidemark::kafka::client {

namespace {

constexpr int32_t kRebalanceDelayMs = 100;

constexpr auto kAppendLimit = std::chrono::seconds(30);
constexpr int64_t kFillerChunk = 10'000;

struct DestroyMock {
  void operator()(rd_kafka_mock_cluster_t* it) const { rd_kafka_mock_cluster_destroy(it); }
};

int16_t ApiKeyOf(MockRequest request) {
  switch (request) {
    case MockRequest::kFetch: return 1;
    case MockRequest::kListOffsets: return 2;
    case MockRequest::kMetadata: return 3;
  }
  std::unreachable();
}

rd_kafka_resp_err_t CodeOf(MockError error) {
  switch (error) {
    case MockError::kDisconnect: return RD_KAFKA_RESP_ERR__TRANSPORT;
    case MockError::kNotLeader: return RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION;
    case MockError::kLeaderNotAvailable: return RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
    case MockError::kOffsetNotAvailable: return RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE;
    case MockError::kOffsetOutOfRange: return RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE;
    case MockError::kCorruptMessage: return RD_KAFKA_RESP_ERR_INVALID_MSG;
    case MockError::kUnknownTopicOrPartition: return RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    case MockError::kTopicDenied: return RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
  }
  std::unreachable();
}

Status Checked(std::string_view what, rd_kafka_resp_err_t code) {
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  return Fail(ErrorKind::kInternal,
              fmt::format("mock cluster cannot {}: {}", what, rd_kafka_err2str(code)));
}

[[maybe_unused]] Status NotBefore(std::string_view what, std::string_view version) {
  return Fail(ErrorKind::kUnsupported, fmt::format("mock cluster cannot {} with librdkafka before "
                                                   "version={}",
                                                   what, version));
}

class RdKafkaMockCluster final : public MockCluster {
 public:
  Status Open(int broker_count) {
    // The mock lives in a client of its own, which never connects anywhere.
    TRY_ASSIGN(Owned<rd_kafka_conf_t> conf,
               MakeConf(Role::kProducer, {.bootstrap_servers = "127.0.0.1:1", .properties = {}},
                        {{"client.id", "tidemark-mock"}}));
    TRY_ASSIGN(host_, OpenClient(Role::kProducer, std::move(conf), {}, &watch_));
    cluster_.reset(rd_kafka_mock_cluster_new(host_.get(), broker_count));
    if (!cluster_) {
      return Fail(ErrorKind::kInternal,
                  fmt::format("mock cluster cannot start brokers={}", broker_count));
    }
#if RD_KAFKA_VERSION >= 0x020f01ff
    // The mock names a controller that does not exist, and clients would look for it.
    rd_kafka_mock_set_controller_id(cluster_.get(), 1);
#endif
    // Nobody who starts together here is worth the three seconds.
    rd_kafka_mock_group_initial_rebalance_delay_ms(cluster_.get(), kRebalanceDelayMs);
    TRY_ASSIGN(producer_, Producer::Open(options()));
    return {};
  }

  ClusterOptions options() const override {
    return {.bootstrap_servers = rd_kafka_mock_cluster_bootstraps(cluster_.get()),
            .properties = {}};
  }

  Status CreateTopic(const std::string& topic, int32_t partition_count) override {
    return Checked("create a topic",
                   rd_kafka_mock_topic_create(cluster_.get(), topic.c_str(), partition_count, 1));
  }
  Status DeleteTopic(const std::string& topic) override {
    std::erase_if(ends_, [&](const auto& entry) { return entry.first.topic == topic; });
#if RD_KAFKA_VERSION >= 0x020f00ff
    return Checked("delete a topic", rd_kafka_mock_topic_delete(cluster_.get(), topic.c_str()));
#else
    return NotBefore("delete a topic", "2.15.0");
#endif
  }

  Status Append(const TopicPartition& partition, std::span<const Record> records) override {
    TRY(producer_->Append(partition, records, Budget::For(kAppendLimit)));
    ends_[partition] += static_cast<Offset>(records.size());
    return {};
  }

  Status AppendUntil(const TopicPartition& partition, Offset offset,
                     int64_t timestamp_ms) override {
    if (offset < ends_[partition]) {
      return Fail(ErrorKind::kInvalidArgument,
                  fmt::format("offset lies before the end of the mock partition topic={} "
                              "partition={} offset={} end={}",
                              partition.topic, partition.partition, offset, ends_[partition]));
    }
    const Record filler{.key = std::nullopt, .value = "", .timestamp_ms = timestamp_ms};
    while (ends_[partition] < offset) {
      const auto count = std::min(kFillerChunk, offset - ends_[partition]);
      const std::vector<Record> records(static_cast<size_t>(count), filler);
      TRY(Append(partition, records));
    }
    return {};
  }

  Status DeleteRecordsBefore(const TopicPartition& partition, Offset offset) override {
#if RD_KAFKA_VERSION >= 0x020f00ff
    return Checked("delete records",
                   rd_kafka_mock_partition_delete_records(cluster_.get(), partition.topic.c_str(),
                                                          partition.partition, offset));
#else
    static_cast<void>(partition), static_cast<void>(offset);
    return NotBefore("delete records", "2.15.0");
#endif
  }

  Status SetLeader(const TopicPartition& partition, int32_t broker) override {
    return Checked("set a leader",
                   rd_kafka_mock_partition_set_leader(cluster_.get(), partition.topic.c_str(),
                                                      partition.partition, broker));
  }
  Status StopBroker(int32_t broker) override {
    return Checked("stop a broker", rd_kafka_mock_broker_set_down(cluster_.get(), broker));
  }
  Status StartBroker(int32_t broker) override {
    return Checked("start a broker", rd_kafka_mock_broker_set_up(cluster_.get(), broker));
  }
  Status SetLatency(int32_t broker, Milliseconds latency) override {
    return Checked(
        "delay a broker",
        rd_kafka_mock_broker_set_rtt(cluster_.get(), broker, static_cast<int>(latency.count())));
  }

  void TrackRequests() override { rd_kafka_mock_start_request_tracking(cluster_.get()); }
  std::set<int> RequestKinds() const override {
    size_t count = 0;
    rd_kafka_mock_request_t** requests = rd_kafka_mock_get_requests(cluster_.get(), &count);
    std::set<int> kinds;
    for (size_t i = 0; i < count; ++i) kinds.insert(rd_kafka_mock_request_api_key(requests[i]));
    rd_kafka_mock_request_destroy_array(requests, count);
    return kinds;
  }

  void FailNext(MockRequest request, std::initializer_list<MockError> errors) override {
    for (const MockError error : errors) {
      const rd_kafka_resp_err_t code = CodeOf(error);
      rd_kafka_mock_push_request_errors_array(cluster_.get(), ApiKeyOf(request), 1, &code);
    }
  }
  Status HoldNext(MockRequest request, int32_t broker, Milliseconds latency) override {
    return Checked("hold an answer back",
                   rd_kafka_mock_broker_push_request_error_rtts(
                       cluster_.get(), broker, ApiKeyOf(request), 1, RD_KAFKA_RESP_ERR_NO_ERROR,
                       static_cast<int>(latency.count())));
  }
  Status FailNextFetch(const TopicPartition& partition,
                       std::initializer_list<MockError> errors) override {
    for (const MockError error : errors) TRY(PushFetchError(partition, CodeOf(error)));
    return {};
  }

 private:
  Status PushFetchError(const TopicPartition& partition, rd_kafka_resp_err_t code) {
#if RD_KAFKA_VERSION >= 0x020f01ff
    return Checked("fail one partition",
                   rd_kafka_mock_partition_push_request_errors(
                       cluster_.get(), partition.topic.c_str(), partition.partition,
                       ApiKeyOf(MockRequest::kFetch), 1, code));
#else
    static_cast<void>(partition), static_cast<void>(code);
    return NotBefore("fail one partition", "2.15.1");
#endif
  }

  Watch watch_;
  Owned<rd_kafka_t> host_;
  std::unique_ptr<rd_kafka_mock_cluster_t, DestroyMock> cluster_;
  std::unique_ptr<Producer> producer_;  // talks to cluster_, so it goes first
  std::map<TopicPartition, Offset> ends_;
};

}  // namespace

Result<std::unique_ptr<MockCluster>> MockCluster::Open(int broker_count) {
  auto mock = std::make_unique<RdKafkaMockCluster>();
  TRY(mock->Open(broker_count));
  return mock;
}

}  // namespace tidemark::kafka::client
