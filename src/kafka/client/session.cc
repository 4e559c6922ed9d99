#include <algorithm>

#include "kafka/client/session_internal.h"

namespace tidemark::kafka::client {

namespace {
// Longest wait without a look at what the client says.
constexpr Milliseconds kServeSlice{20};
// The range librdkafka takes.
constexpr int64_t kRequestTimeoutMin = 1;
constexpr int64_t kRequestTimeoutMax = 3'600'000;
}  // namespace

Result<std::unique_ptr<Session>> Session::Open(const ClusterOptions& options) {
  auto session = std::make_unique<Session>(OnlyOpen{}, options);
  TRY(session->Get(IsolationLevel::kReadUncommitted, 0));
  return session;
}

Result<Client*> Session::Get(IsolationLevel isolation, size_t size_index) {
  auto& slot = clients_[{isolation, size_index}];
  if (!slot) {
    auto client = std::make_unique<Client>();
    TRY_ASSIGN(Owned<rd_kafka_conf_t> conf,
               MakeConf(Role::kProbe, options_, ProbeSettings(isolation, kFetchSizes[size_index])));
    TRY_ASSIGN(client->handle, OpenClient(Role::kProbe, std::move(conf), &client->watch));
    slot = std::move(client);
  }
  return slot.get();
}

void Session::ClearErrors() {
  for (auto& [key, client] : clients_) {
    client->Poll();
    client->watch.errors.Clear();
  }
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
