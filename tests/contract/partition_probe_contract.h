/// What every PartitionProbe promises (kafka/partition_probe.h), as tests that know neither the
/// implementation nor the cluster behind it. A program that instantiates them compiles
/// partition_probe_contract.cc (any cluster) and partition_probe_broker_contract.cc (what only a
/// real broker can show) as its sources.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "kafka/client/producer.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka {

/// A cluster the tests may fill, empty or not: topics get names of their own.
class ClusterUnderTest {
 public:
  using Configs = std::vector<std::pair<std::string, std::string>>;

  virtual ~ClusterUnderTest() = default;
  virtual ClusterOptions options() const = 0;
  /// Returns when every partition can be written.
  virtual Status CreateTopic(const std::string& topic, int32_t partition_count,
                             const Configs& configs) = 0;
  virtual Status DeleteTopic(const std::string& topic) = 0;
  /// Appended as one batch.
  virtual Status Append(const TopicPartition& partition,
                        std::span<const client::Record> records) = 0;
  virtual Status DeleteRecordsBefore(const TopicPartition& partition, Offset offset) = 0;
};

/// What only a real broker has. Nobody but the tests uses it, so its lists of topics and groups are
/// theirs.
class BrokerUnderTest : public ClusterUnderTest {
 public:
  /// For a user who may do nothing yet; with a wrong password when `password` is not empty.
  virtual ClusterOptions LoginOptions(const std::string& mechanism,
                                      const std::string& password) const = 0;
  enum class Right { kDescribe, kRead };
  virtual Status Allow(const std::string& topic, Right right) = 0;
  /// Of the TLS listener.
  virtual ClusterOptions TlsOptions() const = 0;
  virtual ClusterOptions TlsOptionsWithForeignAuthority() const = 0;

  virtual Result<Offset> EndOf(const TopicPartition& partition) = 0;
  /// Returns when the log ends at `offset` and no transaction is open in it.
  virtual Status AwaitStableEnd(const TopicPartition& partition, Offset offset) = 0;
  virtual std::vector<std::string> ListTopics() = 0;
  virtual std::vector<std::string> ListGroups() = 0;
};

struct ProbeUnderTest {
  std::string name;
  std::function<Result<std::unique_ptr<PartitionProbe>>(const ClusterOptions&)> open;
  /// Started once, shared by the tests; null when it did not start.
  std::function<ClusterUnderTest*()> cluster;
};
inline std::string NameOfProbe(const ::testing::TestParamInfo<ProbeUnderTest>& info) {
  return info.param.name;
}
inline void PrintTo(const ProbeUnderTest& probe, std::ostream* out) {
  *out << probe.name;
}

/// The stamp most records are counted from.
inline constexpr int64_t kMs = 1'700'000'000'000;

/// The words the tests are written in.
class ProbeFixture : public ::testing::TestWithParam<ProbeUnderTest> {
 protected:
  void SetUp() override;

  /// A new topic, named after the test.
  std::string NewTopic(int32_t partition_count, const ClusterUnderTest::Configs& configs = {});
  /// `count` records of `size` incompressible bytes as one batch, stamped `first_ms`,
  /// `first_ms` + 1000, …
  void Append(const TopicPartition& partition, int count, int64_t first_ms, size_t size = 20);

  /// Probes `topic` at these committed offsets.
  ProbeResult Probe(const std::string& topic, const PartitionOffsets& committed,
                    IsolationLevel isolation = IsolationLevel::kReadUncommitted);
  Result<ProbeResult> TryProbe(const ProbeRequest& request,
                               std::chrono::milliseconds limit = std::chrono::seconds(20));

  ClusterUnderTest* cluster_ = nullptr;
  std::unique_ptr<PartitionProbe> probe_;
};

/// True on any cluster.
class PartitionProbeContract : public ProbeFixture {};

/// True on a real broker.
class PartitionProbeBrokerContract : public ProbeFixture {
 protected:
  BrokerUnderTest& broker() { return dynamic_cast<BrokerUnderTest&>(*cluster_); }
  /// `count` records stamped `first_ms`, `first_ms` + 1000, … in one transaction, which ends so.
  /// Returns when its marker can be seen, so no other transaction may be open.
  enum class End { kCommit, kAbort, kOpen };
  void Transaction(const TopicPartition& partition, int count, int64_t first_ms, End end);
  /// Probes over and over until the first record of the only partition is at `offset`; nullopt:
  /// until there is none. Calls `push` in between.
  PartitionFacts AwaitFirst(
      const std::string& topic, Offset committed, std::optional<Offset> offset,
      IsolationLevel isolation, const std::function<void()>& push = [] {});

 private:
  /// Of the transactions left open: they end with their producer.
  std::vector<std::unique_ptr<client::Producer>> open_;
};

/// What gtest shows of a partition.
void PrintTo(const PartitionFacts& facts, std::ostream* out);

MATCHER_P2(IsRecordAt, offset, timestamp_ms, "") {
  using Search = PartitionFacts::Search;
  return arg.search == Search::kRecord && arg.first && arg.first->offset == offset &&
         arg.first->timestamp_ms == timestamp_ms && arg.fault == ProbeFault::kNone;
}

/// Not read; `timestamp_ms` is known to be its stamp, or the latest it can be.
MATCHER_P(IsStampedAt, timestamp_ms, "") {
  return arg.search == PartitionFacts::Search::kEstimated && arg.fault == ProbeFault::kNone &&
         arg.estimate && arg.estimate->timestamp_ms == timestamp_ms && arg.estimate->is_exact;
}
MATCHER_P(IsStampedUpTo, timestamp_ms, "") {
  return arg.search == PartitionFacts::Search::kEstimated && arg.fault == ProbeFault::kNone &&
         arg.estimate && arg.estimate->timestamp_ms == timestamp_ms && !arg.estimate->is_exact;
}

MATCHER_P2(HasLog, start, end, "") {
  return arg.log_start == Offset{start} && arg.high_watermark == Offset{end};
}

MATCHER(IsNotSearched, "") {
  return arg.search == PartitionFacts::Search::kNotSearched && !arg.first;
}

MATCHER_P(HasFault, fault, "") {
  return arg.fault == fault && !arg.fault_message.empty();
}

}  // namespace tidemark::kafka
