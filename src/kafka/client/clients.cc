#include <algorithm>

#include "kafka/client/clients_internal.h"

namespace tidemark::kafka::client {

namespace {
// Longest wait without a look at what the client says.
constexpr Milliseconds kServeSlice{20};
// The range librdkafka takes.
constexpr int64_t kRequestTimeoutMin = 1;
constexpr int64_t kRequestTimeoutMax = 3'600'000;

Result<std::unique_ptr<Client>> Open(Role role, const ClusterOptions& options,
                                     const Properties& settings) {
  auto client = std::make_unique<Client>();
  TRY_ASSIGN(Owned<rd_kafka_conf_t> conf, MakeConf(role, options, settings));
  TRY_ASSIGN(client->handle, OpenClient(role, std::move(conf), options.properties, &client->watch));
  return client;
}

}  // namespace

Result<std::unique_ptr<Client>> OpenAsker(const ClusterOptions& options) {
  return Open(Role::kAsker, options, ProbeSettings());
}

Result<std::unique_ptr<Client>> OpenReader(const ClusterOptions& options, IsolationLevel isolation,
                                           int64_t fetch_partition_bytes) {
  return Open(Role::kReader, options, ReaderSettings(isolation, fetch_partition_bytes));
}

Result<std::unique_ptr<Client>> OpenRecordReader(const ClusterOptions& options,
                                                 const Properties& settings) {
  return Open(Role::kAsker, options, settings);
}

Owned<rd_kafka_event_t> AnswerQueue::Next(Milliseconds limit) const {
  Milliseconds left = limit;
  while (true) {
    const Milliseconds slice = std::min(left, kServeSlice);
    Owned<rd_kafka_event_t> event(
        rd_kafka_queue_poll(queue_.get(), static_cast<int>(slice.count())));
    client_.Poll();
    left -= slice;
    if (event || left.count() <= 0) return event;
  }
}

Owned<rd_kafka_AdminOptions_t> AdminOptions(Client& client, rd_kafka_admin_op_t op,
                                            Milliseconds limit) {
  Owned<rd_kafka_AdminOptions_t> options(rd_kafka_AdminOptions_new(client.handle.get(), op));
  const int64_t timeout =
      std::clamp<int64_t>(limit.count(), kRequestTimeoutMin, kRequestTimeoutMax);
  char text[256];
  rd_kafka_AdminOptions_set_request_timeout(options.get(), static_cast<int>(timeout), text,
                                            sizeof text);
  return options;
}

}  // namespace tidemark::kafka::client
