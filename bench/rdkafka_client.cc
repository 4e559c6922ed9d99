#include "bench/rdkafka_client.h"

#include <fmt/core.h>

#include <array>

namespace tidemark::bench {

Result<Client> OpenClient(const ClientOptions& options) {
  std::array<char, 512> reason{};
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  for (const auto& [name, value] : options.properties) {
    if (rd_kafka_conf_set(conf, name, value.c_str(), reason.data(), reason.size()) !=
        RD_KAFKA_CONF_OK) {
      rd_kafka_conf_destroy(conf);
      return Fail(ErrorKind::kInvalidArgument,
                  fmt::format("property refused name={} reason={}", name, reason.data()));
    }
  }
  if (options.on_delivery != nullptr) rd_kafka_conf_set_dr_msg_cb(conf, options.on_delivery);
  rd_kafka_conf_set_opaque(conf, options.opaque);
  Client client(rd_kafka_new(options.type, conf, reason.data(), reason.size()));
  if (!client) {
    rd_kafka_conf_destroy(conf);
    return Fail(ErrorKind::kInvalidArgument, fmt::format("no client reason={}", reason.data()));
  }
  if (options.type == RD_KAFKA_CONSUMER) rd_kafka_poll_set_consumer(client.get());
  return client;
}

}  // namespace tidemark::bench
