/// Writing records in transactions: all of one call or none, and by one writer at a time.
#pragma once

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

struct OutgoingRecord {
  TopicPartition partition{};
  std::string key{};
  std::optional<std::string> value{};  ///< nullopt: a tombstone
  std::vector<std::pair<std::string, std::string>> headers{};
};

enum class Compression { kZstd, kGzip };

struct TransactionalOptions {
  /// Who opens a producer under the same name fences all that were opened before.
  std::string transactional_id;
  Compression compression = Compression::kZstd;
  Milliseconds delivery_timeout = std::chrono::seconds(5);  ///< of one record
  /// After so long the cluster aborts a transaction whose producer is gone.
  Milliseconds transaction_timeout = std::chrono::seconds(60);
};

/// Idempotent, acks=all. One caller at a time.
class TransactionalProducer {
 public:
  /// Takes the name over: what its former owner had not committed is aborted, and that owner can
  /// commit nothing any more. kInvalidArgument as for the probe, kDenied for a refused right (the
  /// message names it), kUnavailable.
  static Result<std::unique_ptr<TransactionalProducer>> Open(const ClusterOptions& cluster,
                                                             const TransactionalOptions& options,
                                                             const Budget& budget);
  virtual ~TransactionalProducer() = default;

  /// Writes the records, in order within a partition, in one transaction, and returns when it is
  /// decided that it is committed; readers of committed records have them a moment later. Errors:
  /// kConflict (fenced), kExhausted (a record larger than the brokers take), kDenied, kNotFound (no
  /// such topic or partition), kUnavailable, kCancelled. After an error it is not usable, and only
  /// who opens the name anew and then reads can tell whether the transaction was committed.
  virtual Status Send(std::span<const OutgoingRecord> records, const Budget& budget) = 0;

  /// False: it must be opened anew.
  virtual bool is_usable() const = 0;
};

}  // namespace tidemark::kafka::client
