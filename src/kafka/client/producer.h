/// Writing records, for the demo's mock cluster and for tests. Events of the change feed have their
/// own publisher.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

struct Record {
  std::optional<std::string> key;
  std::optional<std::string> value;     ///< nullopt: a tombstone
  std::optional<int64_t> timestamp_ms;  ///< since 1970, > 0; nullopt: the time of the call
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// One caller at a time.
class Producer {
 public:
  /// Properties are librdkafka's, none is refused for its meaning. kInvalidArgument as for the
  /// probe.
  static Result<std::unique_ptr<Producer>> Open(const ClusterOptions& options);
  virtual ~Producer() = default;

  /// Appends the records in order, as one batch where the batch limits allow it, and returns when
  /// the leader has acknowledged all. On an error some of them may have been written.
  virtual Status Append(const TopicPartition& partition, std::span<const Record> records,
                        const Budget& budget) = 0;

  /// Transactions, for a producer opened with the property transactional.id. Append() goes into
  /// the open one.
  virtual Status BeginTransaction(const Budget& budget) = 0;
  virtual Status CommitTransaction(const Budget& budget) = 0;
  virtual Status AbortTransaction(const Budget& budget) = 0;
};

}  // namespace tidemark::kafka::client
