/// The clients a probe keeps of one cluster, and the waiting they share.
#pragma once

#include <librdkafka/rdkafka.h>

#include <array>
#include <map>
#include <memory>
#include <string>

#include "base/budget.h"
#include "kafka/client/conf_internal.h"
#include "kafka/client/handles_internal.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

/// Bytes asked of a partition per request, from the first try on. A broker fills a request up to
/// this, so a small one does not download the log; but a batch that does not fit is only sent for
/// one partition per request, so what stays undecided moves on to the next size.
inline constexpr std::array<int64_t, 3> kFetchSizes = {2 << 10, 32 << 10, 1 << 20};

/// One librdkafka client.
struct Client {
  Watch watch;  // outlives the handle
  Owned<rd_kafka_t> handle;

  /// Serves the client's callbacks without waiting.
  void Poll() { rd_kafka_poll(handle.get(), 0); }
};

/// Clients are opened on first use and kept, one for each isolation level and fetch size (both are
/// settings of a whole client). One caller at a time.
class Session {
  struct OnlyOpen {};

 public:
  /// Opens the client that a probe without isolation needs first, to check the properties.
  static Result<std::unique_ptr<Session>> Open(const ClusterOptions& options);

  Session(OnlyOpen, ClusterOptions options) : options_(std::move(options)) {}

  const ClusterOptions& options() const { return options_; }

  /// `size_index` counts through kFetchSizes.
  Result<Client*> Get(IsolationLevel isolation, size_t size_index);

  /// Forgets what the clients complained about: a new probe starts with a clean slate.
  void ClearErrors();

 private:
  ClusterOptions options_;
  std::map<std::pair<IsolationLevel, size_t>, std::unique_ptr<Client>> clients_;
};

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
