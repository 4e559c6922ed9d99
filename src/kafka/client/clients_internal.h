/// The clients of a probe, and the waiting they share.
#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "kafka/client/conf_internal.h"
#include "kafka/client/handles_internal.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

/// One librdkafka client.
struct Client {
  Watch watch;  // outlives the handle
  Owned<rd_kafka_t> handle;

  /// Serves the client's callbacks without waiting.
  void Poll() { rd_kafka_poll(handle.get(), 0); }
};

/// A client for metadata and offsets, to be kept: its connections stay warm.
Result<std::unique_ptr<Client>> OpenAsker(const ClusterOptions& options);

/// The client that is asked, and those it has replaced: they live on until the probe ends, because
/// questions under way belong to them.
struct Askers {
  std::unique_ptr<Client> current;
  std::vector<std::unique_ptr<Client>> former;

  void ReplaceBy(std::unique_ptr<Client> other) {
    former.push_back(std::exchange(current, std::move(other)));
  }
};

/// A client that reads records, at most `fetch_partition_bytes` of a partition in one request
/// (where a batch is not larger). For one search: librdkafka takes seconds to start thousands of
/// partitions anew when it knows their leaders, so it is told the brokers when all are started.
Result<std::unique_ptr<Client>> OpenReader(const ClusterOptions& options, IsolationLevel isolation,
                                           int64_t fetch_partition_bytes);

/// A client that reads whole logs, with these settings; it knows the brokers from the start.
Result<std::unique_ptr<Client>> OpenRecordReader(const ClusterOptions& options,
                                                 const Properties& settings);

/// A queue for the answers to requests of one kind. Answers that come after its end are dropped.
class AnswerQueue {
 public:
  explicit AnswerQueue(Client& client)
      : client_(client), queue_(rd_kafka_queue_new(client.handle.get())) {}

  rd_kafka_queue_t* get() const { return queue_.get(); }

  /// The next answer; null when none came within `limit`, which is served in slices so that the
  /// client's complaints get through.
  Owned<rd_kafka_event_t> Next(Milliseconds limit) const;

 private:
  Client& client_;  // outlives the queue
  Owned<rd_kafka_queue_t> queue_;
};

/// Options for a request that may take as long as `budget` leaves.
Owned<rd_kafka_AdminOptions_t> AdminOptions(Client& client, rd_kafka_admin_op_t op,
                                            Milliseconds limit);

}  // namespace tidemark::kafka::client
