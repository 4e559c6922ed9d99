/// A Kafka cluster inside this process, for `tidemark demo` and for tests: real sockets and the
/// real protocol on 127.0.0.1, records in memory only.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>

#include "base/error.h"
#include "kafka/client/producer.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

/// Kinds of request the mock can be told to fail.
enum class MockRequest { kFetch, kListOffsets, kMetadata };

/// What it answers instead. kDisconnect closes the connection.
enum class MockError {
  kDisconnect,
  kNotLeader,
  kLeaderNotAvailable,
  kOffsetNotAvailable,
  kOffsetOutOfRange,
  kUnknownTopicOrPartition,
  kTopicDenied,
  kCorruptMessage,
};

/// librdkafka's mock brokers. What they do not do: transactions as a reader sees them (aborted
/// records are delivered, every log is stable to its end), compaction, retention by time, look-up
/// by time, topic configuration, authentication. A partition keeps about 5 MB and drops its oldest
/// batches beyond. Every timestamp is the producer's.
///
/// One caller at a time; clients may connect from anywhere.
class MockCluster {
 public:
  /// Brokers 1 to `broker_count`, at ports the system chose.
  static Result<std::unique_ptr<MockCluster>> Open(int broker_count);
  virtual ~MockCluster() = default;

  virtual ClusterOptions options() const = 0;

  /// Partition leaders go round the brokers.
  virtual Status CreateTopic(const std::string& topic, int32_t partition_count) = 0;
  virtual Status DeleteTopic(const std::string& topic) = 0;

  /// The next records are written as one batch; the first one gets the partition's end offset.
  virtual Status Append(const TopicPartition& partition, std::span<const Record> records) = 0;

  /// Appends empty records stamped `timestamp_ms` until the next one will get `offset`, which must
  /// not lie before the end; counts only what went through this object.
  virtual Status AppendUntil(const TopicPartition& partition, Offset offset,
                             int64_t timestamp_ms) = 0;

  /// Moves the start of the log, as retention or a delete-records request does. kUnsupported with
  /// librdkafka before 2.15.
  virtual Status DeleteRecordsBefore(const TopicPartition& partition, Offset offset) = 0;

  /// -1: no leader.
  virtual Status SetLeader(const TopicPartition& partition, int32_t broker) = 0;
  /// Closes the broker's connections and refuses new ones; leaders stay where they are.
  virtual Status StopBroker(int32_t broker) = 0;
  virtual Status StartBroker(int32_t broker) = 0;
  /// Delays every answer of the broker.
  virtual Status SetLatency(int32_t broker, Milliseconds latency) = 0;

  /// Remembers what kinds of request are received from now on, for RequestKinds().
  virtual void TrackRequests() = 0;
  /// The protocol's numbers of the kinds received (0: produce, 1: fetch, 11: join a group, …).
  virtual std::set<int> RequestKinds() const = 0;

  /// The next requests of this kind, whoever sends them, get these errors, one each, for every
  /// partition in the request.
  virtual void FailNext(MockRequest request, std::initializer_list<MockError> errors) = 0;
  /// The broker keeps the answer to the next request of this kind back, and on the same connection
  /// all that follow.
  virtual Status HoldNext(MockRequest request, int32_t broker, Milliseconds latency) = 0;
  /// The next fetches of one partition get these errors; others in the request are served.
  /// kUnsupported with librdkafka before 2.15.1.
  virtual Status FailNextFetch(const TopicPartition& partition,
                               std::initializer_list<MockError> errors) = 0;
};

}  // namespace tidemark::kafka::client
